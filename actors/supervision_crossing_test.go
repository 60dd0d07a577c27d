package actors

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// What crosses with a crash and with the restart after it.

func TestSupervision_aCommandDuringBackOffEndsIt(t *testing.T) {
	for name, test := range map[string]struct {
		do     func(ctx context.Context, h *Host) (SessionInfo, error)
		phase  lifecycle.State
		events []string // of its capability
	}{
		"start": {func(ctx context.Context, h *Host) (SessionInfo, error) {
			return h.Start(ctx, farManifest(), StartOptions{})
		}, lifecycle.Ready, []string{"far tool:a: degraded → ready"}},
		"load and init": {func(ctx context.Context, h *Host) (SessionInfo, error) {
			info, err := h.Load(ctx, farManifest(), StartOptions{})
			if err != nil {
				return info, err
			}
			return h.Init(ctx, info.ID, StartOptions{})
		}, lifecycle.Ready, []string{"far tool:a: degraded → ready"}},
		"reload": {func(ctx context.Context, h *Host) (SessionInfo, error) {
			return h.Reload(ctx, "plugin-session-0", StartOptions{})
		}, lifecycle.Ready, []string{
			"far tool:a: degraded → withdrawn plugin far is being stopped", "far tool:a:  → announced", "far tool:a: announced → ready",
		}},
		"stop": {func(ctx context.Context, h *Host) (SessionInfo, error) {
			return h.Stop(ctx, "plugin-session-0")
		}, lifecycle.Stopped, []string{"far tool:a: degraded → withdrawn plugin far is being stopped"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := startMortal(t, Options{}, nil, "tool:a")
				startReady(t, m.host, farManifest())
				m.crashes()
				events := listen(t, m.host, KindCapability, nil)
				waiting := m.begins(protocol.Call{Key: "tool:a", Wait: true})
				began := time.Now()
				info, err := test.do(t.Context(), m.host)
				require.NoError(t, err)
				require.Zero(t, time.Since(began))
				require.Equal(t, test.phase, info.Phase)
				require.Zero(t, info.Worker.InARow)
				require.Zero(t, info.Worker.NextRestart)
				require.Equal(t, test.events, events.all())
				born := m.born()
				time.Sleep(time.Hour)
				require.Equal(t, born, m.born(), "the restart that was planned is void")
				switch got := <-waiting; {
				case test.phase == lifecycle.Stopped:
					require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(got.err))
				case name != "reload": // a stop ends the wait, if it is seen before the start
					require.Equal(t, "2", got.result)
				}
			})
		})
	}
}

func TestSupervision_aCallThatWaitsHasItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{Restart: RestartPolicy{First: time.Minute, Jitter: -1}}, nil, "tool:a")
		startReady(t, m.host, farManifest())
		m.crashes()
		for _, plugin := range []string{"", "far"} {
			began := time.Now()
			_, err := m.host.Invoke(t.Context(), protocol.Call{
				Key: "tool:a", Plugin: plugin, Wait: true, Deadline: time.Now().Add(time.Second),
			})
			require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err))
			require.ErrorContains(t, err, "tool:a of plugin far is not ready: failed (EOF); the next try is in ")
			require.Equal(t, time.Second, time.Since(began))
		}
		_, err := m.host.Invoke(t.Context(), protocol.Call{Key: "tool:unknown", Plugin: "far"})
		wantCode(t, err, protocol.CodeNotReady, "tool:unknown of plugin far is not ready: failed (EOF); the next try is in 58s")
	})
}

// TestSupervision_aCallThatWaitsOutlastsTheMomentOfDeath has an owner that is dead
// already, and whose session does not know it yet.
func TestSupervision_aCallThatWaitsOutlastsTheMomentOfDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil, "tool:a")
		startReady(t, m.host, farManifest())
		busy := make(chan struct{})
		m.host.current("far").self.tell(registered{func() { <-busy }})
		m.dies()
		waiting := m.begins(protocol.Call{Key: "tool:a", Wait: true})
		late := m.begins(protocol.Call{Key: "tool:a", Wait: true, Deadline: time.Now().Add(time.Millisecond)})
		_, err := callKey(t, m.host, "tool:a")
		wantCode(t, err, protocol.CodeNotReady, "tool:a of plugin far was not called: it has ended")
		wantCode(t, (<-late).err, protocol.CodeTimeout,
			"tool:a of plugin far was not called: it has ended before the deadline (the call's own deadline)")
		close(busy)
		got := <-waiting
		require.NoError(t, got.err)
		require.Equal(t, "2", got.result)
	})
}

