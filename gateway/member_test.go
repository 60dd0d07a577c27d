package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/internal/logtest"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"

	"github.com/airi-host/airi-host/protocol/airi/server"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/websocket"
)

// modules are those of all peers.
func (r *rig) modules() (all []Module) {
	for _, p := range r.gateway.Peers() {
		all = append(all, p.Modules...)
	}
	return all
}

// wantModule waits until there is one module, of which something holds.
func (r *rig) wantModule(is func(Module) bool) {
	r.Helper()
	require.Eventually(r, func() bool {
		all := r.modules()
		return len(all) == 1 && is(all[0])
	}, patience, time.Millisecond, "%+v", r.modules())
}

func isReady(m Module) bool { return m.Phase == string(lifecycle.Ready) }

// wantReason waits until the one module has no session, and says why.
func (r *rig) wantReason(reason string) {
	r.Helper()
	r.wantModule(func(m Module) bool { return m.Session == "" && m.Reason == reason })
}

func TestMember_aModuleThatIsRenamedHasAnotherSession(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	first := ""
	for n := range 50 {
		p.say("module:announce", `{"name":"name-%d","identity":{"kind":"plugin","plugin":{"id":"bot"},"id":"1"}}`, n)
		r.wantModule(func(m Module) bool { return isReady(m) && m.Name == fmt.Sprint("name-", n) && m.Session != first })
		first = r.modules()[0].Session
	}
	require.Eventually(t, func() bool { return len(r.host.Sessions()) == 1 }, patience, time.Millisecond)
}

func TestMember_aSessionThatIsStoppedIsDismissed(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.announce("bot", "1")
	r.wantModule(isReady)
	_, err := r.host.Stop(t.Context(), r.modules()[0].Session)
	require.NoError(t, err)
	p.wantEnd(server.CodePolicy, "stopped by the host")
	require.Eventually(t, func() bool { return len(r.gateway.Peers()) == 0 }, patience, time.Millisecond)
	p = r.dial()
	p.announce("bot", "1")
	r.wantModule(isReady)
}

// A session that fails leaves its module connected, which may announce itself anew.
func TestMember_aSessionThatFailsLeavesItsModule(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.say("module:compatibility:request", `{"protocolVersion":"v1","apiVersion":"v1"}`)
	p.announce("bot", "1")
	p.say("module:status", `{"phase":"failed","reason":"no luck"}`)
	r.wantReason("no luck")
	r.wantGone("bot") // it is failed a moment before it is gone
	require.Empty(t, r.host.Sessions())
	p.announce("bot", "1")
	p.say("module:prepared", `{}`)
	p.say("module:status", `{"phase":"ready"}`)
	r.wantModule(isReady)
	require.Empty(t, r.modules()[0].Reason)
}

// One that negotiates nothing has nobody to tell it that what it depends on does not come.
func TestMember_isToldThatItsSessionFails(t *testing.T) {
	r := start(t, Options{Prepare: func(g *actors.Guest) error {
		g.Manifest.Host.Timeouts.Capabilities = 50 * time.Millisecond
		return nil
	}})
	p, other := r.dial(), r.dial()
	p.announce("bot", "1", `"dependencies":[{"role":"tool:never"}]`)
	require.Equal(t, "Capability `tool:never` is not ready after 50ms.", p.hearStatus("failed").Reason)
	p.say("fence", `{}`)
	other.until(func(record []byte) (json.RawMessage, bool) {
		require.NotContains(t, string(record), `"module:status"`, "it is the peer's alone to know")
		return nil, strings.Contains(string(record), `"fence"`)
	})
}

