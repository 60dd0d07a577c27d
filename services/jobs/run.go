package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Trigger runs a job by hand and returns when it has ended, with the run's ID, which is
// "" if there was none. It is refused while the job runs or waits, and while as many
// run as may. When ctx ends the run is given up, or not waited for (Options.Deaf).
func (s *Scheduler) Trigger(ctx context.Context, plugin, key string) (run string, err error) {
	id := name{plugin, key}
	if !s.knows(id) {
		return "", fault(protocol.CodeNotFound, plugin, "job %s: the plugin has none of that name, or is not ready", key)
	}
	if err := s.take(id); err != nil {
		return "", err
	}
	t := turn{id: id, run: newRun(id, protocol.TriggerManual, s.limits.Now())}
	return t.run.ID, s.byHand(ctx, t)
}

// byHand runs a job that was taken, until whoever asked for it gives it up, or the host
// does. A plugin that would not be told of the first works on: its run has not ended then.
func (s *Scheduler) byHand(ctx context.Context, t turn) error {
	if !s.limits.Deaf(t.id.plugin) {
		return s.attended(ctx, t)
	}
	t.call.Deadline, t.call.Idle, t.call.Progress = time.Time{}, 0, nil // ctx holds for who waits, Limit for the run
	ended := make(chan error, 1)
	go func() { ended <- s.attended(context.WithoutCancel(ctx), t) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	code := protocol.CodeCancelled
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		code = protocol.CodeTimeout
	}
	return &protocol.Error{Code: code, Plugin: t.id.plugin, Err: context.Cause(ctx), Message: fmt.Sprintf(
		"job %s: it was given up; the plugin cannot be told, so the run goes on until it answers, for %s at most", t.id.key, s.limits.Limit)}
}

// attended is a run that ends with ctx.
func (s *Scheduler) attended(ctx context.Context, t turn) error {
	defer s.runs.Done()
	defer s.finish(t.id)
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	defer context.AfterFunc(s.life, giveUp)()
	return s.run(ctx, t)
}

// knows tells whether a job can be run by hand; at the end take says that it cannot.
func (s *Scheduler) knows(id name) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.open || s.jobs[id] != nil
}

// take makes a job active, to be run by hand.
func (s *Scheduler) take(id name) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, active := s.active[id]
	switch {
	case !s.open:
		return fault(protocol.CodeNotReady, id.plugin, "job %s: the host stops", id.key)
	case active:
		return fault(protocol.CodeOverloaded, id.plugin, "job %s: the run before it has not ended: try again when it has", id.key)
	case s.running >= s.limits.AtOnce:
		return fault(protocol.CodeOverloaded, id.plugin, "job %s: %d jobs run, and no more may at a time: try again later", id.key, s.running)
	case s.busy[id.plugin] >= s.limits.PerPlugin:
		return fault(protocol.CodeOverloaded, id.plugin, "job %s: %d jobs of the plugin run, and no more of one may at a time: try again later", id.key, s.busy[id.plugin])
	}
	s.active[id] = struct{}{}
	s.occupy(id)
	s.runs.Add(1)
	return nil
}

// run runs a job, and has it remembered. A store that fails keeps no job from running.
func (s *Scheduler) run(ctx context.Context, t turn) error {
	always := context.Background() // also of a run that was given up
	s.record(always, t, func(ctx context.Context) error { return s.store.StartRun(ctx, t.run) })
	err := s.invoke(ctx, t)
	failure := ""
	if err != nil {
		failure = cmp.Or(err.Error(), "it did not say why")
		s.limits.Log.Warn("a job has failed", "plugin", t.id.plugin, "job", t.id.key, "run", t.run.ID, "error", failure)
	}
	s.record(always, t, func(ctx context.Context) error { return s.store.EndRun(ctx, t.id.plugin, t.run.ID, failure) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Runs++
	if err != nil {
		s.stats.Failed++
	}
	return err
}

// errLimit ends a run that takes too long.
var errLimit = errors.New("a run's limit passed")

func (s *Scheduler) invoke(ctx context.Context, t turn) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.limits.Limit, errLimit)
	defer cancel()
	input, err := json.Marshal(protocol.JobInput{
		Trigger: t.run.Trigger, RunID: t.run.ID, ScheduledAt: t.run.ScheduledAt.UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		return err
	}
	c := t.call
	c.Key, c.Plugin, c.Input = keyOf(t.id.key), t.id.plugin, input
	if limit, ok := ctx.Deadline(); ok && (c.Deadline.IsZero() || limit.Before(c.Deadline)) {
		c.Deadline = limit
	}
	_, err = s.runner.Invoke(ctx, c)
	if err != nil && errors.Is(context.Cause(ctx), errLimit) {
		return &protocol.Error{
			Code: protocol.CodeTimeout, Plugin: t.id.plugin, Err: err,
			Message: "job " + t.id.key + ": a run may take " + s.limits.Limit.String() + ", and this one was given up",
		}
	}
	return err
}

// skip has a run remembered that is left out, unless ctx ends before.
func (s *Scheduler) skip(ctx context.Context, t turn, why string) {
	t.run.Error = why
	s.mu.Lock()
	s.stats.Skipped++
	s.mu.Unlock()
	s.limits.Log.Warn("a run of a job is left out", "plugin", t.id.plugin, "job", t.id.key, "due", t.run.ScheduledAt, "reason", why)
	s.record(ctx, t, func(ctx context.Context) error { return s.store.SkipRun(ctx, t.run) })
}

// record has the store remember something.
func (s *Scheduler) record(ctx context.Context, t turn, keep func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, recording)
	defer cancel()
	err := keep(ctx)
	if err == nil {
		return
	}
	s.limits.Log.Warn("a run of a job is not remembered", "plugin", t.id.plugin, "job", t.id.key, "run", t.run.ID, "error", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Unrecorded++
}
