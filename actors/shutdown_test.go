package actors

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// chronicle notes what happens, in order.
type chronicle struct {
	mu    sync.Mutex
	lines []string
}

func (c *chronicle) note(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, line)
}

func TestShutdown_stopsDependentsBeforeWhatTheyRequire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order chronicle
		notes := func(name string) plugin.Hook {
			return func(ctx context.Context, s *plugin.Session) error {
				defer order.note(name)
				return lasts(time.Second)(ctx, s)
			}
		}
		h := startHost(t,
			offering("a", "tool:a").OnStop(notes("a")), offering("b", "tool:b").OnStop(notes("b")), offering("c").OnStop(notes("c")))
		events := listen(t, h, KindPhase, nil)
		startReady(t, h, manifestFor("a"))
		startReady(t, h, manifestFor("b", requires("tool:a")))
		info, err := h.Start(t.Context(), manifestFor("c"), StartOptions{Requires: []string{"tool:b"}})
		require.NoError(t, err)
		require.Equal(t, lifecycle.Ready, info.Phase)
		require.NoError(t, h.Shutdown(t.Context()))
		require.Equal(t, []string{"c", "b", "a"}, order.lines)
		require.Empty(t, h.Sessions())
		for _, name := range []string{"a", "b", "c"} {
			phases := events.phases(name)
			require.Equal(t, "stopped", phases[len(phases)-1], "the last events still come")
			require.NotContains(t, phases, "degraded missing capabilities: tool:a", "a dependent never misses anything")
		}
	})
}

func TestShutdown_stopsACircleAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a"), offering("b", "tool:b"))
		beginStart(t, h, manifestFor("a", requires("tool:b")))
		beginStart(t, h, manifestFor("b", requires("tool:a")))
		began := time.Now()
		require.NoError(t, h.Shutdown(t.Context()))
		require.Zero(t, time.Since(began))
	})
}

func TestShutdown_aStopHookMayStillCallWhatItRequires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		called := false
		h := startHost(t, offering("a", "tool:a"), plugin.Define("b").OnStop(func(ctx context.Context, s *plugin.Session) error {
			called = true
			err = s.Call(ctx, "tool:a", nil, nil)
			return nil
		}))
		startReady(t, h, manifestFor("a"))
		startReady(t, h, manifestFor("b", requires("tool:a")))
		require.NoError(t, h.Shutdown(t.Context()))
		require.True(t, called)
		require.NoError(t, err)
	})
}

func TestShutdown_killsWhatIsLeftWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		h := startHost(t, plugin.Define("deaf").OnStop(deaf(release)), plugin.Define("slow").OnInit(deaf(release)))
		startReady(t, h, manifestFor("deaf"))
		beginStart(t, h, manifestFor("slow"))
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, h.Shutdown(ctx))
		require.Equal(t, time.Second, time.Since(began))
		require.Empty(t, h.Sessions())
	})
}

func TestShutdown_aSecondCallWaitsForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("slow").OnStop(lasts(3*time.Second)))
		startReady(t, h, manifestFor("slow"))
		began := time.Now()
		shutdown := func(ctx context.Context) <-chan outcomeOf {
			return begun(func() (SessionInfo, error) { return SessionInfo{}, h.Shutdown(ctx) })
		}
		first, second := shutdown(t.Context()), shutdown(t.Context())
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, (<-shutdown(hasty)).err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.NoError(t, (<-first).err)
		require.NoError(t, (<-second).err)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

func TestShutdown_refusesAllAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a"))
		startReady(t, h, manifestFor("a"))
		require.NoError(t, h.Shutdown(t.Context()))
		ctx := t.Context()
		for name, do := range map[string]func() error{
			"load":       func() error { _, err := h.Load(ctx, manifestFor("a"), StartOptions{}); return err },
			"start":      func() error { _, err := h.Start(ctx, manifestFor("b"), StartOptions{}); return err },
			"init":       func() error { _, err := h.Init(ctx, "plugin-session-0", StartOptions{}); return err },
			"reload":     func() error { _, err := h.Reload(ctx, "plugin-session-0", StartOptions{}); return err },
			"configure":  func() error { _, err := h.ApplyConfiguration(ctx, "plugin-session-0", protocol.Config{}); return err },
			"mark":       func() error { _, err := h.MarkConfigurationNeeded(ctx, "plugin-session-0", ""); return err },
			"invoke":     func() error { _, err := h.Invoke(ctx, protocol.Call{Key: "tool:a"}); return err },
			"event":      func() error { _, err := h.Invoke(ctx, protocol.Call{Key: "event:a"}); return err },
			"wait":       func() error { _, err := h.Wait(ctx, 0, "tool:a"); return err },
			"waitAll":    func() error { return h.WaitAll(ctx, 0, "tool:a") },
			"capability": func() error { _, err := h.SetCapability(ctx, "cap:x", lifecycle.CapReady, nil); return err },
			"service":    func() error { return h.SetService(ctx, protocol.ServiceOffer{Key: "x"}) },
		} {
			require.ErrorIs(t, do(), ErrShutdown, name)
		}
		_, err := h.Stop(ctx, "plugin-session-0")
		require.NoError(t, err, "what is gone is stopped")
		require.Empty(t, h.Sessions())
		require.Empty(t, h.Offers())
		require.NoError(t, h.Remove("a"))
	})
}

