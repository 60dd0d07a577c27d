package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a store that remembers in memory.
type memory struct {
	mu       sync.Mutex
	followed map[name]followed
	runs     []*Run
	err      error // of every method, if it is set
	stuck    bool  // SkipRun does not return before its context ends
}

type followed struct {
	schedule string
	until    time.Time
}

func (m *memory) FollowJob(_ context.Context, plugin, job, schedule string) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := name{plugin, job}
	if m.followed[id].schedule != schedule {
		m.followed[id] = followed{schedule, time.Now()}
	}
	return m.followed[id].until, m.err
}

func (m *memory) StartRun(_ context.Context, r Run) error {
	return m.add(r, Running, time.Time{})
}

func (m *memory) SkipRun(ctx context.Context, r Run) error {
	m.mu.Lock()
	stuck := m.stuck
	m.mu.Unlock()
	if stuck {
		<-ctx.Done()
		return ctx.Err()
	}
	return m.add(r, Skipped, time.Now())
}

func (m *memory) add(r Run, o Outcome, ended time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	r.Outcome, r.StartedAt, r.EndedAt = o, time.Now(), ended
	m.runs = append(m.runs, &r)
	if id := (name{r.Plugin, r.Job}); r.Trigger == protocol.TriggerSchedule {
		m.followed[id] = followed{m.followed[id].schedule, time.Now()}
	}
	return nil
}

func (m *memory) EndRun(ctx context.Context, plugin, id, failure string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if r.Plugin == plugin && r.ID == id {
			if r.Outcome, r.Error, r.EndedAt = Succeeded, failure, time.Now(); failure != "" {
				r.Outcome = Failed
			}
		}
	}
	return errors.Join(m.err, ctx.Err())
}

// bench is a scheduler in a bubble, whose time begins at 2000-01-01 00:00 UTC, a
// Saturday.
type bench struct {
	*Scheduler
	t     *testing.T
	store *memory
	began time.Time
	stop  func()

	mu    sync.Mutex
	take  time.Duration // of a run
	fail  error         // its answer
	calls []string
	last  protocol.Call
}

// inBubble runs a test of a scheduler, which is stopped at its end.
func inBubble(t *testing.T, o Options, test func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, store: &memory{followed: map[name]followed{}}, began: time.Now()}
		b.start(o)
		defer func() { b.stop() }() // of the scheduler that was started last
		test(b)
	})
}

// start starts a scheduler on what the one before has left.
func (b *bench) start(o Options) {
	b.Scheduler = New(b, b.store, o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func(s *Scheduler) { defer close(ended); s.Run(ctx) }(b.Scheduler)
	b.stop = func() { cancel(); <-ended }
}

// Invoke implements Runner.
func (b *bench) Invoke(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	b.mu.Lock()
	var input protocol.JobInput
	require.NoError(b.t, json.Unmarshal(c.Input, &input))
	b.calls = append(b.calls, b.clock()+" "+c.Plugin+" "+c.Key+" "+input.Trigger)
	b.last = c
	take, fail := b.take, b.fail
	b.mu.Unlock()
	select {
	case <-time.After(take):
		return nil, fail
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (b *bench) runsTake(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take = d
}

func (b *bench) runsFail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = err
}

// clock is how long the test has run.
func (b *bench) clock() string { return time.Since(b.began).Round(time.Second).String() }

func (b *bench) set(plugin string, list ...Job) {
	b.t.Helper()
	require.NoError(b.t, b.Set(b.t.Context(), plugin, list))
}

// pass lets time go by and what is due then happen.
func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// wantCalls is what was called since it was asked last.
func (b *bench) wantCalls(want ...string) {
	b.t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	wantLines(b.t, want, b.calls)
	b.calls = nil
}

// wantRuns is what is remembered, as "plugin job due outcome error".
func (b *bench) wantRuns(want ...string) {
	b.t.Helper()
	synctest.Wait()
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	got := []string{}
	for _, r := range b.store.runs {
		due := r.ScheduledAt.Sub(b.began).String()
		got = append(got, strings.TrimSpace(strings.Join([]string{r.Plugin, r.Job, due, string(r.Outcome), r.Error}, " ")))
	}
	wantLines(b.t, want, got)
}

// wantLines compares in any order: what happens at one moment has none.
func wantLines(t *testing.T, want, got []string) {
	t.Helper()
	require.Equal(t, strings.Join(slices.Sorted(slices.Values(want)), "\n"), strings.Join(slices.Sorted(slices.Values(got)), "\n"))
}

func wantFault(t *testing.T, err error, code protocol.Code, words string) {
	t.Helper()
	require.ErrorContains(t, err, words)
	require.Equal(t, code, protocol.CodeOf(err), err.Error())
}
