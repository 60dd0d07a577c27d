package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestTrigger_runsAJobAndTellsHowItEnded(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.runsTake(time.Minute)
		b.set("p", Job{"a", "0 0 1 7 *"})
		id, err := b.Trigger(b.t.Context(), "p", "a")
		require.NoError(t, err)
		require.Equal(t, "1m0s", b.clock())
		b.wantCalls("0s p job:a" + byHand)
		require.Equal(t, id, b.store.runs[0].ID)
		b.runsFail(errors.New("no luck"))
		_, err = b.Trigger(b.t.Context(), "p", "a")
		require.ErrorIs(t, err, b.fail)
		b.wantRuns("p a 0s succeeded", "p a 1m0s failed no luck")
	})
}

func TestTrigger_isRefused(t *testing.T) {
	inBubble(t, Options{AtOnce: 1}, func(b *bench) {
		trigger := func(job string, code protocol.Code, words string) {
			b.t.Helper()
			id, err := b.Trigger(b.t.Context(), "p", job)
			require.Empty(b.t, id)
			wantFault(b.t, err, code, words)
		}
		b.runsTake(time.Minute)
		trigger("a", protocol.CodeNotFound, "job a: the plugin has none of that name, or is not ready")
		b.set("p", Job{"a", "1 * * * *"}, Job{Key: "b"})
		b.pass(61 * time.Second)
		trigger("a", protocol.CodeOverloaded, "job a: the run before it has not ended: try again when it has")
		trigger("b", protocol.CodeOverloaded, "job b: 1 jobs run, and no more may at a time: try again later")
		b.wantRuns("p a 1m0s running")
		b.stop()
		trigger("b", protocol.CodeNotReady, "job b: the host stops")
	})
}

func TestTrigger_isGivenUpWithItsCaller(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.runsTake(time.Hour)
		b.set("p", Job{Key: "a"})
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
		defer cancel()
		_, err := b.Trigger(ctx, "p", "a")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		b.wantRuns("p a 0s failed context deadline exceeded")
	})
}

// A Paperclip worker is not told that its caller has gone: it may still be at work.
func TestTrigger_goesOnWhereThePluginCannotBeTold(t *testing.T) {
	deaf := func(plugin string) bool { return plugin == "p" }
	inBubble(t, Options{Limit: 5 * time.Minute, Deaf: deaf}, func(b *bench) {
		b.runsTake(2 * time.Minute)
		b.set("p", Job{"a", "1 * * * *"})
		ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
		defer cancel()
		_, err := b.Trigger(ctx, "p", "a")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		wantFault(t, err, protocol.CodeTimeout, "job a: it was given up; the plugin cannot be told, so the run goes on until it answers, for 5m0s at most")
		require.Equal(t, "30s", b.clock())
		_, err = b.Trigger(b.t.Context(), "p", "a")
		wantFault(t, err, protocol.CodeOverloaded, "the run before it has not ended")
		require.Equal(t, 1, b.Stats().Running)
		b.pass(time.Minute)
		b.wantRuns("p a 0s running", "p a 1m0s skipped the run before it has not ended")
		b.pass(time.Minute)
		b.wantRuns("p a 0s succeeded", "p a 1m0s skipped the run before it has not ended")

		b.runsTake(time.Hour) // the limit ends it, and makes room
		gone, leave := context.WithCancel(b.t.Context())
		leave()
		_, err = b.Trigger(gone, "p", "a")
		wantFault(t, err, protocol.CodeCancelled, "job a: it was given up")
		b.pass(5 * time.Minute)
		require.Zero(t, b.Stats().Running)
		_, err = b.Trigger(gone, "p", "a")
		wantFault(t, err, protocol.CodeCancelled, "job a: it was given up")
	})
}

// What the caller says of its own patience is not the run's.
func TestServe_aCallersDeadlineIsNotTheRuns(t *testing.T) {
	inBubble(t, Options{Deaf: func(string) bool { return true }}, func(b *bench) {
		b.runsTake(time.Minute)
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		at, _ := ctx.Deadline()
		_, err := b.Serve(ctx, protocol.Call{
			Key: "job:a", Plugin: "p", Scope: "acme", Deadline: at, Idle: time.Second,
			Progress: func(json.RawMessage) error { return nil },
		})
		wantFault(t, err, protocol.CodeTimeout, "job a: it was given up")
		b.pass(time.Minute)
		b.wantRuns("p a 0s succeeded")
		require.Equal(t, "acme", b.last.Scope)
		require.Equal(t, b.began.Add(5*time.Minute), b.last.Deadline)
		require.Zero(t, b.last.Idle)
		require.Nil(t, b.last.Progress)
	})
}

func TestTrigger_isGivenUpWithTheHost(t *testing.T) {
	inBubble(t, Options{Drain: 5 * time.Second}, func(b *bench) {
		b.runsTake(time.Hour)
		b.set("p", Job{Key: "a"})
		ended := make(chan error, 1)
		go func() {
			_, err := b.Trigger(context.Background(), "p", "a")
			ended <- err
		}()
		synctest.Wait()
		b.stop()
		require.ErrorIs(t, <-ended, context.Canceled)
		require.Equal(t, "5s", b.clock())
	})
}

// What is due while a job runs by hand is left out, too.
func TestTrigger_countsAsARun(t *testing.T) {
	inBubble(t, Options{AtOnce: 1}, func(b *bench) {
		b.runsTake(90 * time.Second)
		b.set("p", Job{"a", "1 * * * *"}, Job{"b", "1 * * * *"})
		_, err := b.Trigger(b.t.Context(), "p", "a")
		require.NoError(t, err)
		b.wantRuns("p a 0s succeeded", "p a 1m0s skipped the run before it has not ended", "p b 1m0s running")
	})
}
