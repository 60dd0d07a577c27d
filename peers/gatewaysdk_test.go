package peers

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/server"
	"github.com/airi-host/airi-host/transport/websocket"
)

// With its own shape of an identity, which no server of AIRI's takes, the published client
// is a session that is ready at once. That it announces itself twice makes no second one.
func TestGateway_thePublishedClientIsReadyAtOnce(t *testing.T) {
	t.Parallel()
	g := openGate(t, gateway.Options{})
	c := runClients(t)
	c.open("bot", g.url, `"identity":{"plugin":"bot","instanceId":"one"}`)
	c.wantHears("bot", "module:authenticated", `{"authenticated":true}`)
	c.joined("bot")
	is := g.wantPhase(t, "bot", lifecycle.Ready)
	require.Equal(t, "one", is.Instance)

	c.open("other", g.url, ``) // whose instance is made up
	c.joined("other")
	g.wantPhase(t, "other", lifecycle.Ready)
	c.joined("bot")
	require.Equal(t, map[string]string{"one": is.ID}, g.sessionsOf("bot"))
	require.Len(t, g.sessionsOf("other"), 1)
	require.Len(t, g.gateway.Peers(), 2)

	c.order("other", "close", `null`)
	c.hearsOf("bot", "module:de-announced", `"reason":"connection closed"`)
}

func verifies(token string) func(string) (string, bool) {
	return func(given string) (string, bool) { return "us", given == token }
}

func TestGateway_thePublishedClientShowsItsToken(t *testing.T) {
	t.Parallel()
	g := openGate(t, gateway.Options{Verify: verifies("sesame"), Server: server.Options{Authentication: 300 * time.Millisecond}})
	c := runClients(t)
	c.open("bot", g.url, `"token":"sesame"`)
	c.wantHears("bot", "module:authenticated", `{"authenticated":true}`)
	c.joined("bot")
	g.wantPhase(t, "bot", lifecycle.Ready)

	c.open("stranger", g.url, `"token":"open","autoReconnect":false`)
	c.wantHears("stranger", "error", `{"message":"invalid token"}`)
	require.Len(t, g.Sessions(), 2, "the one in Go, and the bot")
	c.hears("stranger", "(closed)")
	require.NotZero(t, g.gateway.Counts().Dropped["unauthenticated"])

	// What somebody sends without a token is acted on by nobody.
	c.open("mute", g.url, `"autoReconnect":false`)
	require.Contains(t, string(c.hears("mute", "error").Data), "must authenticate before announcing")
	c.sends("mute", "ui:configure", `{"moduleName":"bot","config":{"evil":true}}`, ``)
	c.wantHears("mute", "error", `{"message":"not authenticated"}`)
	c.open("second", g.url, `"token":"sesame"`)
	c.joined("second")
	c.sends("second", "ui:configure", `{"moduleName":"bot","config":{"evil":false}}`, ``)
	c.wantHears("bot", "module:configure", `{"config":{"evil":false}}`)
	require.Empty(t, g.sessionsOf("mute"))
}

// What a client sends goes to those whom it means, and to them alone.
func TestGateway_thePublishedClientsRouteEvents(t *testing.T) {
	t.Parallel()
	g := openGate(t, gateway.Options{})
	c := runClients(t)
	c.open("sender", g.url, ``)
	c.open("stage", g.url, `"identity":{"plugin":"airi-stage","instanceId":"s1","labels":{"env":"prod"}}`)
	c.open("chess", g.url, `"identity":{"kind":"plugin","plugin":{"id":"airi-chess","labels":{"game":"chess"}},"id":"c1","labels":{"env":"test"}}`)
	for _, as := range []string{"sender", "stage", "chess"} {
		c.joined(as)
	}
	for _, one := range []struct{ to, stage, chess string }{
		{`["plugin:airi-stage"]`, "spark:notify", "fence"},
		{`["instance:c1"]`, "fence", "spark:notify"},
		{`["label:env=prod"]`, "spark:notify", "fence"},
		{`["label:game"]`, "fence", "spark:notify"},
		{`["label:env"]`, "spark:notify", "spark:notify"},
		{`["module:chess"]`, "fence", "spark:notify"},
		{`["chess"]`, "fence", "spark:notify"},
		{`["st*"]`, "spark:notify", "fence"},
		{`["airi-*"]`, "spark:notify", "spark:notify"},
		{`["airi-*e","plugin:nobody"]`, "spark:notify", "fence"},
		{`["*"]`, "spark:notify", "spark:notify"},
		{`[{"type":"and","all":[{"type":"glob","glob":"airi-*"},{"type":"label","selectors":["env=prod"],"inverted":true}]}]`, "fence", "spark:notify"},
		{`[]`, "fence", "fence"},
	} {
		c.sends("sender", "spark:notify", `{"id":"1"}`, `{"destinations":`+one.to+`}`)
		c.sends("sender", "fence", `{}`, ``)
		require.Equal(t, one.stage, c.hears("stage", "spark:notify", "fence").Type, "stage, of %s", one.to)
		require.Equal(t, one.chess, c.hears("chess", "spark:notify", "fence").Type, "chess, of %s", one.to)
		if one.stage != "fence" {
			c.hears("stage", "fence")
		}
		if one.chess != "fence" {
			c.hears("chess", "fence")
		}
	}
	c.sends("stage", "fence", `{"from":"stage"}`, ``)
	require.JSONEq(t, `{"from":"stage"}`, string(c.hears("sender", "spark:notify", "fence").Data), "it never gets its own")
}

