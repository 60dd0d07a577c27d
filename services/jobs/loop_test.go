package jobs

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestRun_isLeftOutWhileTheOneBeforeHasNotEnded(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.runsTake(150 * time.Second)
		b.set("p", Job{"a", "* * * * *"})
		b.pass(4*time.Minute + time.Second)
		b.wantCalls("1m0s p job:a"+byTimer, "4m0s p job:a"+byTimer)
		b.wantRuns("p a 1m0s succeeded", "p a 2m0s skipped the run before it has not ended",
			"p a 3m0s skipped the run before it has not ended", "p a 4m0s running")
		require.Equal(t, Stats{Jobs: 1, Running: 1, Runs: 1, Skipped: 2}, b.Stats())
	})
}

// The plugin left and came back, and its run goes on.
func TestRun_isLeftOutAfterItsJobWasSetAnewToo(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.runsTake(90 * time.Second)
		b.set("p", Job{"a", "* * * * *"})
		b.pass(70 * time.Second)
		b.Remove("p")
		b.set("p", Job{"a", "* * * * *"})
		b.pass(time.Minute)
		b.wantCalls("1m0s p job:a" + byTimer)
		require.EqualValues(t, 1, b.Stats().Skipped)
	})
}

func TestRun_waitsWhileTooManyOthersRun(t *testing.T) {
	inBubble(t, Options{AtOnce: 2, PerPlugin: 2}, func(b *bench) {
		b.runsTake(40 * time.Second)
		b.set("p", Job{"a", "* * * * *"}, Job{"b", "* * * * *"}, Job{"c", "* * * * *"}, Job{"d", "1 * * * *"}, Job{"e", "1 * * * *"})
		b.pass(61 * time.Second)
		require.Equal(t, Stats{Jobs: 5, Running: 2, Waiting: 3}, b.Stats())
		b.pass(59 * time.Second)
		b.wantCalls("1m0s p job:a"+byTimer, "1m0s p job:b"+byTimer, "1m40s p job:c"+byTimer, "1m40s p job:d"+byTimer)
		require.EqualValues(t, 1, b.Stats().Skipped, "c has not ended")
		b.pass(time.Second)
		require.Equal(t, 3, b.Stats().Waiting, "e, and a and b again")
	})
}

func TestRun_aPluginWhoseJobsDoNotEndKeepsNoOtherWaiting(t *testing.T) {
	inBubble(t, Options{AtOnce: 3}, func(b *bench) {
		b.runsTake(230 * time.Second)
		b.set("endless", Job{"a", "* * * * *"}, Job{"b", "* * * * *"}, Job{"c", "* * * * *"}, Job{"d", "* * * * *"})
		b.set("p", Job{"a", "* * * * *"})
		b.set("q", Job{"a", "* * * * *"})
		b.pass(61 * time.Second)
		b.wantCalls("1m0s endless job:a"+byTimer, "1m0s p job:a"+byTimer, "1m0s q job:a"+byTimer)
		require.Equal(t, 3, b.Stats().Waiting)
		b.pass(230 * time.Second)
		b.wantCalls("4m50s endless job:b"+byTimer, "4m50s endless job:c"+byTimer)
		require.Equal(t, 2, b.Stats().Running, "one is kept for others")
	})
}

func TestTrigger_isRefusedWhereThePluginsJobsDoNotEnd(t *testing.T) {
	inBubble(t, Options{AtOnce: 3, PerPlugin: 1}, func(b *bench) {
		b.runsTake(100 * time.Second)
		b.set("p", Job{"a", "* * * * *"}, Job{Key: "byHand"})
		b.set("q", Job{Key: "byHand"})
		b.pass(61 * time.Second)
		b.wantCalls("1m0s p job:a" + byTimer)
		_, err := b.Trigger(b.t.Context(), "p", "byHand")
		wantFault(t, err, protocol.CodeOverloaded, "job byHand: 1 jobs of the plugin run, and no more of one may at a time: try again later")
		_, err = b.Trigger(b.t.Context(), "q", "byHand")
		require.NoError(t, err)
		b.wantCalls("1m1s q job:byHand" + byHand)
	})
}

func TestRun_whatWasMissedRunsOnce(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.set("p", Job{"hourly", "0 * * * *"}, Job{"yearly", "0 0 1 7 *"}, Job{Key: "byHand"})
		b.pass(90 * time.Minute)
		b.wantCalls("1h0m0s p job:hourly" + byTimer)
		b.stop()
		b.pass(10 * time.Hour)
		b.start(Options{})
		b.set("p", Job{"hourly", "0 * * * *"}, Job{"yearly", "0 0 1 7 *"}, Job{Key: "byHand"})
		b.pass(30 * time.Minute)
		b.wantCalls("11h30m0s p job:hourly"+byTimer, "12h0m0s p job:hourly"+byTimer)
		b.wantRuns("p hourly 1h0m0s succeeded", "p hourly 2h0m0s succeeded", "p hourly 12h0m0s succeeded")
		require.Equal(t, Stats{Jobs: 3, Runs: 2, CaughtUp: 1}, b.Stats())
	})
}

