package services

import (
	"sync"
	"time"
)

// maxWindows is how many keys a window counts at a time; one more is refused.
const maxWindows = 10_000

// window lets each key do something max times within any span of the given length.
type window struct {
	max  int
	span time.Duration

	mu   sync.Mutex
	seen map[windowKey][]time.Time // of the last span, oldest first
}

type windowKey struct{ plugin, company string }

func newWindow(limit int, span time.Duration) *window {
	return &window{max: limit, span: span, seen: map[windowKey][]time.Time{}}
}

// allow counts one more, or tells after how long to try again.
func (w *window) allow(key windowKey, now time.Time) (wait time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	times := recent(w.seen[key], now.Add(-w.span))
	if len(times) >= w.max {
		w.seen[key] = times
		return times[0].Add(w.span).Sub(now), false
	}
	if len(times) == 0 && len(w.seen) >= maxWindows && !w.sweep(now) {
		return w.span, false
	}
	w.seen[key] = append(times, now)
	return 0, true
}

// sweep forgets the keys that did nothing of late, and tells whether there is room.
func (w *window) sweep(now time.Time) bool {
	for key, times := range w.seen {
		if len(recent(times, now.Add(-w.span))) == 0 {
			delete(w.seen, key)
		}
	}
	return len(w.seen) < maxWindows
}

// recent leaves out the times that are not after since.
func recent(times []time.Time, since time.Time) []time.Time {
	for i, at := range times {
		if at.After(since) {
			return times[i:]
		}
	}
	return nil
}
