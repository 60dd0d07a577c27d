package jobs

import (
	"cmp"
	"slices"
	"time"
)

// Followed is a job that is followed, as of one moment.
type Followed struct {
	Plugin string
	Job
	// Next is when it is due; zero for one that is run by hand alone.
	Next time.Time
	// Active tells that a run of it has begun, or waits to.
	Active bool
}

// List returns the jobs that are followed, by plugin and key.
func (s *Scheduler) List() []Followed {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Followed, 0, len(s.jobs))
	for id, one := range s.jobs {
		_, active := s.active[id]
		list = append(list, Followed{Plugin: id.plugin, Job: Job{Key: id.key, Schedule: one.text}, Next: one.next, Active: active})
	}
	slices.SortFunc(list, func(a, b Followed) int {
		return cmp.Or(cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Key, b.Key))
	})
	return list
}
