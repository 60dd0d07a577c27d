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

func jobCall(key, input string) protocol.Call {
	return protocol.Call{Key: "job:" + key, Plugin: "p", Input: json.RawMessage(input)}
}

// input is that of the last call.
func (b *bench) input() (in protocol.JobInput) {
	b.t.Helper()
	require.NoError(b.t, json.Unmarshal(b.last.Input, &in))
	return in
}

func TestServe_isARunOfTheJob(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.runsTake(time.Minute)
		b.pass(time.Second)
		c := jobCall("a", `{"trigger":"schedule","runId":"mine","scheduledAt":"yesterday"}`)
		c.Scope, c.Instance, c.Trace, c.Wait, c.Caller = "acme", "p-2", "00-1", true, "q"
		result, err := b.Serve(b.t.Context(), c)
		require.NoError(t, err)
		require.Nil(t, result)
		b.wantCalls("1s p job:a manual")

		run := b.store.runs[0]
		require.Equal(t, protocol.JobInput{Trigger: "manual", RunID: run.ID, ScheduledAt: "2000-01-01T00:00:01Z"}, b.input())
		require.Equal(t, "acme", run.Company)
		require.Equal(t, protocol.TriggerManual, run.Trigger)
		require.Equal(t, []any{"acme", "p-2", "00-1", true, "q"}, []any{b.last.Scope, b.last.Instance, b.last.Trace, b.last.Wait, b.last.Caller})
		require.Equal(t, b.began.Add(time.Second+5*time.Minute), b.last.Deadline)

		b.runsFail(errors.New("no luck"))
		_, err = b.Serve(b.t.Context(), jobCall("a", `{"trigger":"retry"}`))
		require.ErrorIs(t, err, b.fail)
		b.wantCalls("1m1s p job:a retry")
		b.wantRuns("p a 1s succeeded", "p a 1m1s failed no luck")
	})
}

func TestServe_keepsToTheRules(t *testing.T) {
	inBubble(t, Options{AtOnce: 2, PerPlugin: 2, Drain: time.Second}, func(b *bench) {
		b.runsTake(time.Hour)
		b.set("p", Job{"a", "1 * * * *"})
		ended := make(chan error, 1)
		go func() {
			_, err := b.Serve(context.Background(), jobCall("a", `{}`))
			ended <- err
		}()
		synctest.Wait()
		_, err := b.Serve(b.t.Context(), jobCall("a", `{}`))
		wantFault(t, err, protocol.CodeOverloaded, "job a: the run before it has not ended: try again when it has")
		b.pass(2 * time.Minute) // what is due meanwhile is left out
		b.wantRuns("p a 0s running", "p a 1m0s skipped the run before it has not ended")

		wantFault(t, <-ended, protocol.CodeTimeout, "job a: a run may take 5m0s, and this one was given up")
		require.Equal(t, "5m0s", b.clock())

		late := jobCall("a", `{}`)
		late.Deadline = time.Now().Add(time.Minute)
		go func() {
			_, err := b.Serve(context.Background(), late)
			ended <- err
		}()
		synctest.Wait()
		require.Equal(t, late.Deadline, b.last.Deadline, "the caller's own is before the limit")
		b.stop()
		require.Error(t, <-ended)
		_, err = b.Serve(b.t.Context(), jobCall("a", `{}`))
		wantFault(t, err, protocol.CodeNotReady, "job a: the host stops")
	})
}

func TestScheduled_tellsTheRunAndWhenItWasDue(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.set("p", Job{"a", "1 * * * *"})
		b.pass(time.Minute)
		require.Equal(t, protocol.JobInput{Trigger: "schedule", RunID: b.store.runs[0].ID, ScheduledAt: "2000-01-01T00:01:00Z"}, b.input())
	})
}

func TestList_hasWhatIsFollowed(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		require.Empty(t, b.List())
		b.runsTake(time.Hour)
		b.set("p", Job{"b", "1 * * * *"}, Job{Key: "a"})
		b.set("o", Job{Key: "z"})
		b.pass(time.Minute)
		require.Equal(t, []Followed{
			{Plugin: "o", Job: Job{Key: "z"}},
			{Plugin: "p", Job: Job{Key: "a"}},
			{Plugin: "p", Job: Job{"b", "1 * * * *"}, Next: b.began.Add(time.Hour + time.Minute).UTC(), Active: true},
		}, b.List())
	})
}
