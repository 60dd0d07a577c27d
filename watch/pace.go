package watch

import (
	"slices"
	"time"
)

// pace says when the changes of one folder are told. It is told the time.
type pace struct {
	Options

	// first and last are those of the changes that were not told; zero for none.
	first, last time.Time
	// told has the moments of the last minute.
	told []time.Time
	// slow is set when changes were told too often; before is the change before the
	// last, told or not.
	slow   bool
	before time.Time
	// running is whoever is told.
	running bool
}

// A minute is what PerMinute counts in; after calm of no change a folder is no longer slow.
// Whoever causes a change whenever it is told one is told one a minute then, so that
// calm is longer.
const (
	minute = time.Minute
	calm   = 2 * time.Minute
)

// change notes one; it tells whether it makes the folder slow.
func (p *pace) change(now time.Time) (slowed bool) {
	if p.slow && now.Sub(p.before) >= calm {
		p.slow, p.told = false, nil
	}
	p.before, p.last = now, now
	if p.first.IsZero() {
		p.first = now
	}
	if p.slow || p.inMinute(now) < p.PerMinute {
		return false
	}
	p.slow = true
	return true
}

// inMinute is how often was told within the last minute.
func (p *pace) inMinute(now time.Time) int {
	p.told = slices.DeleteFunc(p.told, func(at time.Time) bool { return now.Sub(at) >= minute })
	return len(p.told)
}

// due is when to tell what has changed; zero if that is not now.
func (p *pace) due() time.Time {
	if p.first.IsZero() || p.running {
		return time.Time{}
	}
	at := p.last.Add(p.Debounce)
	if latest := p.first.Add(p.MaxWait); latest.Before(at) {
		at = latest
	}
	if p.slow && len(p.told) > 0 {
		if next := p.told[len(p.told)-1].Add(minute); next.After(at) {
			at = next
		}
	}
	return at
}

// begin notes that what has changed is told now; end, that this is over.
func (p *pace) begin(now time.Time) {
	p.inMinute(now)
	p.told = append(p.told, now)
	p.first, p.running = time.Time{}, true
}

func (p *pace) end() { p.running = false }
