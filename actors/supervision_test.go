package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// pauses are what the supervisor told: how long each crash kept the plugin down; 0
// where it was given up.
func pauses(t *testing.T, h *Host) func() []time.Duration {
	t.Helper()
	var mu sync.Mutex
	var list []time.Duration
	listen(t, h, KindRestart, func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if r := e.(Restart); r.GivenUp {
			list = append(list, 0)
		} else {
			list = append(list, r.Next.Sub(r.At))
		}
	})
	return func() []time.Duration {
		settle()
		mu.Lock()
		defer mu.Unlock()
		return append([]time.Duration(nil), list...)
	}
}

func TestSupervision_countsCrashesInARow(t *testing.T) {
	series := []time.Duration{}
	for _, s := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 0} {
		series = append(series, s*time.Second)
	}
	smallest := make([]time.Duration, 20)
	for i := range smallest {
		smallest[i] = time.Second
	}
	for name, test := range map[string]struct {
		lives time.Duration
		want  []time.Duration
	}{
		"dies soon, always":                         {200 * time.Millisecond, series},
		"dies just before it is forgiven, always":   {59 * time.Second, series},
		"dies just after it is forgiven, always":    {61 * time.Second, smallest},
		"dies once an hour":                         {time.Hour, smallest},
		"dies the moment it is connected, always":   {time.Nanosecond, series},
		"dies in the moment it is forgiven, always": {time.Minute, smallest},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := startMortal(t, Options{Restart: steady}, nil, "tool:a")
				told := pauses(t, m.host)
				m.lives = test.lives
				_, _ = m.host.Start(t.Context(), farManifest(), StartOptions{})
				time.Sleep(20*(test.lives+time.Second) - 1 + 20*time.Minute)
				got := told()
				require.Equal(t, test.want, got[:len(test.want)])
				if test.want[len(test.want)-1] == 0 {
					require.Len(t, got, 11)
					m.wantGivenUp(11)
				}
			})
		})
	}
}

// wantGivenUp checks that it will not be started by itself.
func (m *mortal) wantGivenUp(crashes int) {
	m.t.Helper()
	got := m.worker()
	require.True(m.t, got.GivenUp)
	require.Equal(m.t, lifecycle.WorkerStopped, got.State)
	require.Equal(m.t, crashes, got.InARow)
	require.Zero(m.t, got.NextRestart)
	require.Equal(m.t, "EOF", wantPhase(m.t, m.host, "far", lifecycle.Failed).Reason)
	wantOffers(m.t, m.host, "tool:a withdrawn")
	born := m.born()
	time.Sleep(24 * time.Hour)
	require.Equal(m.t, born, m.born())
	_, err := callKey(m.t, m.host, "tool:a")
	wantCode(m.t, err, protocol.CodeNotReady, "tool:a of plugin far is not ready: failed (EOF)")
}

func TestSupervision_givenUpUntilItIsStartedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{Restart: RestartPolicy{Jitter: -1, MaxInARow: 2}}, nil, "tool:a")
		told := pauses(t, m.host)
		startReady(t, m.host, farManifest())
		for range 3 {
			m.crashes()
			time.Sleep(3 * time.Second)
			settle()
		}
		m.wantGivenUp(3)
		began := time.Now()
		info := startReady(t, m.host, farManifest())
		require.Zero(t, time.Since(began))
		require.Equal(t, WorkerInfo{
			State: lifecycle.WorkerRunning, Crashes: 3, LastCrash: "EOF", LastCrashAt: info.Worker.LastCrashAt,
		}, info.Worker)
		m.crashes()
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 0, time.Second}, told())
	})
}

func TestSupervision_startsAndStopsByHandAreNoCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil, "tool:a")
		told := pauses(t, m.host)
		began := time.Now()
		for range 10 {
			info := startReady(t, m.host, farManifest())
			require.Zero(t, info.Worker.Crashes)
			_, err := m.host.Stop(t.Context(), info.ID)
			require.NoError(t, err)
		}
		require.Zero(t, time.Since(began))
		require.Empty(t, told())
	})
}

