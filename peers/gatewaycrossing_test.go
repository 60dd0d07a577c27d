package peers

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// What each tells is heard by all, itself among them; and so is what a published client sends
// on the wire, which those on websockets hear there, once.
func TestCrossing_eventsAreHeardOverWebsockets(t *testing.T) {
	g := openWideTown(t, nil)
	c := runClients(t)
	c.open("bot", g.url, `"possibleEvents":["town.news","plugin.paperclip.news"]`)
	c.joined("bot")
	g.wantPhase(t, "bot", lifecycle.Ready)
	for _, from := range everybody {
		g.does(t, from, "tell", "acme", struct{}{})
		for _, to := range everybody {
			g.wantSeen(t, to, "news "+from, 1)
		}
		kind := "town.news"
		if from == "paperclip" {
			kind = "plugin.paperclip.news"
		}
		require.JSONEq(t, `"`+from+`"`, string(fromOf(t, c.hears("bot", kind, "fence"))))
		c.sends("bot", "fence", `{}`, `{"destinations":["bot"]}`)
	}
	c.sends("bot", "town.news", `{"from":"bot"}`, ``)
	for _, to := range everybody {
		g.wantSeen(t, to, "news bot", 1)
	}
	g.does(t, "go", "tell", "acme", struct{}{})
	require.JSONEq(t, `"go"`, string(fromOf(t, c.hears("bot", "town.news"))), "not its own")
	for _, to := range everybody {
		g.wantSeen(t, to, "news go", 2)
		g.wantSeen(t, to, "news bot", 1)
	}
}

func fromOf(t *testing.T, one message) json.RawMessage {
	t.Helper()
	var said struct{ From json.RawMessage }
	require.NoError(t, json.Unmarshal(one.Data, &said), "%s", one.Data)
	return said.From
}

// Who called whom is told of modules on websockets as of all.
func TestCrossing_isToldOfWebsockets(t *testing.T) {
	g := openWideTown(t, nil)
	sub := g.Subscribe(actors.KindCall, 0)
	defer sub.Close()
	for _, other := range townsfolk {
		for _, one := range []struct{ from, to string }{{"websocket", other}, {other, "websocket"}} {
			key := "action:" + one.to + "-say"
			o := order{Key: key, Input: json.RawMessage(`{"params":{"text":"hi"}}`)}
			if one.to == "paperclip" {
				o.Key = "tool:paperclip-say"
				o.Input = json.RawMessage(`{"text":"hi"}`)
			}
			got := g.relays(t, one.from, "globex", o)
			require.Nil(t, got.Failed, "%s calls %s: %+v", one.from, o.Key, got.Failed)
			inner := (<-sub.C).(actors.Called)
			ecosystem := map[string]string{"websocket": "airi"}[one.to]
			if ecosystem == "" {
				ecosystem = one.to
			}
			require.Equal(t, []string{one.to, ecosystem, o.Key, one.from, "globex"}, []string{inner.Plugin, inner.Ecosystem, string(inner.Key), inner.Caller, inner.Scope})
			require.Equal(t, one.from, (<-sub.C).(actors.Called).Plugin)
		}
	}
}

// The wire does not tell for whose sake a module on a websocket calls: it may be for one
// company at a time, and with several the call is denied.
func TestCrossing_aCompanyThroughAWebsocket(t *testing.T) {
	g := openWideTown(t, nil)
	for _, got := range g.goRound(t, "websocket", "globex") {
		require.Nil(t, got.failed, "%+v", got.failed)
		require.Equal(t, "globex", got.last)
	}
	for _, got := range g.goRound(t, "websocket", "globex", "initech", "acme") {
		if got.failed != nil {
			require.Equal(t, "denied", got.failed.code())
			continue
		}
		require.Equal(t, got.company, got.last, "denied, or right")
		require.Contains(t, []string{"", got.company}, got.found, "what is another's was read")
	}
}

// Plugins that call each other in a circle through a websocket come to an end.
func TestCrossing_circlesThroughAWebsocketEnd(t *testing.T) {
	g := openWideTown(t, nil)
	say, err := json.Marshal(order{Key: "tool:go-say", Input: json.RawMessage(`{"text":"hi"}`)})
	require.NoError(t, err)
	for range 20 {
		for _, who := range []string{"websocket", "go"} {
			say, err = json.Marshal(order{Key: relayOf(who), Input: say})
			require.NoError(t, err)
		}
	}
	got := g.does(t, "go", "relay", "", json.RawMessage(say))
	require.Contains(t, string(got), "the limit is 32 (limits.callDepth): do plugins call each other in a circle?")
}

// What a module says it depends on is awaited, whoever offers it.
func TestCrossing_aWebsocketDependsOnOthers(t *testing.T) {
	g := openWideTown(t, nil)
	m := &module{t: t, gate: g}
	m.script = runScriptOf(t, EventaB14, "module.mjs", g.url, "needy")
	require.Equal(t, `"open"`, m.says(t))
	m.does("send", "x", `{"type":"module:announce","data":{"name":"needy","identity":{"kind":"plugin","plugin":{"id":"needy"},"id":"1"},`+
		`"possibleEvents":["greet"],"dependencies":[{"role":"tool:paperclip-say"},{"role":"tool:nobody","optional":true},{"role":"action:eliza-say"}]}}`)
	g.wantPhase(t, "needy", lifecycle.Ready)
	is, err := g.Inspect("eliza")
	require.NoError(t, err)
	_, err = g.Stop(t.Context(), is.ID)
	require.NoError(t, err)
	g.wantPhase(t, "needy", lifecycle.Degraded)
	for _, man := range g.Found.Manifests {
		if man.PluginName() == "eliza" {
			_, err = g.Start(t.Context(), man, actors.StartOptions{Wait: patience})
			require.NoError(t, err)
		}
	}
	g.wantPhase(t, "needy", lifecycle.Ready)
	got, err := m.tries(protocol.Call{Key: "greet", Input: json.RawMessage(`{"name":"Ada"}`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"hello":"Ada"}`, got)
}