// The plugin was away, and has never run before.
func TestRun_whatAPluginMissedRunsOnce(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.set("p", Job{"daily", "0 3 * * *"})
		b.pass(2 * time.Hour)
		b.Remove("p")
		b.pass(2 * time.Hour)
		b.set("p", Job{"daily", "0 3 * * *"})
		b.wantCalls("4h0m0s p job:daily" + byTimer)
	})
}

func TestRun_whatWasMissedMayBeLeftOut(t *testing.T) {
	inBubble(t, Options{SkipMissed: true}, func(b *bench) {
		b.set("p", Job{"hourly", "0 * * * *"})
		b.pass(59 * time.Minute)
		b.Remove("p")
		b.pass(2 * time.Minute)
		b.set("p", Job{"hourly", "0 * * * *"})
		b.wantCalls("1h1m0s p job:hourly" + byTimer) // a minute late is not missed
		b.Remove("p")
		b.pass(2 * time.Hour)
		b.set("p", Job{"hourly", "0 * * * *"})
		b.wantCalls()
		b.pass(59 * time.Minute)
		b.wantCalls("4h0m0s p job:hourly" + byTimer)
		require.Equal(t, Stats{Jobs: 1, Runs: 2, Missed: 1}, b.Stats())
	})
}

func TestRun_nothingIsMissedByAnotherSchedule(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.set("p", Job{"a", "0 0 1 7 *"})
		b.pass(90 * time.Minute)
		b.set("p", Job{"a", "0 * * * *"})
		b.wantCalls()
		b.pass(30 * time.Minute)
		b.wantCalls("2h0m0s p job:a" + byTimer)
	})
}

func TestRun_whatRunsMayEndWhenTheHostStops(t *testing.T) {
	inBubble(t, Options{Drain: 5 * time.Second, AtOnce: 1}, func(b *bench) {
		b.runsTake(4 * time.Second)
		b.set("p", Job{"a", "1 * * * *"}, Job{"b", "1 * * * *"})
		b.pass(time.Minute)
		b.stop()
		require.Equal(t, "1m4s", b.clock())
		b.wantCalls("1m0s p job:a" + byTimer)
		b.wantRuns("p a 1m0s succeeded")

		b.start(Options{})
		b.runsTake(time.Hour)
		b.set("p", Job{"a", "1 * * * *"}, Job{"b", "1 * * * *"})
		b.pass(time.Second)
		b.wantCalls("1m4s p job:b" + byTimer) // it was missed
	})
}

func TestRun_isGivenUpWhenTheHostHasWaited(t *testing.T) {
	inBubble(t, Options{Drain: 5 * time.Second}, func(b *bench) {
		b.runsTake(time.Hour)
		b.set("p", Job{"a", "1 * * * *"})
		b.pass(time.Minute)
		b.stop()
		require.Equal(t, "1m5s", b.clock())
		b.wantRuns("p a 1m0s failed context canceled")
	})
}

func TestRun_isGivenUpAtOnceWhenToldSo(t *testing.T) {
	inBubble(t, Options{Drain: 5 * time.Second}, func(b *bench) {
		b.runsTake(time.Hour)
		b.set("p", Job{"a", "1 * * * *"})
		b.pass(time.Minute)
		b.GiveUp()
		b.stop()
		require.Equal(t, "1m0s", b.clock())
		b.wantRuns("p a 1m0s failed context canceled")
	})
}

func TestRun_hasALimit(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.runsTake(time.Hour)
		b.set("p", Job{"a", "1 * * * *"})
		b.pass(6 * time.Minute)
		b.wantRuns("p a 1m0s failed job a: a run may take 5m0s, and this one was given up: a run's limit passed")
		require.Equal(t, Stats{Jobs: 1, Runs: 1, Failed: 1}, b.Stats())
	})
}

func TestRun_failsAsThePluginSays(t *testing.T) {
	inBubble(t, Options{}, func(b *bench) {
		b.set("p", Job{"a", "* * * * *"})
		b.runsFail(errors.New("no luck"))
		b.pass(time.Minute)
		b.runsFail(errors.New(""))
		b.pass(time.Minute)
		b.wantRuns("p a 1m0s failed no luck", "p a 2m0s failed it did not say why")
	})
}

// A store that hangs keeps the scheduler from nothing but what it is to remember.
func TestRun_endsThoughTheStoreHangs(t *testing.T) {
	inBubble(t, Options{Drain: time.Second}, func(b *bench) {
		b.runsTake(time.Hour)
		b.set("p", Job{"a", "* * * * *"}, Job{"b", "* * * * *"}, Job{"c", "* * * * *"})
		b.pass(61 * time.Second)
		b.store.mu.Lock()
		b.store.stuck = true
		b.store.mu.Unlock()
		b.pass(time.Minute)
		began := time.Now()
		b.stop()
		require.Equal(t, time.Second, time.Since(began), "what runs is given up at the end of Drain")
		require.EqualValues(t, 3, b.Stats().Unrecorded)
	})
}
