package services

import "sync"

// slots let each plugin do a limited number of things at a time.
type slots struct {
	max int

	mu    sync.Mutex
	taken map[string]int // by plugin; none is left out
}

func newSlots(limit int) *slots { return &slots{max: limit, taken: map[string]int{}} }

// take reports false where all are taken.
func (s *slots) take(plugin string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[plugin] >= s.max {
		return false
	}
	s.taken[plugin]++
	return true
}

func (s *slots) free(plugin string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[plugin]--; s.taken[plugin] == 0 {
		delete(s.taken, plugin)
	}
}
