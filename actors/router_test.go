package actors

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
)

func TestSubscription_getsTheKindsItWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a").OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Log().Info("hello")
			return nil
		}))
		logs, phases := listen(t, h, KindLog, nil), listen(t, h, KindPhase, nil)
		both := listen(t, h, KindLog|KindPhase, nil)
		startReady(t, h, manifestFor("a"))
		require.Equal(t, []string{"a logs INFO hello"}, logs.all())
		require.Len(t, phases.all(), 8)
		require.Len(t, both.all(), 9)
	})
}

func TestSubscription_beginsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		before := listen(t, h, KindPhase, nil)
		startReady(t, h, manifestFor("a"))
		after := listen(t, h, KindPhase, nil)
		_, err := h.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		require.Len(t, before.all(), 9)
		require.Equal(t, []string{"a: ready → stopped"}, after.all())
	})
}

func TestSubscription_aSlowReaderLosesEventsAndHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		slow := h.Subscribe(KindPhase, 3)
		startReady(t, h, manifestFor("a"))
		settle()
		require.EqualValues(t, 5, slow.Dropped())
		require.Equal(t, lifecycle.Loaded, (<-slow.C).(PhaseChanged).To, "the oldest are kept")
		slow.Close()
		<-slow.C
		<-slow.C
		_, open := <-slow.C
		require.False(t, open)
	})
}

func TestSubscription_hasADefaultQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sub := startHost(t).Subscribe(KindPhase, -1)
		require.Equal(t, DefaultEventQueue, cap(sub.queue))
		sub.Close()
	})
}

func TestSubscription_closeTwiceAndAfterTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		first, second := h.Subscribe(KindPhase, 0), h.Subscribe(KindPhase, 0)
		first.Close()
		first.Close()
		require.NoError(t, h.Shutdown(t.Context()))
		second.Close()
		late := h.Subscribe(KindPhase, 0)
		late.Close()
		for _, sub := range []*Subscription{first, second, late} {
			_, open := <-sub.C
			require.False(t, open)
		}
	})
}

// TestSubscription_crossesWithTheHostsEnd lets many subscribe while the host shuts
// down: each channel is closed, once.
func TestSubscription_crossesWithTheHostsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 20 {
			h := startHost(t)
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					for range h.Subscribe(KindPhase, 1).C {
					}
				})
			}
			require.NoError(t, h.Shutdown(t.Context()))
			all.Wait()
		}
	})
}

func TestRouter_nobodySubscribedCostsNoMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a"))
		require.False(t, h.wants(KindsUsual|KindChannel|KindWire))
		router := h.router
		h.router = &ref{} // whose use would panic
		startReady(t, h, manifestFor("a"))
		settle()
		wantPhase(t, h, "a", lifecycle.Ready)
		h.router = router
		sub := h.Subscribe(KindChannel, 0)
		require.True(t, h.wants(KindChannel))
		require.False(t, h.wants(KindWire))
		sub.Close()
		require.False(t, h.wants(KindChannel))
	})
}

func TestRouter_theLogHearsItsKindsWithoutASubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for kinds, want := range map[Kind]bool{0: true, KindPhase: true, KindLog: false} {
			var log notebook
			h := startHostWith(t, Options{Log: log.logger(), LogEvents: kinds}, plugin.Define("a"))
			startReady(t, h, manifestFor("a"))
			require.Equal(t, want, h.wants(KindPhase))
			if want {
				require.Contains(t, log.String(), "level=INFO msg=phase plugin=a session=plugin-session-0 from=configured to=ready reason=\"\"\n")
			} else {
				require.NotContains(t, log.String(), "phase")
			}
		}
		silent := startHostWith(t, Options{LogEvents: KindPhase}, plugin.Define("a"))
		require.False(t, silent.wants(KindPhase), "there is no log")
	})
}