func TestSupervision_whatEndsDuringShutdownIsNoCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, []*plugin.Definition{plugin.Define("slow").OnStop(lasts(time.Minute))}, "tool:a")
		told := pauses(t, m.host)
		startReady(t, m.host, farManifest())
		startReady(t, m.host, manifestFor("slow", requires("tool:a")))
		over := begun(func() (SessionInfo, error) { return SessionInfo{}, m.host.Shutdown(t.Context()) })
		m.crashes()
		require.Zero(t, m.worker().Crashes)
		require.Equal(t, lifecycle.WorkerStopped, m.worker().State)
		require.Equal(t, "EOF", wantPhase(t, m.host, "far", lifecycle.Failed).Reason)
		require.NoError(t, (<-over).err)
		require.Empty(t, told())
		require.Equal(t, 1, m.born())
		require.Empty(t, m.host.Offers())
	})
}

func TestSupervision_shutdownCancelsARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, []*plugin.Definition{plugin.Define("slow").OnStop(lasts(time.Minute))}, "tool:a")
		startReady(t, m.host, farManifest())
		startReady(t, m.host, manifestFor("slow"))
		m.crashes()
		require.Equal(t, lifecycle.WorkerBackoff, m.worker().State)
		over := begun(func() (SessionInfo, error) { return SessionInfo{}, m.host.Shutdown(t.Context()) })
		require.Nil(t, m.host.current("far"), "it is stopped at once, though another one takes its time")
		require.NoError(t, (<-over).err)
		require.Equal(t, 1, m.born())
		require.Empty(t, m.host.Offers())
		require.Empty(t, m.host.Sessions())
	})
}

func TestSupervision_afterARestartEverythingIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{Restart: steady}, []*plugin.Definition{offering("needy", "tool:n")}, "tool:a", "tool:b", "model:C")
		m.mute = true
		startReady(t, m.host, farManifest())
		startReady(t, m.host, manifestFor("needy", requires("tool:a")))
		events := listen(t, m.host, KindPhase|KindCapability|KindRestart, nil)
		m.next(func() { m.mute = false })
		inFlight := m.begins(protocol.Call{Key: "tool:a"})
		m.crashes()
		require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf((<-inFlight).err))
		const crashed = "plugin far crashed: EOF; the next try is at 2000-01-01T00:00:01.000Z"
		require.Equal(t, []string{
			"far tool:a: ready → degraded " + crashed, "far tool:b: ready → degraded " + crashed, "far model:C: ready → degraded " + crashed,
			"far: ready → failed EOF", "far crashed 1 in a row, 1 in all, given up false: EOF",
		}, events.of("far"))
		require.Equal(t, []string{"degraded missing capabilities: tool:a"}, events.phases("needy"))

		time.Sleep(400 * time.Millisecond)
		began := time.Now()
		_, err := callKey(t, m.host, "tool:a")
		wantCode(t, err, protocol.CodeNotReady, "tool:a of plugin far is not ready: failed (EOF); the next try is in 600ms")
		require.Zero(t, time.Since(began))
		require.Equal(t, WorkerInfo{
			State: lifecycle.WorkerBackoff, Crashes: 1, InARow: 1, LastCrash: "EOF",
			LastCrashAt: began.Add(-400 * time.Millisecond), NextRestart: began.Add(600 * time.Millisecond),
		}, m.worker())
		waiting := m.begins(protocol.Call{Key: "tool:a", Wait: true})

		time.Sleep(600 * time.Millisecond)
		wantOffers(t, m.host, "tool:a ready", "tool:b ready", "model:C ready", "tool:n ready")
		require.Equal(t, "2", (<-waiting).result)
		require.Equal(t, []string{
			"far: failed → stopped", "far: loading → loaded", "far: loaded → authenticating", "far: authenticating → authenticated",
			"far: authenticated → announced", "far: announced → preparing", "far: preparing → prepared", "far: prepared → configured",
			"far tool:a: degraded → ready", "far tool:b: degraded → ready", "far model:C: degraded → ready", "far: configured → ready",
		}, events.of("far")[5:])
		require.Equal(t, []string{"degraded missing capabilities: tool:a", "ready"}, events.phases("needy"))
		m.wantReplaced("plugin-session-0", "plugin-session-2")
		for range 5 {
			wantCall(t, m.host, "tool:b", "2")
		}
	})
}

