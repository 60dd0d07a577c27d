package actors

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
)

// spySupervisor gives a plugin's name a supervisor that can be looked into.
func spySupervisor(h *Host, name string) *supervisor {
	p := newSupervisor(h, name, name, nil)
	p.self = h.sys.spawn(func(self *ref) behavior { p.self = self; return spied{p} })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.supervisors[name] = p.self
	return p
}

func TestSupervisor_knowsItsWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := errors.New("no luck")
		h := startHost(t, plugin.Define("a").OnInit(func(ctx context.Context, s *plugin.Session) error {
			return errors.Join(lasts(time.Second)(ctx, s), fails)
		}))
		p := spySupervisor(h, "a")
		want := func(worker lifecycle.State, crashes int) {
			t.Helper()
			var got lifecycle.State
			peek(p.self, func() { got = p.worker })
			require.Equal(t, worker, got)
			info := p.crashes.snapshot(time.Now())
			require.Equal(t, worker, info.State)
			require.Equal(t, crashes, info.Crashes)
		}
		want(lifecycle.WorkerStopped, 0)
		started := beginStart(t, h, manifestFor("a"))
		want(lifecycle.WorkerStarting, 0)
		require.EqualError(t, (<-started).err, "no luck")
		want(lifecycle.WorkerStopped, 0)

		fails = nil
		startReady(t, h, manifestFor("a"))
		want(lifecycle.WorkerRunning, 0)
		h.current("a").self.tell(lost{why: errors.New("gone")})
		want(lifecycle.WorkerBackoff, 1)

		info := startReady(t, h, manifestFor("a"))
		want(lifecycle.WorkerRunning, 1)
		_, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		want(lifecycle.WorkerStopped, 1)
		var current *handle
		peek(p.self, func() { current = p.current })
		require.Nil(t, current)
	})
}

func TestSupervisor_aStartThatWaitsForAFailedSessionIsTheOnlyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		h := startHost(t, plugin.Define("a").OnInit(hook(func(context.Context) error {
			if fails {
				return errors.New("no luck")
			}
			return nil
		})))
		_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
		require.EqualError(t, err, "no luck")
		fails = false
		first := make(chan outcomeOf, 2)
		for range 2 {
			go func() {
				info, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
				first <- outcomeOf{info: info, err: err}
			}()
		}
		one, two := <-first, <-first
		if one.err != nil {
			one, two = two, one
		}
		require.NoError(t, one.err)
		require.ErrorContains(t, two.err, "plugin a is already loaded as plugin-session-")
		require.Len(t, h.Sessions(), 1)
	})
}

func TestSupervisor_startsAgainTheMomentThatStoppedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		again := make(chan error, 1)
		listen(t, h, KindPhase, func(e Event) {
			if e := e.(PhaseChanged); e.To == lifecycle.Stopped && e.Session != "plugin-session-9" {
				_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
				again <- err
			}
		})
		startReady(t, h, manifestFor("a"))
		for range 9 {
			_, err := h.Stop(t.Context(), h.Sessions()[0].ID)
			require.NoError(t, err)
			require.NoError(t, <-again)
		}
	})
}

func TestSupervisor_factsOfAnotherSessionAreLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		p := spySupervisor(h, "a")
		startReady(t, h, manifestFor("a"))
		other := &handle{}
		for _, fact := range []any{
			sessionEnded{h: other},
			sessionStopping{other},
			sessionReady{h: other},
			sessionFailed{h: other, err: errors.New("x")},
			sessionFailed{h: other, err: errors.New("x"), crashed: true},
		} {
			p.self.tell(fact)
		}
		var worker lifecycle.State
		peek(p.self, func() { worker = p.worker })
		require.Equal(t, lifecycle.WorkerRunning, worker)
		wantPhase(t, h, "a", lifecycle.Ready)
	})
}

func TestSupervisor_startsNothingOnceTheHostShutsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		p := spySupervisor(h, "a")
		h.isDown.Store(true) // as if Shutdown came between the question and here
		got, err := ask(t.Context(), p.self, func(reply chan<- made) any {
			return begin{man: manifestFor("a"), made: reply, loaded: make(chan error, 1)}
		})
		require.NoError(t, err)
		require.ErrorIs(t, got.err, ErrShutdown)
		require.Empty(t, h.Sessions())
		h.isDown.Store(false)
		startReady(t, h, manifestFor("a"))
	})
}

func TestSupervisor_aStopThatComesBeforeTheLoadIsAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil)
		h := m.host.newHandle(farManifest(), nil)
		p := spySupervisor(m.host, "far")
		h.sup, h.crashes = p.self, p.crashes
		h.self = m.host.sys.spawn(func(self *ref) behavior {
			return &session{host: m.host, h: h, sup: p.self, self: self, man: h.man, dialect: plain{}, phase: lifecycle.Loading}
		})
		stopped, loaded := make(chan error, 1), make(chan error, 1)
		h.self.tell(stop{stopped})
		h.self.tell(load{runtime: manifest.Node, reply: loaded})
		require.NoError(t, <-stopped)
		<-h.self.gone
		settle()
		require.Zero(t, m.born())
	})
}

// TestSupervisor_aStartThatOvertakesTheFailureHidesNoCrash has a start by hand that
// comes when the session has failed, and the supervisor has not heard that yet.
func TestSupervisor_aStartThatOvertakesTheFailureHidesNoCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{}, nil, "tool:a")
		p := spySupervisor(m.host, "far")
		startReady(t, m.host, farManifest())
		told := pauses(t, m.host)
		registry, supervisor := make(chan struct{}), make(chan struct{})
		m.host.registry.tell(tracked{dropOffers{}, func() { <-registry }})
		m.dies()
		settle()
		p.self.tell(func() { <-supervisor })
		started := beginStart(t, m.host, farManifest())
		close(registry)
		settle()
		wantPhase(t, m.host, "far", lifecycle.Failed)
		close(supervisor)
		require.NoError(t, (<-started).err)
		require.Len(t, told(), 1)
		require.Equal(t, 1, m.worker().Crashes)
	})
}
