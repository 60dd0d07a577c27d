package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Job is a job as its plugin declares it.
type Job struct {
	// Key is the job's own, without "job:".
	Key string
	// Schedule is a cron expression; "" for a job that is run by hand alone.
	Schedule string
}

// Scheduler runs jobs when they are due.
type Scheduler struct {
	runner Runner
	store  Store
	limits Options
	// wake has an element when the jobs have changed.
	wake chan struct{}
	// life is that of the runs; giveUp ends it.
	life   context.Context
	giveUp context.CancelFunc
	// setting is held while jobs change, since that asks the store.
	setting sync.Mutex

	mu      sync.Mutex
	jobs    map[name]*job
	looked  time.Time         // at the clock, last
	active  map[name]struct{} // running or waiting, known still or not
	waiting []turn            // for one of the running to end; one of a job
	running int
	busy    map[string]int // how many of the running are a plugin's
	open    bool           // until Run ends
	runs    sync.WaitGroup // counts while open alone
	stats   Stats
}

// name tells the jobs of all plugins apart.
type name struct{ plugin, key string }

// job is one that is followed.
type job struct {
	text     string // as it was declared
	schedule Schedule
	next     time.Time // zero for one that is run by hand alone
}

// New returns a scheduler that follows nothing. Run must be called for it to work.
func New(runner Runner, store Store, o Options) *Scheduler {
	life, giveUp := context.WithCancel(context.Background())
	return &Scheduler{
		life: life, giveUp: giveUp, runner: runner, store: store, limits: o.withDefaults(),
		wake: make(chan struct{}, 1), open: true,
		jobs: map[name]*job{}, active: map[name]struct{}{}, busy: map[string]int{},
	}
}

// Set makes these the jobs of a plugin, and no others. Those that it has already go on
// as they are. What is wrong with one keeps no other from being followed: one whose
// schedule cannot be read is run by hand alone.
func (s *Scheduler) Set(ctx context.Context, plugin string, list []Job) error {
	s.setting.Lock()
	defer s.setting.Unlock()
	if err := s.room(plugin, len(list)); err != nil {
		s.replace(plugin, nil)
		return err
	}
	kept := s.of(plugin)
	wanted := make(map[name]*job, len(list))
	var wrong []error
	for _, declared := range list {
		id := name{plugin, declared.Key}
		if have := kept[id]; have != nil && have.text == declared.Schedule {
			wanted[id] = have
			continue
		}
		one, err := s.follow(ctx, id, declared.Schedule)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("plugin %s: job %s: %w", plugin, declared.Key, err))
		}
		wanted[id] = one
	}
	s.replace(plugin, wanted)
	return errors.Join(wrong...)
}

// Remove forgets the jobs of a plugin. What runs goes on.
func (s *Scheduler) Remove(plugin string) {
	s.setting.Lock()
	defer s.setting.Unlock()
	s.replace(plugin, nil)
}

// follow makes a job, due when its schedule says after it was followed last.
func (s *Scheduler) follow(ctx context.Context, id name, schedule string) (*job, error) {
	one := &job{text: schedule}
	if schedule == "" {
		return one, nil
	}
	parsed, err := Parse(schedule)
	if err != nil {
		return one, err
	}
	now := s.limits.Now()
	until, err := s.store.FollowJob(ctx, id.plugin, id.key, schedule)
	if err != nil || until.After(now) { // the clock was set back
		until = now
	}
	one.schedule, one.next = parsed, parsed.Next(until)
	return one, err
}

// of are a plugin's jobs.
func (s *Scheduler) of(plugin string) map[name]*job {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := map[name]*job{}
	for id, one := range s.jobs {
		if id.plugin == plugin {
			of[id] = one
		}
	}
	return of
}

// room tells whether a plugin may have so many jobs.
func (s *Scheduler) room(plugin string, count int) error {
	own := len(s.of(plugin))
	s.mu.Lock()
	defer s.mu.Unlock()
	if others := len(s.jobs) - own; others+count > s.limits.Jobs {
		return fault(protocol.CodeOverloaded, plugin, "none of its %d jobs is followed: %d of other plugins are, and %d may be in all: declare fewer, or raise the limit",
			count, others, s.limits.Jobs)
	}
	return nil
}

// replace puts jobs in the place of a plugin's.
func (s *Scheduler) replace(plugin string, wanted map[name]*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.jobs, func(id name, _ *job) bool { return id.plugin == plugin })
	maps.Copy(s.jobs, wanted)
	s.poke()
}

// poke has the loop look at the jobs.
func (s *Scheduler) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Stats returns the counts as they are.
func (s *Scheduler) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Jobs, stats.Running, stats.Waiting = len(s.jobs), s.running, len(s.waiting)
	return stats
}

func fault(code protocol.Code, plugin, format string, args ...any) error {
	return &protocol.Error{Code: code, Plugin: plugin, Message: fmt.Sprintf(format, args...)}
}