// wantReplaced checks that it has a new session, and that nothing refers to the old
// one.
func (m *mortal) wantReplaced(old, heir string) {
	m.t.Helper()
	require.Equal(m.t, heir, wantPhase(m.t, m.host, "far", lifecycle.Ready).ID)
	for _, s := range m.host.Sessions() {
		require.NotEqual(m.t, old, s.ID)
	}
	for _, o := range m.host.Offers() {
		require.NotEqual(m.t, old, o.Target.(*handle).Session)
	}
	_, err := m.host.Inspect(old)
	require.Equal(m.t, protocol.CodeNotFound, protocol.CodeOf(err))
}

func TestSupervision_whatIsNotOfferedAgainIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil, "tool:a", "tool:b")
		startReady(t, m.host, farManifest())
		events := listen(t, m.host, KindCapability, nil)
		m.next(func() { m.keys = []string{"tool:b", "tool:c"} })
		m.crashes()
		time.Sleep(2 * time.Second)
		wantOffers(t, m.host, "tool:b ready", "tool:c ready")
		require.Equal(t, []string{
			"far tool:c:  → announced", "far tool:a: degraded → withdrawn it was not offered again after a crash",
			"far tool:b: degraded → ready", "far tool:c: announced → ready",
		}, events.all()[2:])
		_, err := callKey(t, m.host, "tool:a")
		wantCode(t, err, protocol.CodeNotFound, "nobody offers tool:a")
		_, err = m.host.Stop(t.Context(), "plugin-session-1")
		require.NoError(t, err)
		wantOffers(t, m.host)
	})
}

func TestSupervision_aCrashWhileStartingIsOneToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{Restart: steady}, nil, "tool:a")
		m.lives = time.Second
		started := beginStart(t, m.host, farManifest(requires("cap:x")))
		require.EqualError(t, (<-started).err, "EOF")
		wantOffers(t, m.host, "tool:a degraded")
		m.next(func() { m.lives = 0 })
		time.Sleep(time.Second)
		settle()
		wantPhase(t, m.host, "far", lifecycle.WaitingDeps)
		require.Equal(t, []string{"cap:x"}, wantPhase(t, m.host, "far", lifecycle.WaitingDeps).Requires)
		_, err := m.host.Invoke(t.Context(), protocol.Call{Key: "tool:a", Deadline: time.Now().Add(time.Second)})
		wantCode(t, err, protocol.CodeTimeout, "tool:a of plugin far is not ready: waiting-deps "+
			"(Waiting for capabilities: cap:x) before the deadline (the call's own deadline)")
		set(t, m.host, "cap:x", lifecycle.CapReady)
		settle()
		wantPhase(t, m.host, "far", lifecycle.Ready)
		wantOffers(t, m.host, "tool:a ready", "cap:x ready")
	})
}

func TestSupervision_aStartThatIsAnsweredWithAnErrorIsNoCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a").OnInit(hook(func(context.Context) error { return errors.New("no luck") })))
		told := pauses(t, h)
		_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
		require.EqualError(t, err, "no luck")
		time.Sleep(time.Hour)
		require.Empty(t, told())
		require.Equal(t, WorkerInfo{State: lifecycle.WorkerStopped}, wantPhase(t, h, "a", lifecycle.Failed).Worker)
	})
}

// TestSupervision_aRestartThatFailsIsNotRepeated lets a plugin crash, and its
// requirement be gone when it is back.
func TestSupervision_aRestartThatFailsIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil, "tool:a")
		set(t, m.host, "cap:x", lifecycle.CapReady)
		startReady(t, m.host, farManifest(requires("cap:x")))
		set(t, m.host, "cap:x", lifecycle.CapWithdrawn)
		m.next(func() { m.keys = nil })
		m.crashes()
		time.Sleep(time.Hour)
		require.Equal(t, "Capability `cap:x` is not ready after 15000ms.", wantPhase(t, m.host, "far", lifecycle.Failed).Reason)
		require.Equal(t, 2, m.born())
		require.Equal(t, lifecycle.WorkerStopped, m.worker().State)
		wantOffers(t, m.host, "cap:x withdrawn", "tool:a withdrawn")
		_, err := m.host.Stop(t.Context(), "plugin-session-1")
		require.NoError(t, err)
		wantOffers(t, m.host, "cap:x withdrawn")
	})
}

