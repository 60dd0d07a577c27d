package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// A client that announces itself and says no more is a session that is ready at once.
func TestGateway_anAnnouncedModuleIsASession(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	require.JSONEq(t, `{"authenticated":true}`, p.hear("module:authenticated"))
	p.announce("bot", "1", `"possibleEvents":["greet"]`)
	require.Contains(t, p.hear("registry:modules:sync"), `"modules":[]`)
	require.Contains(t, p.hear("registry:modules:sync"), `"name":"bot"`)
	info := r.wantPhase("bot", lifecycle.Ready)
	require.Equal(t, "1", info.Instance)

	peers := r.gateway.Peers()
	require.Len(t, peers, 1)
	require.Equal(t, []Module{{Name: "bot", Plugin: "bot", Instance: "1", Generation: "modules", Session: info.ID, Phase: "ready"}}, peers[0].Modules)

	require.NoError(t, p.Close())
	r.wantPhase("bot", lifecycle.Degraded)
	require.True(t, r.gateway.Peers()[0].Modules[0].Away)
}

// Eventa goes both ways: what a module declares can be called, and it calls what others offer.
func TestGateway_callsBothWays(t *testing.T) {
	greeter := plugin.Define("greeter")
	plugin.Handle(greeter, "tool:greet", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
		return json.Marshal(map[string]any{"content": "hello " + string(in)})
	})
	r := start(t, Options{}, greeter)
	p := r.dial()
	p.announce("bot", "1", `"possibleEvents":["echo"]`)
	r.wantPhase("bot", lifecycle.Ready)

	p.raw(`{"id":"d1","type":"tool:greet-send","payload":{"body":{"invokeId":"mine","content":{"name":"Ada"}}}}`)
	id, body := p.hearEventa("tool:greet-receive")
	require.Equal(t, "tool:greet-receive-mine", id)
	require.JSONEq(t, `{"content":"hello {\"name\":\"Ada\"}"}`, string(body["content"]))

	answered := make(chan error, 1)
	go func() {
		result, err := r.call("echo", `{"n":1}`)
		if err == nil && result != `{"n":2}` {
			err = fmt.Errorf("it answered %s", result)
		}
		answered <- err
	}()
	_, body = p.hearEventa("echo-send")
	require.JSONEq(t, `{"n":1}`, string(body["content"]))
	var invoke string
	require.NoError(t, json.Unmarshal(body["invokeId"], &invoke))
	p.raw(fmt.Sprintf(`{"id":"d2","type":"echo-receive-%s","payload":{"invokeType":4,"body":{"invokeId":%q,"content":{"n":2}}}}`, invoke, invoke))
	require.NoError(t, <-answered)
}

// Another connection of the same identity takes the session; the old one's end changes
// nothing, and what was in flight there has an unknown outcome.
func TestGateway_theNewerConnectionHasTheSession(t *testing.T) {
	r := start(t, Options{})
	old := r.dial()
	old.announce("bot", "1", `"possibleEvents":["slow"]`)
	session := r.wantPhase("bot", lifecycle.Ready).ID
	answered := make(chan error, 1)
	go func() {
		_, err := r.call("slow", `{}`)
		answered <- err
	}()
	old.hearEventa("slow-send")

	newer := r.dial()
	newer.announce("bot", "1", `"possibleEvents":["slow"]`)
	require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(<-answered))
	old.wantEnd(4001, "replaced by a newer connection of the same identity")
	require.Equal(t, session, r.wantPhase("bot", lifecycle.Ready).ID)
	go func() { _, _ = r.call("slow", `{}`) }()
	newer.hearEventa("slow-send")

	other := r.dial()
	other.announce("bot", "2")
	require.Eventually(t, func() bool { return len(r.host.Sessions()) == 2 }, patience, time.Millisecond)
}

// What a connection calls of what one of its modules offers has been handled there already:
// Eventa has one channel for all of them.
func TestGateway_whatModulesCallOfEachOtherStaysThere(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	for _, name := range []string{"alpha", "beta"} {
		p.say("extension:module:announce", `{"name":%q,"identity":{"id":"1","extension":{"id":%q}},"possibleEvents":["of-%s"]}`, name, name, name)
		r.wantPhase(name, lifecycle.Ready)
	}
	for _, name := range []string{"alpha", "beta"} {
		p.raw(`{"type":"of-` + name + `-send","payload":{"body":{"invokeId":"x-` + name + `"}}}`)
		require.Eventually(t, func() bool {
			is, err := r.host.Inspect(name)
			return err == nil && is.Dropped[airi.DroppedOwn] == 1
		}, patience, time.Millisecond)
	}
}

// An event goes once to each that hears it: by the wire to those on websockets, whom its
// sender reached there, and by the host to the others; by Eventa it goes to all.
func TestGateway_eventsAreHeardOnce(t *testing.T) {
	heard := make(chan string, 8)
	ear := plugin.Define("ear")
	plugin.On(ear, "news", func(_ context.Context, in struct{ N int }) error {
		heard <- fmt.Sprint(in.N)
		return nil
	})
	r := start(t, Options{}, ear)
	var peers []*peer
	for _, instance := range []string{"1", "2"} { // one plugin, twice
		p := r.dial()
		p.announce("bot", instance, `"possibleEvents":["news"]`)
		peers = append(peers, p)
	}
	require.Eventually(t, func() bool {
		ready := 0
		for _, is := range r.host.Sessions() {
			if is.Phase == lifecycle.Ready {
				ready++
			}
		}
		return ready == 3
	}, patience, time.Millisecond)
	peers[0].say("news", `{"n":1}`)
	require.JSONEq(t, `{"n":1}`, peers[1].hear("news"))
	require.Equal(t, "1", <-heard)

	peers[0].raw(`{"type":"event:news-send","payload":{"body":{"invokeId":"x","content":{"n":2}}}}`)
	require.Equal(t, "2", <-heard)
	for _, p := range peers {
		require.JSONEq(t, `{"n":2}`, p.hear("news"))
	}
	peers[1].say("news", `{"n":3}`)
	require.JSONEq(t, `{"n":3}`, peers[0].hear("news"))
	require.Equal(t, "3", <-heard)
	require.Empty(t, heard)
}
