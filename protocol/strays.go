package protocol

import (
	"log/slog"
	"time"
)

// Which of the lines that are no frames are shown of a worker: StrayBurst at once, and another
// one every StrayPause, so that a flood is seen and cannot drown the log.
const (
	StrayBurst = 4
	StrayPause = 2 * time.Second
)

// Strays says which of a worker's prints are shown. The zero value works.
type Strays struct {
	// full is when as many as StrayBurst may be shown again.
	full time.Time
}

// Show tells whether a line that came now is shown.
func (s *Strays) Show(now time.Time) bool {
	if s.full.Before(now) {
		s.full = now
	}
	if s.full.Sub(now) > (StrayBurst-1)*StrayPause {
		return false
	}
	s.full = s.full.Add(StrayPause)
	return true
}

// DroppedStray is what a driver counts a line under that is no frame: a worker's print.
const DroppedStray = "stray-text"

// Take takes a worker's print: it is counted, and a line of the plugin's log, but of a
// flood only the beginning.
func (s *Strays) Take(now time.Time, text string, out []Effect) []Effect {
	if s.Show(now) {
		out = append(out, Logged{Level: slog.LevelInfo, Message: text})
	}
	return append(out, Drop(DroppedStray, text))
}