// attentive is the dialect plain, and remembers the configurations.
type attentive struct {
	plain
	heard *chronicle
}

func (a attentive) Narrate(m protocol.Moment) []protocol.Event {
	if m.What == protocol.MomentConfigured {
		a.heard.note(fmt.Sprintf("%s %d %s", m.Config.ID, m.Config.Revision, m.Config.Full))
	}
	return nil
}

func TestSupervision_aRestartIsAsTheStartWas(t *testing.T) {
	config := &protocol.Config{ID: "mine", Revision: 7, SchemaVersion: 1, Full: []byte(`{"a":1}`)}
	for name, test := range map[string]struct {
		opts   StartOptions
		before func(t *testing.T, m *mortal)
		phase  lifecycle.State
		config []string
	}{
		"with its configuration": {
			StartOptions{RequireConfiguration: true, Config: config}, nil, lifecycle.Ready, []string{`mine 7 {"a":1}`, `mine 7 {"a":1}`},
		},
		"with the configuration that was applied": {StartOptions{RequireConfiguration: true}, func(t *testing.T, m *mortal) {
			t.Helper()
			_, err := m.host.ApplyConfiguration(t.Context(), "plugin-session-0", *config)
			require.NoError(t, err)
		}, lifecycle.Ready, []string{`mine 7 {"a":1}`, `mine 7 {"a":1}`}},
		"with the default": {StartOptions{}, nil, lifecycle.Ready, []string{"far-0:default 1 {}", "far-1:default 1 {}"}},
		"without one":      {StartOptions{RequireConfiguration: true}, nil, lifecycle.ConfigurationNeeded, nil},
		"without one that was taken away": {StartOptions{Config: config}, func(t *testing.T, m *mortal) {
			t.Helper()
			_, err := m.host.MarkConfigurationNeeded(t.Context(), "plugin-session-0", "it is wrong")
			require.NoError(t, err)
		}, lifecycle.ConfigurationNeeded, []string{`mine 7 {"a":1}`}},
		"with what it requires": {StartOptions{Requires: []string{"cap:x"}}, func(t *testing.T, m *mortal) {
			t.Helper()
			set(t, m.host, "cap:x", lifecycle.CapDegraded)
		}, lifecycle.WaitingDeps, []string{"far-0:default 1 {}"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var heard chronicle
				m := startMortal(t, Options{Dialects: []protocol.Dialect{attentive{plain{silent: true}, &heard}}}, nil, "tool:a")
				set(t, m.host, "cap:x", lifecycle.CapReady)
				_, err := m.host.Start(t.Context(), farManifest(), test.opts)
				require.NoError(t, err)
				if test.before != nil {
					test.before(t, m)
				}
				m.crashes()
				time.Sleep(2 * time.Second)
				settle()
				require.Equal(t, "plugin-session-1", wantPhase(t, m.host, "far", test.phase).ID)
				require.Equal(t, test.config, heard.lines)
			})
		})
	}
}

func TestSupervision_whatWasOnlyLoadedIsOnlyLoadedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil, "tool:a")
		_, err := m.host.Load(t.Context(), farManifest(), StartOptions{})
		require.NoError(t, err)
		m.crashes()
		time.Sleep(2 * time.Second)
		settle()
		wantPhase(t, m.host, "far", lifecycle.Loaded)
		info, err := m.host.Init(t.Context(), "plugin-session-1", StartOptions{})
		require.NoError(t, err)
		require.Equal(t, lifecycle.Ready, info.Phase)
		m.crashes()
		time.Sleep(3 * time.Second)
		settle()
		wantPhase(t, m.host, "far", lifecycle.Ready)
	})
}
