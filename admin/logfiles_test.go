package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
)

// pastOnly are files with ten lines of a minute ago, a second apart.
type pastOnly struct{ now time.Time }

func (p pastOnly) Past(plugin string, q LogQuery) (all []actors.Logged, left int, err error) {
	if plugin != "talker" {
		return nil, 0, errors.New("a broken disk")
	}
	for i := range 10 {
		at := p.now.Add(time.Duration(i-60) * time.Second)
		if !at.Before(q.Since) && (q.Before.IsZero() || at.Before(q.Before)) {
			all = append(all, actors.Logged{Origin: actors.Origin{Plugin: plugin}, Text: fmt.Sprint("past ", i), At: at})
		}
	}
	all = all[max(0, len(all)-q.N):]
	fit := min(len(all), 1+q.Bytes/1000)
	return all[len(all)-fit:], len(all) - fit, nil // as if each had 1000 bytes
}

func (pastOnly) File(plugin string) LogFile {
	return LogFile{Path: plugin + ".log", Dropped: 7, Error: "a broken disk"}
}

func (pastOnly) Stats() LogStats { return LogStats{Bytes: 100, Waiting: 2, Failing: 1, Dropped: 7} }

func TestLogFiles_comeBeforeWhatTheHostHas(t *testing.T) {
	now := time.Now()
	r := start(t, Options{LogFiles: pastOnly{now}, Plugins: []string{"talker", "quiet"}})
	_, err := r.Call(t.Context(), CallRequest{Key: "model:TALKS", Input: json.RawMessage(`2`)})
	require.NoError(t, err)
	for name, want := range map[string]struct {
		plugin string
		n      int
		since  time.Time
		lines  []string
	}{
		"enough in memory": {"talker", 2, time.Time{}, []string{"i=0", "i=1"}},
		"some of a file":   {"talker", 4, time.Time{}, []string{"past 8", "past 9", "i=0", "i=1"}},
		"of all plugins":   {"", 3, time.Time{}, []string{"past 9", "i=0", "i=1"}},
		"since":            {"talker", 100, now.Add(-52 * time.Second), []string{"past 8", "past 9", "i=0", "i=1"}},
		"since late":       {"", 100, now.Add(time.Hour), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			collect := func(line []byte) error {
				lines = append(lines, string(line))
				return nil
			}
			require.NoError(t, r.Logs(t.Context(), want.plugin, want.n, want.since, false, collect))
			require.Len(t, lines, len(want.lines))
			for i, line := range lines {
				require.Contains(t, line, want.lines[i])
			}
		})
	}
	status, body := r.get(t, pathAPI+"/logs?since=yesterday")
	require.Equal(t, 400, status)
	require.Contains(t, body, "expected a time such as 2026-01-31T12:00:00Z")
}

func TestLogFiles_areFollowedFromTheirEnd(t *testing.T) {
	r := start(t, Options{LogFiles: pastOnly{time.Now()}})
	_, err := r.Call(t.Context(), CallRequest{Key: "model:TALKS", Input: json.RawMessage(`1`)})
	require.NoError(t, err)
	lines, _ := following(t, func(ctx context.Context, line func([]byte) error) error {
		return r.Logs(ctx, "talker", 3, time.Time{}, true, line)
	})
	for _, want := range []string{"past 8", "past 9", "i=0"} {
		require.Contains(t, next(t, lines).Text, want)
	}
}

