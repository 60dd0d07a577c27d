package jobs

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

const (
	byTimer = ` schedule`
	byHand  = ` manual`
)

func TestScheduler_runsJobsWhenTheyAreDue(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.set("p", Job{"often", "*/5 * * * *"}, Job{"rare", "7 * * * *"}, Job{Key: "byHand"})
		b.set("q", Job{"often", "*/5 * * * *"})
		b.pass(4 * time.Minute)
		b.wantCalls()
		b.pass(6 * time.Minute)
		b.wantCalls(
			"5m0s p job:often"+byTimer, "5m0s q job:often"+byTimer, "7m0s p job:rare"+byTimer,
			"10m0s p job:often"+byTimer, "10m0s q job:often"+byTimer,
		)
		b.wantRuns("p often 5m0s succeeded", "q often 5m0s succeeded", "p rare 7m0s succeeded",
			"p often 10m0s succeeded", "q often 10m0s succeeded")
		require.Equal(t, Stats{Jobs: 4, Runs: 5}, b.Stats())
	})
}

func TestScheduler_jobsAreThoseThatWereSetLast(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.set("p", Job{"a", "*/5 * * * *"}, Job{"b", "*/5 * * * *"})
		b.set("q", Job{"a", "*/5 * * * *"})
		b.pass(3 * time.Minute)
		b.set("p", Job{"b", "*/5 * * * *"}, Job{"c", "*/2 * * * *"})
		b.Remove("q")
		b.Remove("unknown")
		b.pass(2 * time.Minute)
		b.wantCalls("4m0s p job:c"+byTimer, "5m0s p job:b"+byTimer)
		b.set("p")
		b.pass(time.Hour)
		b.wantCalls()
		require.Zero(t, b.Stats().Jobs)
	})
}

func TestScheduler_aScheduleThatCannotBeReadKeepsNoOtherFromRunning(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		err := b.Set(b.t.Context(), "p", []Job{{"bad", "99 * * * *"}, {"good", "* * * * *"}})
		require.ErrorContains(t, err, `plugin p: job bad: schedule "99 * * * *": expected a cron expression of 5 fields`)
		b.pass(time.Minute)
		b.wantCalls("1m0s p job:good" + byTimer)
		_, err = b.Trigger(b.t.Context(), "p", "bad")
		require.NoError(t, err)
		b.wantCalls("1m0s p job:bad" + byHand)
	})
}

func TestScheduler_followsSoManyJobs(t *testing.T) {
	inBubble(t, Options{Jobs: 3}, func(b *bench) {
		b.set("p", Job{Key: "a"}, Job{Key: "b"})
		b.set("q", Job{Key: "a"})
		b.set("q", Job{Key: "b"})
		err := b.Set(b.t.Context(), "q", []Job{{Key: "a"}, {Key: "b"}})
		wantFault(t, err, protocol.CodeOverloaded, "plugin q: none of its 2 jobs is followed: 2 of other plugins are, and 3 may be in all")
		require.Equal(t, 2, b.Stats().Jobs)
		b.set("q", Job{Key: "a"})
	})
}

func TestScheduler_aStoreThatFailsKeepsNothingFromRunning(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.store.err = errors.New("disk full")
		require.ErrorIs(t, b.Set(b.t.Context(), "p", []Job{{"a", "* * * * *"}}), b.store.err)
		b.pass(time.Minute)
		b.wantCalls("1m0s p job:a" + byTimer)
		require.Equal(t, Stats{Jobs: 1, Runs: 1, Unrecorded: 2}, b.Stats())
	})
}

// A clock that was a year ahead must not stop a job for a year.
func TestScheduler_doesNotBelieveTheFuture(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.store.followed[name{"p", "a"}] = followed{"* * * * *", time.Now().AddDate(1, 0, 0)}
		b.set("p", Job{"a", "* * * * *"})
		b.pass(time.Minute)
		b.wantCalls("1m0s p job:a" + byTimer)
	})
}
