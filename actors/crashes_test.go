package actors

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
)

func TestCrashes_areForgivenOnlyByTimeInReady(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		ready  time.Duration // how long the second session was ready
		before int           // what is shown just before it crashed
		inARow int
		pause  time.Duration
	}{
		"never ready":      {0, 1, 2, 2 * time.Second},
		"a moment too few": {time.Minute - 1, 1, 2, 2 * time.Second},
		"long enough":      {time.Minute, 0, 1, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrashes(RestartPolicy{Jitter: -1}.withDefaults())
			c.enter(lifecycle.WorkerCrashed, start)
			require.Equal(t, start.Add(time.Second), c.add(start, errors.New("first")))
			c.unplan()
			c.enter(lifecycle.WorkerStarting, start.Add(time.Hour))
			ready := start.Add(2 * time.Hour) // the time in which it starts does not count
			end := ready.Add(test.ready)
			if test.ready > 0 {
				c.enter(lifecycle.WorkerRunning, ready)
			}
			require.Equal(t, test.before, c.snapshot(end).InARow)
			c.enter(lifecycle.WorkerCrashed, end)
			require.Equal(t, end.Add(test.pause), c.add(end, errors.New("second")))
			require.Equal(t, WorkerInfo{
				State: lifecycle.WorkerCrashed, Crashes: 2, InARow: test.inARow,
				LastCrash: "second", LastCrashAt: end, NextRestart: end.Add(test.pause),
			}, c.snapshot(end.Add(time.Hour)))
		})
	}
}

func TestCrashes_anOrderlyEndKeepsWhatWasEarned(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := newCrashes(RestartPolicy{}.withDefaults())
	c.enter(lifecycle.WorkerCrashed, now)
	c.add(now, errors.New("first"))
	c.enter(lifecycle.WorkerRunning, now)
	c.enter(lifecycle.WorkerStopping, now.Add(time.Minute))
	require.Zero(t, c.snapshot(now.Add(time.Minute)).InARow)
}

func TestCrashes_areGivenUpAndForgivenByHand(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, policy := range map[string]RestartPolicy{"disabled": {Disabled: true}, "too many": {MaxInARow: 1}} {
		t.Run(name, func(t *testing.T) {
			c := newCrashes(policy.withDefaults())
			var next time.Time
			for range 2 {
				c.unplan()
				next = c.add(now, errors.New("no luck"))
			}
			require.Zero(t, next)
			require.True(t, c.snapshot(now).GivenUp)
			c.forgive()
			got := c.snapshot(now)
			require.False(t, got.GivenUp)
			require.Zero(t, got.InARow)
			require.Equal(t, 2, got.Crashes)
		})
	}
}

func TestCrashReason_namesThePluginOnceAndTheTime(t *testing.T) {
	err := errors.New("plugin a: the worker exited")
	next := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.FixedZone("east", 3600))
	require.Equal(t, "plugin a failed: the worker exited", crashReason("a", err, time.Time{}))
	require.Equal(t, "plugin a crashed: the worker exited; the next try is at 2026-01-02T02:04:05.006Z", crashReason("a", err, next))
	require.Equal(t, "; the next try is in 1.235s", nextTry(next, next.Add(-1234567*time.Microsecond)))
	require.Equal(t, "; the next try is in 0s", nextTry(next, next.Add(time.Hour)))
}