// What a peer calls itself keeps it out where somebody else is.
func TestMember_namesThatAreTaken(t *testing.T) {
	own := plugin.Define("own")
	plugin.Handle(own, "tool:mine", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"content":"own"}`), nil
	})
	for want, row := range map[string]struct{ plugin, instance string }{
		"plugin own is one of the host's own: a guest needs another name":                         {"own", "1"},
		"plugin airi-host is the host itself: a guest needs another name":                         {"airi-host", "1"},
		`the plugin's id "  ": expected a text that is not blank, without control characters`:     {"  ", "1"},
		`the plugin's id "a\x00b": expected a text that is not blank, without control characters`: {`a\u0000b`, "1"},
		`code: name: a plugin must have a name that is not blank`:                                 {`\ufeff`, "1"},
	} {
		t.Run(want, func(t *testing.T) {
			r := start(t, Options{}, own)
			p := r.dial()
			p.say("module:announce", `{"name":"x","identity":{"kind":"plugin","plugin":{"id":"%s"},"id":%q},"possibleEvents":["tool:mine"]}`, row.plugin, row.instance)
			r.wantReason(want)
			require.Equal(t, want, p.hearStatus("failed").Reason)
			p.raw(`{"id":"d","type":"tool:mine-send","payload":{"body":{"invokeId":"i","content":{}}}}`)
			require.Eventually(t, func() bool { return r.gateway.Counts().Dropped[droppedEventa] == 1 }, patience, time.Millisecond)
			require.EqualValues(t, 1, r.gateway.Counts().Dropped[droppedRefused])
			result, err := r.call("tool:mine", `{}`)
			require.NoError(t, err)
			require.JSONEq(t, `{"content":"own"}`, result)
			require.Len(t, r.host.Sessions(), 1)
		})
	}
}

func TestMember_twoIdentitiesOfOneNameAndInstance(t *testing.T) {
	r := start(t, Options{})
	one, two := r.dial(), r.dial()
	one.announce("bot", "1")
	r.wantModule(isReady)
	two.announce(" bot", "1")
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(r.modules(), func(m Module) bool {
			return m.Plugin == " bot" && m.Reason == "plugin bot: instance 1 is here already: choose another one, or wait until it has left"
		})
	}, patience, time.Millisecond)
	require.NoError(t, one.Close())
	two.announce("bot", "connection-7") // which is not how others are called that have no instance
	nameless := r.dial()
	nameless.say("extension:module:announce", `{"name":"n","identity":{"id":"","extension":{"id":"bot"}}}`)
	require.Eventually(t, func() bool {
		up := 0
		for _, s := range r.host.Sessions() {
			if s.Plugin == "bot" && s.Phase == lifecycle.Ready {
				up++
			}
		}
		return up == 2
	}, patience, time.Millisecond, "%+v", r.host.Sessions())
	var sessions, listed []string
	for _, s := range r.host.Sessions() {
		sessions = append(sessions, s.Instance)
	}
	for _, m := range r.modules() {
		if m.Phase != "" {
			listed = append(listed, m.Instance)
		}
	}
	require.ElementsMatch(t, sessions, listed, "peers lists them as sessions are called")
}

