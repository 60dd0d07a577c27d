package jobs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/airi-host/airi-host/protocol"
)

// turn is a run that is due.
type turn struct {
	id  name
	run Run
	// call is what whoever asked for it by hand has said; zero otherwise.
	call protocol.Call
}

// Run runs jobs as they are due until ctx ends; then it waits for those that run, at
// most Options.Drain, and gives the rest up. It may be called once.
func (s *Scheduler) Run(ctx context.Context) {
	defer s.giveUp()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-s.wake:
			timer.Reset(s.look(ctx))
		case <-timer.C:
			timer.Reset(s.look(ctx))
		}
	}
	s.close()
	defer time.AfterFunc(s.limits.Drain, s.giveUp).Stop()
	s.runs.Wait()
}

// GiveUp gives up all runs: those that run and, while Run goes on, those that come. It is
// for a scheduler that is to stop at once.
func (s *Scheduler) GiveUp() { s.giveUp() }

// close lets nothing begin any more. What waits is missed, and known to be by the store.
func (s *Scheduler) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
	for _, t := range s.waiting {
		delete(s.active, t.id)
	}
	s.waiting = nil
}

// look begins what is due, and returns when to look again.
func (s *Scheduler) look(ctx context.Context) time.Duration {
	now := s.limits.Now().Round(0) // the wall's clock: schedules go by it
	s.doubt(now)
	for _, t := range s.begin(s.due(now)) {
		s.skip(ctx, t, "the run before it has not ended")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := now.Add(glance)
	for _, one := range s.jobs {
		if !one.next.IsZero() && one.next.Before(next) {
			next = one.next
		}
	}
	return max(next.Sub(s.limits.Now().Round(0)), 0)
}

// doubt has schedules followed from now on if the clock was set back: a job would wait for
// a time that the clock was wrong to be near.
func (s *Scheduler) doubt(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.looked; now.Before(before.Add(-setBack)) {
		s.limits.Log.Warn("the clock was set back: the schedules of jobs are followed anew from there", "from", before, "to", now)
		for _, one := range s.jobs {
			if !one.next.IsZero() {
				one.next = one.schedule.Next(now)
			}
		}
	}
	s.looked = now
}

// due takes what is due, by plugin and job: one run for each job, however many times it
// was due.
func (s *Scheduler) due(now time.Time) []turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []turn
	for id, one := range s.jobs {
		if one.next.IsZero() || one.next.After(now) {
			continue
		}
		due := one.next
		one.next = one.schedule.Next(now)
		if now.Sub(due) > lateness {
			if s.limits.SkipMissed {
				s.stats.Missed++
				continue
			}
			s.stats.CaughtUp++
		}
		all = append(all, turn{id: id, run: newRun(id, protocol.TriggerSchedule, due)})
	}
	slices.SortFunc(all, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.id.plugin, b.id.plugin), cmp.Compare(a.id.key, b.id.key))
	})
	return all
}

func newRun(id name, trigger string, due time.Time) Run {
	return Run{Plugin: id.plugin, ID: uuid.NewString(), Job: id.key, Trigger: trigger, ScheduledAt: due}
}

// begin begins runs or lets them wait, and returns those of jobs that are active.
func (s *Scheduler) begin(all []turn) (overlapping []turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range all {
		if _, active := s.active[t.id]; active {
			overlapping = append(overlapping, t)
			continue
		}
		s.active[t.id] = struct{}{}
		s.waiting = append(s.waiting, t)
	}
	s.admit()
	return overlapping
}

// admit begins what waits while there is room. The lock is held.
func (s *Scheduler) admit() {
	for s.running < s.limits.AtOnce {
		i := s.next()
		if i < 0 {
			return
		}
		t := s.waiting[i]
		s.waiting = slices.Delete(s.waiting, i, i+1)
		s.occupy(t.id)
		s.runs.Go(func() {
			_ = s.run(s.life, t) // it is remembered
			s.finish(t.id)
		})
	}
}

// finish makes room for what waits.
func (s *Scheduler) finish(id name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if s.busy[id.plugin]--; s.busy[id.plugin] == 0 {
		delete(s.busy, id.plugin)
	}
	delete(s.active, id)
	s.admit()
}

// next is who of those that wait is to begin: of the plugins of which the fewest jobs run,
// the one that has waited longest; -1 if none may. The lock is held.
func (s *Scheduler) next() int {
	found, least := -1, s.limits.PerPlugin
	for i, t := range s.waiting {
		if busy := s.busy[t.id.plugin]; busy < least {
			found, least = i, busy
		}
	}
	return found
}

// occupy counts a run that begins. The lock is held.
func (s *Scheduler) occupy(id name) {
	s.running++
	s.busy[id.plugin]++
}