// Of consumers one gets an event: the first, each in turn, or by what it is about.
func TestGateway_thePublishedClientsConsume(t *testing.T) {
	t.Parallel()
	g := openGate(t, gateway.Options{})
	c := runClients(t)
	for _, as := range []string{"sender", "first", "second"} {
		c.open(as, g.url, ``)
		c.joined(as)
	}
	register := func(as, data string) {
		c.sends(as, "module:consumer:register", data, ``)
		c.sends(as, "ready", `{}`, `{"destinations":["sender"]}`)
		c.hears("sender", "ready")
	}
	gets := func(as, kind, route, what string) {
		t.Helper()
		other := map[string]string{"first": "second", "second": "first"}[as]
		c.sends("sender", kind, `{"text":"`+what+`"}`, route)
		c.sends("sender", "fence", `{}`, `{"destinations":["first","second"]}`)
		require.JSONEq(t, `{"text":"`+what+`"}`, string(c.hears(as, kind, "fence").Data))
		c.hears(as, "fence")
		require.Equal(t, "fence", c.hears(other, kind, "fence").Type)
	}
	c.sends("sender", "input:text", `{"text":"nobody"}`, `{"delivery":{"required":true}}`)
	c.wantHears("sender", "error", `{"message":"no consumer registered for requested event delivery"}`)

	for _, as := range []string{"first", "second"} {
		register(as, `{"event":"input:text","group":"chat-ingestion"}`)
		register(as, `{"event":"turn","mode":"consumer-group","group":"g"}`)
	}
	gets("first", "input:text", ``, "1")
	gets("first", "input:text", ``, "2")
	round := `{"delivery":{"mode":"consumer-group","group":"g","selection":"round-robin"}}`
	gets("first", "turn", round, "3")
	gets("second", "turn", round, "4")
	gets("first", "turn", round, "5")
	register("second", `{"event":"input:text","group":"chat-ingestion","priority":5}`)
	gets("second", "input:text", ``, "6")
	gets("first", "turn", `{"delivery":{"mode":"consumer-group","group":"g","selection":"sticky","stickyKey":"k"},"destinations":["second"]}`, "7")
}

// A client that says nothing but heartbeats stays, each is answered, and so does one that
// sends none: the host pings its socket.
func TestGateway_thePublishedClientsHeartbeats(t *testing.T) {
	t.Parallel()
	o := gateway.Options{}
	o.Socket = websocket.ServerOptions{Options: websocket.Options{PingEvery: 200 * time.Millisecond, Silence: 2 * time.Second}}
	g := openGate(t, o)
	c := runClients(t)
	c.open("quiet", g.url, `"heartbeat":{"readTimeout":0}`)
	c.open("bot", g.url, `"heartbeat":{"readTimeout":50}`)
	c.joined("quiet")
	is := g.wantPhase(t, "bot", lifecycle.Ready)
	begun := time.Now()
	for time.Since(begun) < 3*time.Second {
		var pong struct {
			Kind, Message string
			At            int64
		}
		require.NoError(t, json.Unmarshal(c.hears("bot", "transport:connection:heartbeat").Data, &pong))
		require.Equal(t, "pong", pong.Kind)
		require.Equal(t, "💛", pong.Message)
		require.InDelta(t, time.Now().UnixMilli(), pong.At, float64(patience.Milliseconds()))
	}
	require.Equal(t, is.ID, g.wantPhase(t, "bot", lifecycle.Ready).ID)
	g.wantPhase(t, "quiet", lifecycle.Ready)
	require.Len(t, g.gateway.Peers(), 2)
}

