package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServer_actsOnNothingOfAnUnauthenticatedPeer(t *testing.T) {
	source := `,"metadata":{"source":{"id":"evil","extension":{"id":"evil"},"labels":{"devtools":"true"}},"event":{"id":"e"}}}`
	for _, frame := range []string{
		`{"type":"ui:configure","data":{"moduleName":"m","config":{"k":1}}` + source,
		`{"type":"x:y","data":{}` + source,
		`{"type":"x:y","data":{},"route":{"bypass":true}` + source,
		`{"type":"x:y","data":{},"route":{"destinations":[{"type":"and"}]}` + source,
		`{"type":"input:text","data":{},"route":{"delivery":{"required":true}}` + source,
		`{"type":"module:announce","data":{"name":"m","identity":{"kind":"plugin","plugin":{"id":"p"},"id":"1"}}` + source,
		`{"type":"extension:announce","data":{"identity":{"id":"p"}}` + source,
		`{"type":"extension:module:announce","data":{"name":"m","identity":{"id":"1","extension":{"id":"p"}}}` + source,
		`{"type":"module:consumer:register","data":{"event":"x:y"}` + source,
		`{"type":"module:consumer:unregister","data":{"event":"x:y"}` + source,
		`{"type":"module:compatibility:request","data":{"protocolVersion":"v1","apiVersion":"v1"}` + source,
		`{"type":"module:status","data":{"phase":"failed","identity":{"id":"1","extension":{"id":"p"}}}` + source,
		`{"type":"module:authenticate","data":{"token":"wrong"}` + source,
		`{"type":"peer:authenticate","data":{"token":"wrong","peerId":"peer-owner"}` + source,
		`{"type":"extension:authenticate","data":{"token":"wrong","identity":{"id":"p"}}` + source,
		`{"type":"transport:connection:heartbeat","data":{"kind":"ping"}` + source,
		`{"deliveryId":"d","hopsRemaining":0,"eventa":{"id":"x","body":{}}}`,
		`{"type":"x","payload":{"body":{}}}`,
		`ping`, `not json`,
	} {
		r := newRig(t, Options{Verify: tokens})
		r.open("owner")
		r.say("owner", event("module:authenticate", `{"token":"token-1"}`, ""))
		r.say("owner", byExtension("m", "p", "1"))
		r.say("owner", event("module:consumer:register", `{"event":"x:y"}`, ""))
		r.open("stranger")
		r.took()
		clear(r.told)
		r.say("stranger", frame)
		require.NotContains(t, r.who(), "owner", frame)
		for _, fact := range r.facts {
			require.IsType(t, Dropped{}, fact, frame)
		}
		c := r.server.conns[r.conns["stranger"]]
		require.Nil(t, c.source, frame)
		require.Nil(t, c.extension, frame)
		require.Empty(t, c.modules, frame)
		require.Empty(t, c.consumers, frame)
		require.Empty(t, c.aliases, frame)
		require.False(t, c.negotiates, frame)

		clear(r.told)
		r.say("owner", event("x:z", `{}`, ""))
		require.Empty(t, r.who(), "nor does it hear anything")
	}
}

func TestServer_closesWhoDoesNotAuthenticate(t *testing.T) {
	r := newRig(t, Options{Verify: tokens})
	r.open("silent")
	r.open("good")
	r.say("good", event("extension:authenticate", `{"token":"token-1","identity":{"id":"p"}}`, ""))
	r.open("short")
	r.end("short")
	r.wait(10 * time.Second)
	require.Equal(t, []string{"CLOSE 1008 not authenticated within 10s"}, r.told["silent"])
	require.NotContains(t, r.last("good"), "CLOSE")
	require.Empty(t, r.told["short"])
	r.say("silent", event("module:authenticate", `{"token":"token-1"}`, ""))
	require.Len(t, r.told["silent"], 1)
}

// Where a host's tokens may change it may have none for a while: whether none is one is
// Verify's to say.
func TestServer_noTokenMayBeOne(t *testing.T) {
	none := false
	r := newRig(t, Options{Verify: func(token string) (string, bool) { return "", none || token == "token" }})
	r.open("a")
	for _, frame := range []string{`{}`, `{"token":""}`, `{"token":7}`, `{"token":null}`} {
		r.say("a", event("module:authenticate", frame, ""))
		require.Contains(t, r.last("a"), "invalid token", frame)
	}
	none = true
	r.say("a", event("module:authenticate", `{}`, ""))
	require.NotContains(t, r.last("a"), "invalid token")
	require.True(t, r.server.conns[r.conns["a"]].authenticated)
}

func TestServer_tellsWhoseATokenIs(t *testing.T) {
	r := newRig(t, Options{Verify: tokens})
	r.open("a")
	r.say("a", event("module:authenticate", `{"token":"token-1"}`, ""))
	r.say("a", event("extension:authenticate", `{"token":"token-2","identity":{"id":"p","version":"3"}}`, ""))
	require.Len(t, r.facts, 2)
	require.Equal(t, Authenticated{Conn: 1, Credential: "1"}, r.facts[0])
	second := r.facts[1].(Authenticated)
	require.Equal(t, "2", second.Credential)
	require.Equal(t, "p", second.Extension.Plugin)
	require.Equal(t, "3", second.Extension.Version)
}

// A token that was shown in the request for the websocket is as good as one in a frame.
func TestServer_takesWhoHasShownAToken(t *testing.T) {
	r := newRig(t, Options{Verify: tokens})
	r.conns["a"], r.names[1] = 1, "a"
	r.step(Opened{Conn: 1, Peer: "peer-a", Known: true, Credential: "1"})
	require.Equal(t, []string{`module:authenticated {"authenticated":true}` + ourSource, `registry:modules:sync {"modules":[]}` + ourSource}, r.told["a"])
	require.Equal(t, []Effect{Authenticated{Conn: 1, Credential: "1"}}, r.facts)
	r.say("a", byModule("m", "p", "1"))
	r.wait(time.Minute / 2)
	require.NotContains(t, r.last("a"), "CLOSE")
	r.open("b")
	r.say("b", event("module:authenticate", `{"token":"token-1"}`, ""))
	r.say("b", byModule("m", "p", "1"))
	require.Equal(t, "CLOSE 4001 replaced by a newer connection of the same identity", r.last("a"), "both have one credential")
}

func TestServer_theNewestHasAPeerID(t *testing.T) {
	r := newRig(t, Options{})
	choose := func(name, id string) {
		r.say(name, event("peer:authenticate", `{"peerId":"`+id+`"}`, ""))
	}
	reached := func(id string) []string {
		clear(r.told)
		r.say("sender", event("x:y", `{}`, `,"route":{"destinations":["peer:`+id+`"]}`))
		return r.who()
	}
	for _, name := range []string{"sender", "a", "b"} {
		r.open(name)
	}
	choose("a", "mine")
	require.Contains(t, r.last("a"), `{"authenticated":true,"peerId":"mine"}`)
	require.Equal(t, []string{"a"}, reached("mine"))
	choose("b", "mine")
	require.Equal(t, []string{"b"}, reached("mine"))
	choose("a", "mine")
	require.Equal(t, []string{"a"}, reached("mine"))
	choose("a", "peer-b")
	require.Equal(t, []string{"b"}, reached("peer-b"), "what the host gave to one is nobody else's")
	r.end("a")
	require.Equal(t, []string{"b"}, reached("mine"))
	r.end("b")
	require.Empty(t, reached("mine"))
	require.Empty(t, r.server.aliases)
}
