package actors

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// restless is a plugin that counts its hooks, and asks for what its action says.
type restless struct{ inits, setups int }

// wish is what the action is asked for.
type wish struct{ To, Reason string }

func (r *restless) plugin() *plugin.Definition {
	d := offering("a", "tool:a").
		OnInit(hook(func(context.Context) error { r.inits++; return nil })).
		OnSetup(hook(func(context.Context) error { r.setups++; return nil }))
	plugin.Action(d, "ASK", func(ctx context.Context, call plugin.Invocation[wish]) (any, error) {
		s, in := plugin.From(ctx), call.Params
		switch in.To {
		case "configuration-needed":
			return nil, s.Reconfigure(in.Reason)
		case "announced":
			return nil, s.Reannounce(in.Reason)
		}
		return nil, s.Send("module:status:change", map[string]string{"phase": in.To})
	})
	return d
}

// askFor has the plugin ask to be in another phase, and waits for what comes of it.
func askFor(t *testing.T, h *Host, phase, reason string) {
	t.Helper()
	input, err := json.Marshal(map[string]any{"params": map[string]string{"to": phase, "reason": reason}})
	require.NoError(t, err)
	_, err = h.Invoke(t.Context(), protocol.Call{Key: "action:ASK", Input: input})
	require.NoError(t, err)
	settle()
}

func startRestless(t *testing.T, r *restless) *Host {
	t.Helper()
	return startHostWith(t, Options{Dialects: []protocol.Dialect{airi.Dialect{}}}, r.plugin())
}

func TestWanted_configurationIsAskedForByThePluginItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &restless{}
		h := startRestless(t, r)
		info := startReady(t, h, manifestFor("a"))
		askFor(t, h, "configuration-needed", "the key has expired")
		now, err := h.Inspect(info.ID)
		require.NoError(t, err)
		require.Equal(t, lifecycle.ConfigurationNeeded, now.Phase)
		require.Equal(t, "the key has expired", now.Reason)
		_, err = callKey(t, h, "tool:a")
		wantCode(t, err, protocol.CodeNotReady, "tool:a of plugin a is not ready: configuration-needed (the key has expired)")
		require.Equal(t, lifecycle.Ready, apply(t, h, info.ID).Phase)
		require.Equal(t, restless{inits: 1, setups: 2}, *r)
		wantCall(t, h, "tool:a", `"a"`)
	})
}

func TestWanted_aPluginIsPreparedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &restless{}
		h := startRestless(t, r)
		_, err := h.SetCapability(t.Context(), "need", lifecycle.CapReady, nil)
		require.NoError(t, err)
		m := manifestFor("a", requires("need"))
		info, err := h.Start(t.Context(), m, StartOptions{Config: &protocol.Config{ID: "mine", Full: json.RawMessage(`{"k":1}`)}})
		require.NoError(t, err)
		phases := listen(t, h, KindPhase, nil)
		askFor(t, h, "announced", "there is more to offer")
		wantPhase(t, h, "a", lifecycle.Ready)
		require.Equal(t, []string{
			"a: ready → announced there is more to offer", "a: announced → preparing",
			"a: preparing → waiting-deps Waiting for capabilities: need", "a: waiting-deps → prepared",
			"a: prepared → configured", "a: configured → ready",
		}, phases.all())
		require.Equal(t, restless{inits: 2, setups: 2}, *r)
		wantCall(t, h, "tool:a", `"a"`)
		require.Equal(t, info.ID, h.Sessions()[0].ID, "it is the same session")

		// What it requires is awaited again, and calls wait with it.
		_, err = h.SetCapability(t.Context(), "need", lifecycle.CapWithdrawn, nil)
		require.NoError(t, err)
		settle()
		wantPhase(t, h, "a", lifecycle.Degraded)
		askFor(t, h, "announced", "")
		wantPhase(t, h, "a", lifecycle.Degraded)
		require.Equal(t, map[string]uint64{"status-change": 1}, h.Sessions()[0].Dropped, "no way leads there")
	})
}

func TestWanted_whatThereIsNotIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &restless{}
		h := startRestless(t, r)
		startReady(t, h, manifestFor("a"))
		drops := listen(t, h, KindDropped, nil)
		askFor(t, h, "stopped", "")
		askFor(t, h, "", "")
		require.Equal(t, []string{
			`a drops status-change 1 the plugin asked to be "stopped": expected announced or configuration-needed`,
		}, drops.all(), "the second is counted")
		require.EqualValues(t, 2, h.Sessions()[0].Dropped["status-change"])
		wantPhase(t, h, "a", lifecycle.Ready)
		askFor(t, h, "configuration-needed", "")
		require.Equal(t, "the plugin asks for another configuration", h.Sessions()[0].Reason)
	})
}

func TestWanted_howOftenIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &restless{}
		h := startHostWith(t, Options{
			Dialects: []protocol.Dialect{airi.Dialect{}}, Limits: Limits{PhaseRequests: 3},
		}, r.plugin())
		startReady(t, h, manifestFor("a"))
		drops := listen(t, h, KindDropped, nil)
		for range 5 {
			askFor(t, h, "announced", "")
		}
		wantPhase(t, h, "a", lifecycle.Ready)
		require.Equal(t, 4, r.inits, "the first start, and the three that may be asked for")
		require.Equal(t, []string{
			"a drops status-change 1 the plugin asked for another phase more than 3 times within 1m0s, the limit",
		}, drops.all())
		require.EqualValues(t, 2, h.Sessions()[0].Dropped["status-change"])

		time.Sleep(requestTime)
		askFor(t, h, "announced", "")
		require.Equal(t, 5, r.inits, "it may ask again")
	})
}

// What a plugin takes one after the other reaches its session as the newest of it, and never
// before a request that came in between.
func TestTaken_isTheNewest(t *testing.T) {
	h := &handle{}
	first := h.took(protocol.Config{ID: "a"})
	require.NotNil(t, first)
	require.Nil(t, h.took(protocol.Config{ID: "b"}), "the session is told already")
	h.wants(protocol.Wanted{Phase: "configuration-needed"})
	second := h.took(protocol.Config{ID: "c"})
	require.NotNil(t, second)
	require.Equal(t, "b", h.takes(first).ID)
	require.Nil(t, h.took(protocol.Config{ID: "d"}))
	require.Equal(t, "d", h.takes(second).ID)
	require.NotNil(t, h.took(protocol.Config{ID: "e"}))
}