// What is shown at once is bounded, and what is left out is told.
func TestLogFiles_areShownWithinBounds(t *testing.T) {
	r := start(t, Options{LogFiles: pastOnly{time.Now()}, Limits: Limits{LogBytes: 3000}})
	_, err := r.Call(t.Context(), CallRequest{Key: "model:TALKS", Input: json.RawMessage(`1`)}) // of some 800 bytes
	require.NoError(t, err)
	for _, c := range []struct {
		plugin string
		n      int
		gap    string
	}{
		{"talker", 4, ""},
		{"talker", 6, `{"event":"gap","missed":2,"older":true}`},
		{"talker", maxLines, `{"event":"gap","missed":7,"older":true}`},
		{"", maxLines, `{"event":"gap","missed":7,"older":true}`},
	} {
		for _, follow := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			var lines []string
			err := r.Logs(ctx, c.plugin, c.n, time.Time{}, follow, func(line []byte) error {
				if lines = append(lines, string(line)); strings.Contains(string(line), "i=0") {
					cancel()
				}
				return nil
			})
			if follow {
				require.ErrorIs(t, err, context.Canceled)
			} else {
				require.NoError(t, err)
			}
			cancel()
			if c.gap != "" {
				require.Equal(t, c.gap, lines[0])
				lines = lines[1:]
			}
			require.Len(t, lines, 4)
			for i, want := range []string{"past 7", "past 8", "past 9", "i=0"} {
				require.Contains(t, lines[i], want)
			}
		}
	}
}

// past is an excerpt of a plugin's log, with lines of these seconds, and so many before them.
func past(plugin string, left int, seconds ...int) excerpt {
	e := excerpt{left: left}
	for _, s := range seconds {
		e.lines = append(e.lines, actors.Logged{Origin: actors.Origin{Plugin: plugin}, At: time.Unix(int64(s), 0)})
	}
	return e
}

// Between the lines of an excerpt none is missing.
func TestExcerpt_hasNoHoles(t *testing.T) {
	for name, c := range map[string]struct {
		got, want excerpt
	}{
		"all of both":                      {past("a", 0, 1, 3).merged(past("b", 0, 2)), past("", 0, 1, 2, 3)},
		"what is older than one left out":  {past("a", 5, 4, 6).merged(past("b", 0, 1, 2, 5)), past("", 7, 4, 5, 6)},
		"the younger of the beginnings":    {past("a", 5, 1, 6).merged(past("b", 1, 3, 5)), past("", 7, 3, 5, 6)},
		"nothing of one":                   {past("a", 5, 4).merged(excerpt{}), past("", 5, 4)},
		"the last ones":                    {past("a", 0, 1, 2, 3).within(2, 1<<20), past("", 0, 2, 3)},
		"the last ones, some of them left": {past("a", 9, 1, 2, 3).within(5, 1<<20), past("", 2, 1, 2, 3)},
		"no more than there is":            {past("a", 9, 1, 2, 3).within(50, 300), past("", 9, 1, 2, 3)},
		"no more than may be":              {past("a", 9, 1, 2, 3).within(50, 200), past("", 10, 2, 3)},
		"one in any case":                  {past("a", 0, 1, 2, 3).within(50, 1), past("", 2, 3)},
		"what has come since":              {past("a", 5, 1, 2).joined(past("a", 0, 2, 3).lines), past("", 5, 1, 2, 3)},
		"a log that is kept for longer": {
			past("a", 0, 1, 5, 9).joined(append(past("b", 0, 2).lines, past("a", 0, 9).lines...)), past("", 0, 1, 2, 5, 9),
		},
		"no line again that was left out": {past("a", 5, 4, 6).joined(past("a", 0, 3, 4, 6, 7).lines), past("", 5, 4, 6, 7)},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.got.lines {
				c.got.lines[i].Plugin = ""
			}
			require.Equal(t, c.want, c.got)
		})
	}
}

func TestLogFiles_areInspectedAndMeasured(t *testing.T) {
	r := start(t, Options{LogFiles: pastOnly{time.Now()}})
	detail, err := r.Inspect(t.Context(), "talker")
	require.NoError(t, err)
	require.Equal(t, &LogFile{Path: "talker.log", Dropped: 7, Error: "a broken disk"}, detail.LogFile)
	_, body := r.get(t, pathMetrics)
	for _, line := range []string{
		"airi_host_log_file_bytes 100", "airi_host_log_file_waiting 2", "airi_host_log_files_failing 1", "airi_host_log_file_dropped_total 7",
	} {
		require.True(t, strings.Contains(body, "\n"+line+"\n"), line)
	}
}
