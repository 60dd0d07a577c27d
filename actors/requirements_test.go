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

// set puts one of the host's own capabilities into a state.
func set(t *testing.T, h *Host, key string, to lifecycle.State) {
	t.Helper()
	d, err := h.SetCapability(t.Context(), key, to, nil)
	require.NoError(t, err)
	require.Equal(t, to, d.State)
}

func TestSession_whatItRequiresMayBeThereAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		set(t, h, "cap:x", lifecycle.CapReady)
		events := listen(t, h, KindPhase|KindWaiting, nil)
		startReady(t, h, manifestFor("a", requires("cap:x")))
		require.Equal(t, []string{
			"loaded", "authenticating", "authenticated", "announced", "preparing",
			"waiting-deps Waiting for capabilities: cap:x", "prepared", "configured", "ready",
		}, events.phases("a"))
		require.Len(t, events.all(), 9, "it never waited")
	})
}

func TestSession_whatItRequiresMayComeLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"), offering("b", "tool:b"))
		events := listen(t, h, KindWaiting, nil)
		started := beginStart(t, h, manifestFor("a", requires("cap:x", "tool:b")))
		require.Equal(t, []string{"cap:x", "tool:b"}, wantPhase(t, h, "a", lifecycle.WaitingDeps).Waits)
		set(t, h, "cap:x", lifecycle.CapAnnounced)
		set(t, h, "cap:x", lifecycle.CapReady)
		settle()
		require.Equal(t, []string{"tool:b"}, wantPhase(t, h, "a", lifecycle.WaitingDeps).Waits)
		startReady(t, h, manifestFor("b"))
		require.NoError(t, (<-started).err)
		require.Empty(t, wantPhase(t, h, "a", lifecycle.Ready).Waits)
		require.Equal(t, []string{"a waits for [cap:x tool:b]", "a waits for [tool:b]"}, events.all())
	})
}

func TestSession_anyOfSeveralWillDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		started := beginStart(t, h, manifestFor("a", requires("cap:x|cap:y")))
		set(t, h, "cap:y", lifecycle.CapReady)
		require.NoError(t, (<-started).err)
	})
}

func TestSession_aWaitHasALimit(t *testing.T) {
	ms := time.Millisecond
	for name, test := range map[string]struct {
		opts Options
		own  time.Duration
		wait time.Duration
		text string
	}{
		"given":          {Options{}, 0, 25 * ms, "Capability `cap:x` is not ready after 25ms."},
		"the host's":     {Options{Timeouts: Timeouts{Capabilities: 40 * ms}}, 0, 0, "Capability `cap:x` is not ready after 40ms."},
		"the manifest's": {Options{Timeouts: Timeouts{Capabilities: 40 * ms}}, 30 * ms, 0, "Capability `cap:x` is not ready after 30ms."},
		"none":           {Options{}, 0, 0, "Capability `cap:x` is not ready after 15000ms."},
		"below zero":     {Options{Timeouts: Timeouts{Capabilities: -1}}, -1, -1, "Capability `cap:x` is not ready after 15000ms."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHostWith(t, test.opts, offering("a", "tool:a"))
				m := manifestFor("a", requires("cap:x"), bounded(func(own *manifest.Timeouts) { own.Capabilities = test.own }))
				info, err := h.Start(t.Context(), m, StartOptions{Wait: test.wait})
				require.EqualError(t, err, test.text)
				require.Equal(t, test.text, info.Reason)
				wantOffers(t, h, "tool:a withdrawn")
			})
		})
	}
}

func TestSession_quotesWhyADependencyFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := func() *plugin.Definition {
			return offering("bad", "tool:bad").OnInit(func(ctx context.Context, s *plugin.Session) error {
				return errors.Join(lasts(time.Second)(ctx, s), errors.New("no luck"))
			})
		}
		const why = "tool:bad: plugin bad failed: no luck"
		h := startHost(t, bad(), plugin.Define("early"), plugin.Define("late"))
		events := listen(t, h, KindWaiting, nil)
		early := beginStart(t, h, manifestFor("early", requires("tool:bad")))
		_, err := h.Start(t.Context(), manifestFor("bad"), StartOptions{})
		require.EqualError(t, err, "no luck")
		late := beginStart(t, h, manifestFor("late", requires("tool:bad")))
		require.Equal(t, []string{"early waits for [tool:bad]", "early waits for [tool:bad]  " + why}, events.of("early"))
		require.Equal(t, []string{"late waits for [tool:bad]  " + why}, events.of("late"))
		for _, started := range []<-chan outcomeOf{early, late} {
			require.EqualError(t, (<-started).err, "Capability `tool:bad` is not ready after 15000ms. "+why)
		}
	})
}

func TestSession_isDegradedWhileARequirementIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a"), offering("b", "tool:b"))
		set(t, h, "cap:x", lifecycle.CapReady)
		startReady(t, h, manifestFor("b"))
		startReady(t, h, manifestFor("a", requires("cap:x", "tool:b")))
		events := listen(t, h, KindPhase, nil)

		set(t, h, "cap:x", lifecycle.CapDegraded)
		settle()
		require.Equal(t, []string{"cap:x"}, wantPhase(t, h, "a", lifecycle.Degraded).Waits)
		wantCall(t, h, "tool:a", `"a"`)
		set(t, h, "cap:x", lifecycle.CapReady)
		_, err := h.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		startReady(t, h, manifestFor("b"))
		require.Equal(t, []string{
			"degraded missing capabilities: cap:x", "ready",
			"degraded missing capabilities: tool:b", "ready",
		}, events.phases("a"))
	})
}

func TestSession_aRequirementThatVanishesDuringInitDegradesItAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a").OnInit(lasts(time.Second)))
		set(t, h, "cap:x", lifecycle.CapReady)
		events := listen(t, h, KindPhase, nil)
		started := beginStart(t, h, manifestFor("a", requires("cap:x")))
		wantPhase(t, h, "a", lifecycle.Prepared)
		set(t, h, "cap:x", lifecycle.CapWithdrawn)
		require.NoError(t, (<-started).err)
		require.Equal(t, []string{"prepared", "configured", "ready", "degraded missing capabilities: cap:x"}, events.phases("a")[6:])
	})
}

func TestSession_refusesARequirementThatIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{Requires: []string{"tool:"}})
		require.EqualError(t, err, `requirement 1 of 1: capability key "tool:" has no name: expected one after "tool:"`)
		wantPhase(t, h, "a", lifecycle.Failed)
	})
}

func TestSession_aRequirementThatComesWithTheBellIsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		started := beginStart(t, h, manifestFor("a", requires("cap:x")))
		busy := make(chan struct{})
		self := h.current("a").self
		self.tell(registered{func() { <-busy }})
		self.tell(waitExpired{0, time.Second})
		set(t, h, "cap:x", lifecycle.CapReady)
		close(busy)
		require.NoError(t, (<-started).err)
	})
}
