package paperclip

import "time"

// Which of the lines that are no frames are shown: strayBurst at once, and another
// one every strayPause, so that a flood is seen and cannot drown the log.
const (
	strayBurst = 4
	strayPause = 2 * time.Second
)

// strays says which of a worker's prints are shown. The zero value works.
type strays struct {
	// full is when as many as strayBurst may be shown again.
	full time.Time
}

// show tells whether a line that came now is shown.
func (s *strays) show(now time.Time) bool {
	if s.full.Before(now) {
		s.full = now
	}
	if s.full.Sub(now) > (strayBurst-1)*strayPause {
		return false
	}
	s.full = s.full.Add(strayPause)
	return true
}