// A client whose connection is cut comes back by itself: session and id are the same.
func TestGateway_thePublishedClientComesBack(t *testing.T) {
	t.Parallel()
	g := openGate(t, gateway.Options{Server: server.Options{Grace: time.Minute}})
	wire := layCable(t, g)
	c := runClients(t)
	c.open("bot", wire.url, `"handlers":["greet"],"possibleEvents":["greet"]`)
	c.joined("bot")
	is := g.wantPhase(t, "bot", lifecycle.Ready)
	wire.cut()
	c.hears("bot", "(closed)")
	g.wantPhase(t, "bot", lifecycle.Degraded)
	got := g.relays(t, "go", "", order{Key: "greet", Input: json.RawMessage(`{}`)})
	require.Equal(t, "not-ready", got.Failed.code(), "%+v", got)
	require.Contains(t, got.Failed.Message, "bot")
	wire.mend()
	require.Equal(t, is.ID, g.wantPhase(t, "bot", lifecycle.Ready).ID)
	got = g.relays(t, "go", "", order{Key: "greet", Input: json.RawMessage(`{"n":1}`)})
	require.JSONEq(t, `{"key":"greet","input":{"n":1}}`, string(got.Result))
}

func TestGateway_thePublishedClientComesBackTooLate(t *testing.T) {
	t.Parallel()
	g := openGate(t, gateway.Options{Server: server.Options{Grace: 100 * time.Millisecond}})
	wire := layCable(t, g)
	c := runClients(t)
	c.open("bot", wire.url, `"possibleEvents":["greet"]`)
	c.joined("bot")
	is := g.wantPhase(t, "bot", lifecycle.Ready)
	sub := g.Subscribe(actors.KindPhase, 0)
	defer sub.Close()
	wire.cut()
	g.wantGone(t, "bot")
	for _, offer := range g.Capabilities() {
		require.NotEqual(t, "greet", string(offer.Key), "withdrawn")
	}
	wire.mend()
	require.NotEqual(t, is.ID, g.wantPhase(t, "bot", lifecycle.Ready).ID)
}

// Two clients of one identity: the newer one has the session.
func TestGateway_thePublishedClientIsReplaced(t *testing.T) {
	t.Parallel()
	g := openGate(t, gateway.Options{})
	c := runClients(t)
	const same = `"identity":{"plugin":"bot","instanceId":"1"},"name":"bot","autoReconnect":false`
	c.open("old", g.url, same)
	c.hears("old", "registry:modules:sync")
	is := g.wantPhase(t, "bot", lifecycle.Ready)
	c.open("new", g.url, same)
	c.hears("old", "(closed)")
	require.Equal(t, map[string]string{"1": is.ID}, g.sessionsOf("bot"))
	g.wantPhase(t, "bot", lifecycle.Ready)
	c.open("sender", g.url, ``)
	c.joined("sender")
	c.sends("sender", "spark:notify", `{}`, `{"destinations":["plugin:bot"]}`)
	c.hears("new", "spark:notify")
}

// What a client declares can be called by a plugin of the host's, and heard; and it hears
// what plugins say.
func TestGateway_thePublishedClientIsCalled(t *testing.T) {
	t.Parallel()
	g := openGate(t, gateway.Options{})
	c := runClients(t)
	c.open("bot", g.url, `"handlers":["greet"],"possibleEvents":["greet","town.news"]`)
	c.joined("bot")
	g.wantPhase(t, "bot", lifecycle.Ready)
	got := g.relays(t, "go", "", order{Key: "greet", Input: json.RawMessage(`{"n":1}`)})
	require.Nil(t, got.Failed)
	require.JSONEq(t, `{"key":"greet","input":{"n":1}}`, string(got.Result))

	g.does(t, "go", "tell", "", struct{}{})
	c.wantHears("bot", "town.news", `{"from":"go"}`)
	g.wantSeen(t, "go", "news go", 1)
	c.sends("bot", "town.news", `{"from":"bot"}`, ``)
	g.wantSeen(t, "go", "news bot", 1)
}

func TestGateway_thePublishedClientIsConfigured(t *testing.T) {
	t.Parallel()
	g := openGate(t, gateway.Options{})
	c := runClients(t)
	c.open("bot", g.url, ``)
	c.open("ui", g.url, ``)
	c.joined("bot")
	c.joined("ui")
	is := g.wantPhase(t, "bot", lifecycle.Ready)
	c.sends("ui", "ui:configure", `{"moduleName":"bot","config":{"voice":"deep"}}`, ``)
	c.wantHears("bot", "module:configure", `{"config":{"voice":"deep"}}`)
	c.sends("ui", "ui:configure", `{"moduleName":"nobody","config":{}}`, ``)
	c.wantHears("ui", "error", `{"message":"module not found, it hasn't announced itself or the name is incorrect"}`)

	_, err := g.CommitConfiguration(t.Context(), is.ID, protocol.Config{ID: "c", Revision: 2, SchemaVersion: 1, Full: json.RawMessage(`{"voice":"high"}`)})
	require.NoError(t, err)
	c.wantHears("bot", "module:configure", `{"config":{"voice":"high"}}`)
	require.Equal(t, is.ID, g.wantPhase(t, "bot", lifecycle.Ready).ID)
}