// Two programs of one identity that come back by themselves take it from each other for ever:
// that is told, and more rarely the more often it happens.
func TestMember_tellsThatItIsTakenOver(t *testing.T) {
	var log logtest.Buffer
	r := start(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	p := r.dial()
	p.announce("bot", "1")
	r.wantModule(isReady) // else the first of the newer ones could come before it
	for range 11 {
		newer := r.dial()
		newer.announce("bot", "1")
		p.wantEnd(server.CodeReplaced, "replaced by a newer connection of the same identity")
		p = newer
	}
	r.wantModule(isReady)
	require.Equal(t, 2, strings.Count(log.String(), "give each an instance of its own"), log.String())
	require.Contains(t, log.String(), "plugin=bot instance=1 so_far=10")
}

// A plugin of the host's own that starts later takes its name from those who came by it.
func TestMember_yieldsToAPluginOfTheHosts(t *testing.T) {
	late := plugin.Define("late")
	plugin.Handle(late, "tool:x", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{}`), nil })
	r := start(t, Options{}, late)
	info, err := r.host.Inspect("late")
	require.NoError(t, err)
	_, err = r.host.Stop(t.Context(), info.ID)
	require.NoError(t, err)
	require.NoError(t, r.host.Remove("late"))
	p := r.dial()
	p.announce("late", "1")
	r.wantModule(isReady)
	builtin := "builtin:late"
	_, err = r.host.Start(t.Context(), &manifest.Manifest{
		Dialect: manifest.DialectAIRI, Name: "late", File: "late/plugin.json", Entrypoints: manifest.Entrypoints{Go: &builtin},
	}, actors.StartOptions{})
	require.NoError(t, err)
	r.wantReason("plugin late is one of the host's own: a guest needs another name")
	p.announce("late", "1")
	require.Eventually(t, func() bool { return r.gateway.Counts().Dropped[droppedRefused] == 1 }, patience, time.Millisecond)
	require.Eventually(t, func() bool { return len(r.host.Sessions()) == 1 }, patience, time.Millisecond, "the one that has failed goes")
}

// gated is a connection whose session receives nothing before it may.
type gated struct {
	transport.Conn
	open <-chan struct{}
}

func (c gated) Recv() ([]byte, error) {
	<-c.open
	return c.Conn.Recv()
}

// slow makes the sessions of a plugin receive nothing until open closes.
func slow(plugin string, open <-chan struct{}) func(*actors.Guest) error {
	return func(g *actors.Guest) error {
		if g.Manifest.Name == plugin {
			g.Conn = gated{g.Conn, open}
		}
		return nil
	}
}

// A module whose session is behind is not read from; all others are.
func TestMember_whoseSessionIsBehindIsNotReadFrom(t *testing.T) {
	open := make(chan struct{})
	r := start(t, Options{LinkRecords: 10, Prepare: slow("slow", open)})
	flood, other := r.dial(), r.dial()
	flood.announce("slow", "1", `"possibleEvents":["x"]`)
	other.announce("other", "1", `"possibleEvents":["echo"]`)
	r.wantPhase("other", lifecycle.Ready)
	const many = 2_000
	for n := range many {
		flood.raw(fmt.Sprintf(`{"id":"%d","type":"nobody","payload":{"body":{}}}`, n))
	}
	received := func() uint64 {
		for _, p := range r.gateway.Peers() {
			if len(p.Modules) == 1 && p.Modules[0].Plugin == "slow" {
				return p.Received
			}
		}
		return 0
	}
	require.Eventually(t, func() bool { return received() >= 10 }, patience, time.Millisecond)
	for n := range 100 { // whatever others do meanwhile
		other.say("transport:connection:heartbeat", `{"kind":"ping","n":%d}`, n)
		other.hear("transport:connection:heartbeat")
	}
	require.LessOrEqual(t, received(), uint64(12))
	other.say("module:status", `{"identity":{"kind":"plugin","plugin":{"id":"slow"},"id":"1"},"phase":"ready"}`)
	require.Eventually(t, func() bool { return r.gateway.Counts().Dropped[droppedBehind] == 1 }, patience, time.Millisecond)
	close(open)
	require.Eventually(t, func() bool { return received() == many+1 }, patience, time.Millisecond)
	r.wantPhase("slow", lifecycle.Ready)
}

// A connection that goes, is replaced, or shut down while it is not read from, goes.
func TestMember_goesWhileItsSessionIsBehind(t *testing.T) {
	for name, goes := range map[string]func(r *rig, p *peer){
		"replaced": func(r *rig, p *peer) {
			r.dial().announce("slow", "1")
			p.wantEnd(server.CodeReplaced, "replaced by a newer connection of the same identity")
		},
		"closed": func(_ *rig, p *peer) { _ = p.Close() },
		"shut": func(r *rig, _ *peer) {
			ctx, cancel := context.WithTimeout(r.Context(), 10*time.Millisecond)
			defer cancel()
			_ = r.gateway.Shutdown(ctx) // the session is waited for
		},
	} {
		t.Run(name, func(t *testing.T) {
			open := make(chan struct{})
			r := start(t, Options{LinkRecords: 1, Prepare: slow("slow", open)})
			p := r.dial()
			p.announce("slow", "1")
			r.wantModule(func(m Module) bool { return m.Session != "" })
			for range 100 {
				p.raw(`{"id":"x","type":"nobody","payload":{"body":{}}}`)
			}
			goes(r, p)
			close(open)
		})
	}
}

// Announcements that come one after the other, each of another module, wait for the
// sessions that they end.
func TestMember_fewSessionsAreOnTheirWay(t *testing.T) {
	release := make(chan struct{})
	var on, most atomic.Int64
	r := start(t, Options{Prepare: func(*actors.Guest) error {
		most.Store(max(most.Load(), on.Add(1)))
		<-release
		on.Add(-1)
		return nil
	}})
	p := r.dial()
	for n := range 1_000 {
		p.announce("bot", fmt.Sprint(n))
	}
	require.Eventually(t, func() bool { return on.Load() == maxBusy+1 }, patience, time.Millisecond)
	other := r.dial()
	other.say("transport:connection:heartbeat", `{"kind":"ping"}`)
	other.hear("transport:connection:heartbeat")
	require.EqualValues(t, maxBusy+1, most.Load())
	close(release)
	require.Eventually(t, func() bool {
		all := r.host.Sessions()
		return len(all) == 1 && all[0].Instance == "999" && all[0].Phase == lifecycle.Ready
	}, patience, time.Millisecond)
	require.LessOrEqual(t, most.Load(), int64(maxBusy+1))
}

// Who configures only one of the two ways to say that a token is needed is not left with
// an open door.
func TestOptions_agreeOnWhoIsAuthenticated(t *testing.T) {
	verify := func(token string) (string, bool) { return "me", token == "secret" }
	for name, row := range map[string]struct {
		o      Options
		atDoor bool
	}{
		"a token":      {Options{Socket: websocket.ServerOptions{Token: "secret"}}, true},
		"verify":       {Options{Verify: verify}, false},
		"the server's": {Options{Server: server.Options{Verify: verify}}, false},
		"both":         {Options{Verify: verify, Socket: websocket.ServerOptions{Token: "secret"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, row.o)
			p := r.dial()
			p.announce("bot", "1")
			require.JSONEq(t, `{"message":"must authenticate before announcing"}`, p.hear("error"))
			require.Equal(t, row.atDoor, r.gateway.Counts().Early == 1)
			p.say("module:authenticate", `{"token":"wrong"}`)
			require.JSONEq(t, `{"message":"invalid token"}`, p.hear("error"))
			p.say("module:authenticate", `{"token":"secret"}`)
			p.hear("module:authenticated")
			require.Zero(t, r.gateway.Counts().Early)
			p.announce("bot", "1")
			r.wantModule(isReady)
			if row.atDoor {
				shown, err := websocket.Dial(t.Context(), r.url, websocket.DialOptions{Token: "secret"})
				require.NoError(t, err)
				p := &peer{r, shown}
				p.hear("module:authenticated")
				require.NoError(t, shown.Close())
				<-shown.Done()
			}
		})
	}
}

// Nothing that panics at a frame ends more than the frame's connection.
func TestGateway_aPanicEndsItsConnection(t *testing.T) {
	r := start(t, Options{Verify: func(token string) (string, bool) {
		if token == "bad" {
			panic("oh no")
		}
		return "", token == "good"
	}})
	p, other := r.dial(), r.dial()
	other.say("module:authenticate", `{"token":"good"}`)
	other.hear("module:authenticated")
	p.say("module:authenticate", `{"token":"bad"}`)
	p.wantEnd(codeInternal, "the host failed at this frame: its log says how")
	other.announce("bot", "1")
	r.wantModule(isReady)
}

// What a host lays down for guests may hang: the end does not wait for it for ever.
func TestGateway_shutdownEndsWithItsContext(t *testing.T) {
	begun, let := make(chan struct{}), make(chan struct{})
	r := start(t, Options{Prepare: func(*actors.Guest) error {
		close(begun)
		<-let
		return nil
	}})
	r.dial().announce("bot", "1")
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, r.gateway.Shutdown(ctx), context.DeadlineExceeded)
	close(let)
}

// A connection that was let in by a token which holds no longer has to show another one, also
// where that one was changed while it was on its way.
func TestGateway_asksForTheTokenThatHoldsNow(t *testing.T) {
	access := func() websocket.Access { return websocket.Access{Token: "former"} }
	r := start(t, Options{
		Verify: func(token string) (string, bool) { return "", token == "present" },
		Socket: websocket.ServerOptions{Access: access},
	})
	c, err := websocket.Dial(t.Context(), r.url, websocket.DialOptions{Token: "former"})
	require.NoError(t, err)
	p := &peer{r, c}
	defer func() { _ = c.Close() }()
	p.announce("bot", "1")
	require.JSONEq(t, `{"message":"must authenticate before announcing"}`, p.hear("error"))
	p.say("module:authenticate", `{"token":"present"}`)
	require.JSONEq(t, `{"authenticated":true}`, p.hear("module:authenticated"))
}
