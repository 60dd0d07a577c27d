package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at reads a minute in UTC.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse("2006-01-02 15:04", text)
	require.NoError(t, err)
	return moment
}

func TestSchedule_isDueAsInPaperclip(t *testing.T) {
	for _, c := range []struct{ schedule, after, want string }{
		{"* * * * *", "2026-03-01 12:00", "2026-03-01 12:01"},
		{" */15\t*  * * * ", "2026-03-01 12:46", "2026-03-01 13:00"},
		{"5/20 * * * *", "2026-03-01 12:06", "2026-03-01 12:25"},
		{"0 0-6/3,22 * * *", "2026-03-01 06:00", "2026-03-01 22:00"},
		{"30 2 * * *", "2026-03-29 01:00", "2026-03-29 02:30"}, // an hour that Europe leaves out
		{"0 0 29 2 *", "2026-03-01 00:00", "2028-02-29 00:00"},
		{"0 9 * * 1-5", "2026-03-06 09:00", "2026-03-09 09:00"},
		{"0 9 * * 0", "2026-03-02 09:00", "2026-03-08 09:00"},
		// A Friday that is a 13th, where cron would take either.
		{"0 0 13 * 5", "2026-03-14 00:00", "2026-11-13 00:00"},
		{"0 0 */2 * 1", "2026-03-01 00:00", "2026-03-09 00:00"},
		{"59 23 31 12 *", "2026-12-31 23:59", "2027-12-31 23:59"},
	} {
		s, err := Parse(c.schedule)
		require.NoError(t, err)
		require.Equal(t, at(t, c.want), s.Next(at(t, c.after)), c.schedule)
	}
}

func TestSchedule_goesByUTC(t *testing.T) {
	s, err := Parse("0 12 * * *")
	require.NoError(t, err)
	east := time.FixedZone("east", 5*3600)
	require.Equal(t, at(t, "2026-03-02 12:00"), s.Next(at(t, "2026-03-01 12:30").In(east)))
}

func TestParse_refusesWhatIsNoSchedule(t *testing.T) {
	for text, why := range map[string]string{
		"":                             "empty spec string",
		"  ":                           "expected exactly 5 fields, found 0",
		"@daily":                       `"@daily" is no field`,
		"* * * *":                      "expected exactly 5 fields, found 4",
		"* * * * * *":                  "expected exactly 5 fields, found 6",
		"TZ=Europe/Rome":               `"TZ=Europe/Rome" is no field`,
		"TZ=UTC * * * * *":             `"TZ=UTC" is no field`,
		"0 0 * jan *":                  `"jan" is no field`,
		"0 0 ? * *":                    `"?" is no field`,
		"60 * * * *":                   "above maximum (59)",
		"0 24 * * *":                   "above maximum (23)",
		"0 0 0 * *":                    "below minimum (1)",
		"0 0 * 13 *":                   "above maximum (12)",
		"0 0 * * 7":                    "above maximum (6)",
		"*/0 * * * *":                  "should be a positive number",
		"5-3 * * * *":                  "beyond end of range",
		"1-2-3 * * * *":                "too many hyphens",
		"1/2/3 * * * *":                "too many slashes",
		"99999999999999999999 * * * *": "failed to parse int",
		"0 0 30 2 *":                   "no date within five years is like this",
		", * * * *":                    "no date within five years is like this",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, `expected a cron expression of 5 fields, e.g. "*/15 * * * *": `, text)
		require.ErrorContains(t, err, why, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"* * * * *", "*/15 1-5/2 * 1,2 *", "0 0 31 2 1", "TZ=", "9223372036854775807/9223372036854775807 * * * *"} {
		f.Add(seed)
	}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if next := s.Next(start); !next.IsZero() && (!next.After(start) || next.Second() != 0) {
			t.Fatalf("%q is due at %s after %s", text, next, start)
		}
	})
}