// TestSupervision_aStartEndsWithTheCrashBetweenItsHalves has a plugin that dies when
// it is loaded, before or after its session knows.
func TestSupervision_aStartEndsWithTheCrashBetweenItsHalves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil, "tool:a")
		p := spySupervisor(m.host, "far")
		for range 2 {
			who, loaded, err := m.host.begin(t.Context(), farManifest(), begin{start: &StartOptions{}})
			require.NoError(t, err)
			settle()
			busy := make(chan struct{})
			p.self.tell(func() { <-busy })
			m.dies()
			early := begun(func() (SessionInfo, error) { return m.host.finishStart(t.Context(), who, loaded, StartOptions{}) })
			close(busy)
			require.EqualError(t, (<-early).err, "EOF")
			again := make(chan error)
			close(again)
			_, err = m.host.finishStart(t.Context(), who, again, StartOptions{})
			require.EqualError(t, err, "EOF")
			_, err = m.host.Stop(t.Context(), who.Session)
			require.NoError(t, err)
		}
	})
}

// TestSupervision_whatIsLeftOfACrashIsGoneFirst has a worker that closed its pipe and
// lives on, until it is made to end.
func TestSupervision_whatIsLeftOfACrashIsGoneFirst(t *testing.T) {
	for name, test := range map[string]struct {
		// do happens while the restart waits for what is left.
		do    func(t *testing.T, m *mortal) <-chan outcomeOf
		phase lifecycle.State
		call  protocol.Code // of a call that waits meanwhile
	}{
		"nothing": {func(*testing.T, *mortal) <-chan outcomeOf {
			done := make(chan outcomeOf, 1)
			done <- outcomeOf{}
			return done
		}, lifecycle.Ready, ""},
		"start": {func(t *testing.T, m *mortal) <-chan outcomeOf {
			t.Helper()
			return beginStart(t, m.host, farManifest())
		}, lifecycle.Ready, ""},
		"stop": {func(t *testing.T, m *mortal) <-chan outcomeOf {
			t.Helper()
			return begun(func() (SessionInfo, error) { return m.host.Stop(t.Context(), "plugin-session-0") })
		}, lifecycle.Stopped, protocol.CodeNotReady},
		"shutdown": {func(t *testing.T, m *mortal) <-chan outcomeOf {
			t.Helper()
			return begun(func() (SessionInfo, error) { return SessionInfo{}, m.host.Shutdown(t.Context()) })
		}, lifecycle.Stopped, protocol.CodeNotReady},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := startMortal(t, Options{}, nil, "tool:a")
				m.stuck = make(chan struct{})
				startReady(t, m.host, farManifest())
				m.crashes()
				time.Sleep(2 * time.Second)
				require.Equal(t, lifecycle.WorkerStarting, m.worker().State)
				wantOffers(t, m.host, "tool:a degraded")
				call := m.begins(protocol.Call{Key: "tool:a"}) // it starts, so that calls wait
				done := test.do(t, m)
				require.Equal(t, 1, m.born())
				close(m.stuck)
				require.NoError(t, (<-done).err)
				settle()
				if test.phase == lifecycle.Ready {
					wantPhase(t, m.host, "far", lifecycle.Ready)
					require.Equal(t, 2, m.born())
				} else {
					require.Equal(t, 1, m.born())
					wantNoSession(t, m.host, "far")
					wantOffers(t, m.host)
				}
				require.Equal(t, test.call, protocol.CodeOf((<-call).err))
			})
		})
	}
}

func TestSupervision_aStopOfASessionThatHasJustBeenReplacedStopsItsHeir(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil, "tool:a")
		startReady(t, m.host, farManifest())
		old := m.host.current("far")
		m.crashes()
		time.Sleep(2 * time.Second)
		settle()
		m.host.mu.Lock()
		m.host.sessions[old.Session] = old // as if it was looked up before
		m.host.mu.Unlock()
		_, err := m.host.Stop(t.Context(), old.Session)
		require.NoError(t, err)
		m.host.forget(old)
		wantNoSession(t, m.host, "far")
		wantOffers(t, m.host)
		heir, err := ask(t.Context(), old.sup, func(reply chan<- made) any { return heirOf{"plugin-session-9", reply} })
		require.NoError(t, err)
		require.Equal(t, made{}, heir)
	})
}