// TestShutdown_crossesWithStarts starts plugins while the host shuts down: each is
// refused, or stopped.
func TestShutdown_crossesWithStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 20 {
			fails := hook(func(context.Context) error { return errors.New("no luck") })
			h := startHost(t, offering("a", "tool:a"), offering("b", "tool:b").OnInit(fails))
			_, _ = h.Start(t.Context(), manifestFor("b"), StartOptions{})
			var all sync.WaitGroup
			for _, name := range []string{"a", "b"} {
				all.Go(func() {
					_, err := h.Start(t.Context(), manifestFor(name), StartOptions{})
					switch {
					case err == nil, errors.Is(err, ErrShutdown):
					case name == "b" && err.Error() == "no luck":
					default:
						require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(err), "%v", err)
					}
				})
			}
			require.NoError(t, h.Shutdown(t.Context()))
			all.Wait()
			require.Empty(t, h.Sessions())
			require.Empty(t, h.Offers())
		}
	})
}

func TestHost_removeForgetsAPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a").OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Log().Info("hello")
			return nil
		}))
		info := startReady(t, h, manifestFor("a"))
		wantCode(t, h.Remove("a"), protocol.CodeInvalid, "plugin a still has plugin-session-0: stop it first")
		_, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		require.Len(t, h.Logs("a", 0), 1, "the log outlives the session")
		require.NoError(t, h.Remove("a"))
		require.Empty(t, h.Logs("a", 0))
		_, err = callKey(t, h, "tool:a")
		wantCode(t, err, protocol.CodeNotFound, "nobody offers tool:a")
		require.NoError(t, h.Remove("a"))
		require.NoError(t, h.Remove("never was"))
		require.Equal(t, "plugin-session-1", startReady(t, h, manifestFor("a")).ID)
	})
}

// TestHost_removeCrossesWithAStart: whichever comes first, nothing is lost.
func TestHost_removeCrossesWithAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		for range 50 {
			info := startReady(t, h, manifestFor("a"))
			_, err := h.Stop(t.Context(), info.ID)
			require.NoError(t, err)
			removed := make(chan error, 1)
			go func() { removed <- h.Remove("a") }()
			info = startReady(t, h, manifestFor("a"))
			if err := <-removed; err != nil {
				wantCode(t, err, protocol.CodeInvalid, "plugin a still has "+info.ID+": stop it first")
			}
			_, err = h.Stop(t.Context(), info.ID)
			require.NoError(t, err)
			require.Empty(t, h.Sessions())
		}
	})
}

func TestShutdown_endsTheWaitsOfItsEmbedder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		waits := make(chan error, 2)
		go func() {
			_, err := h.Wait(t.Context(), time.Minute, "tool:never")
			waits <- err
		}()
		go func() { waits <- h.WaitAll(t.Context(), time.Minute, "tool:never") }()
		synctest.Wait()
		require.NoError(t, h.Shutdown(t.Context()))
		for range 2 {
			require.ErrorIs(t, <-waits, ErrShutdown)
		}
	})
}

// What compiled-in code owes its session at once holds the session up if it does not
// come; the host ends all the same, and names it.
func TestShutdown_givesUpASessionThatIsHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h, err := New(Options{Programs: map[string]protocol.Program{
			"a": opener(func(protocol.Home) protocol.Port { <-release; return nil }),
			"b": offering("b"),
		}})
		require.NoError(t, err)
		done := beginStart(t, h, manifestFor("a"))
		startReady(t, h, manifestFor("b"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.EqualError(t, h.Shutdown(ctx), "plugin a does not end: its own code holds up its session in loading")
		require.Equal(t, time.Second+killPatience, time.Since(began))
		close(release)
		require.Error(t, (<-done).err)
		time.Sleep(deadLettersLive)
	})
}
