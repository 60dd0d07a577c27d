package jobs

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule tells when a job is due.
type Schedule struct{ spec *cron.SpecSchedule }

// field is what a manifest may have in one field. The library knows more: names,
// question marks, time zones.
var field = regexp.MustCompile(`^[0-9*/,-]+$`)

// bothDays is the library's mark for a star. It asks for both days where one of them is
// a star and for either where both are restricted; Paperclip asks for both always.
const bothDays = 1 << 63

// fields reads the five of them, and no seconds before.
var fields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// Parse reads a cron expression of five fields. One that is never due is refused too:
// the next date has to be within five years.
func Parse(text string) (Schedule, error) {
	for _, f := range strings.Fields(text) {
		if !field.MatchString(f) {
			return Schedule{}, wrong(text, fmt.Sprintf("%q is no field", f))
		}
	}
	parsed, err := fields.Parse(text)
	if err != nil {
		return Schedule{}, wrong(text, err.Error())
	}
	spec := parsed.(*cron.SpecSchedule) // what the parser makes of anything but a descriptor
	spec.Location = time.UTC
	spec.Dom |= bothDays
	s := Schedule{spec}
	if s.Next(time.Now()).IsZero() {
		return Schedule{}, wrong(text, "no date within five years is like this")
	}
	return s, nil
}

func wrong(text, why string) error {
	return fmt.Errorf(`schedule %q: expected a cron expression of 5 fields, e.g. "*/15 * * * *": %s`, text, why)
}

// Next is the first time after t at which a job is due, in UTC; zero if there is none
// within five years.
func (s Schedule) Next(t time.Time) time.Time { return s.spec.Next(t.UTC()) }