func TestSupervision_aRestartComesTooLateForTheShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil, "tool:a")
		startReady(t, m.host, farManifest())
		m.crashes()
		m.host.isDown.Store(true) // as if Shutdown was about to tell the supervisor
		time.Sleep(2 * time.Second)
		settle()
		require.Equal(t, 1, m.born())
		require.Empty(t, m.host.Sessions())
		require.Empty(t, m.host.Offers())
		m.host.isDown.Store(false)
		require.Equal(t, lifecycle.WorkerRunning, startReady(t, m.host, farManifest()).Worker.State)
	})
}

func TestSupervision_disabledGivesUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{Restart: RestartPolicy{Disabled: true}}, nil, "tool:a")
		events := listen(t, m.host, KindCapability|KindRestart, nil)
		startReady(t, m.host, farManifest())
		m.crashes()
		require.Equal(t, []string{
			"far tool:a: ready → withdrawn plugin far failed: EOF", "far crashed 1 in a row, 1 in all, given up true: EOF",
		}, events.all()[2:])
		m.wantGivenUp(1)
	})
}

// Plugins that need each other can both crash, and neither comes back.
func TestSupervision_aCircleAfterCrashesIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a"), offering("b", "tool:b"), offering("c", "tool:c"))
		startReady(t, h, manifestFor("c"))
		startReady(t, h, manifestFor("a", requires("tool:b|tool:c")))
		startReady(t, h, manifestFor("b", requires("tool:a")))
		_, err := h.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		events := listen(t, h, KindWaiting, nil)
		for _, name := range []string{"a", "b"} {
			h.current(name).self.tell(lost{why: errors.New("gone")})
		}
		time.Sleep(3 * time.Second)
		require.ElementsMatch(t, []string{
			"a waits for [tool:b tool:c] a>b>a tool:b: plugin b is starting again after a crash",
			"b waits for [tool:a] b>a>b tool:a: plugin a is starting again after a crash",
		}, events.cycles())
	})
}

// TestSupervision_survivesEverythingAtOnce has a plugin that dies, is stopped, started
// and reloaded at random moments, and then a host that shuts down in the midst of it.
func TestSupervision_survivesEverythingAtOnce(t *testing.T) {
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			m := startMortal(t, Options{Restart: RestartPolicy{First: time.Millisecond, Max: 3 * time.Millisecond}}, nil, "tool:a")
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			var all sync.WaitGroup
			for worker := range uint64(4) {
				dice := rand.New(rand.NewPCG(seed, worker))
				all.Go(func() {
					for ctx.Err() == nil {
						m.disturb(ctx, dice)
						time.Sleep(time.Duration(dice.IntN(3000)) * time.Microsecond)
					}
				})
			}
			if seed%2 == 0 {
				all.Wait()
				for _, s := range m.host.Sessions() {
					_, err := m.host.Stop(t.Context(), s.ID)
					require.NoError(t, err)
				}
				require.Empty(t, m.host.Sessions())
				wantOffers(t, m.host)
				startReady(t, m.host, farManifest())
				wantOffers(t, m.host, "tool:a ready")
			} else {
				time.Sleep(150 * time.Millisecond)
			}
			require.NoError(t, m.host.Shutdown(t.Context()))
			born := m.born()
			all.Wait()
			time.Sleep(time.Hour)
			require.Equal(t, born, m.born())
			require.Empty(t, m.host.Sessions())
			require.Empty(t, m.host.Offers())
		})
	}
}

// disturb does one thing of many; whether it succeeds is nobody's concern.
func (m *mortal) disturb(ctx context.Context, dice *rand.Rand) {
	session := ""
	if list := m.host.Sessions(); len(list) > 0 {
		session = list[0].ID
	}
	switch dice.IntN(8) {
	case 0:
		_, _ = m.host.Stop(ctx, session)
	case 1:
		_, _ = m.host.Reload(ctx, session, StartOptions{})
	case 2, 3:
		_, _ = m.host.Start(ctx, farManifest(), StartOptions{})
	case 4:
		call, cancel := context.WithTimeout(ctx, time.Duration(dice.IntN(5000))*time.Microsecond)
		defer cancel()
		_, _ = m.host.Invoke(call, protocol.Call{Key: "tool:a", Wait: dice.IntN(2) == 0})
	default:
		m.dies()
	}
}
