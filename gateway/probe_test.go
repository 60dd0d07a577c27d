package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// What breaks other hosts, each tried here.

// tokens are those of two owners.
func tokens(token string) (credential string, ok bool) {
	credential, ok = map[string]string{"ours": "us", "also ours": "us", "theirs": "them"}[token]
	return credential, ok
}

// announcing is how a module of either generation says that it is bot, and which instance.
var announcing = map[string]func(instance string) (kind, data string){
	"modules": func(instance string) (string, string) {
		return "module:announce", fmt.Sprintf(`{"name":"bot","identity":{"kind":"plugin","plugin":{"id":"bot"},"id":%q},"possibleEvents":["echo"]}`, instance)
	},
	"extensions": func(instance string) (string, string) {
		return "extension:module:announce", fmt.Sprintf(`{"name":"bot","identity":{"id":%q,"extension":{"id":"bot"}},"possibleEvents":["echo"]}`, instance)
	},
}

// wantCalled has the host call a plugin's instance, which a peer answers.
func (r *rig) wantCalled(p *peer, instance string) {
	r.Helper()
	answered := make(chan error, 1)
	go func() {
		result, err := r.host.Invoke(r.Context(), protocol.Call{
			Key: "echo", Plugin: "bot", Instance: instance, Input: json.RawMessage(`1`), Deadline: time.Now().Add(patience),
		})
		if err == nil && string(result) != "2" {
			err = fmt.Errorf("it answered %s", result)
		}
		answered <- err
	}()
	_, body := p.hearEventa("echo-send")
	var invoke string
	require.NoError(r, json.Unmarshal(body["invokeId"], &invoke))
	p.raw(fmt.Sprintf(`{"id":"d-%s","type":"echo-receive-%s","payload":{"invokeType":4,"body":{"invokeId":%q,"content":2}}}`, invoke, invoke, invoke))
	require.NoError(r, <-answered)
}

// The ways in which a socket can be late that has been replaced.
var lateness = map[string]func(*rude){
	"closes": func(p *rude) {
		p.send(frameClose, "\x03\xe8")
		_ = p.Close()
	},
	"closes with an error": func(p *rude) {
		_ = p.Conn.(*net.TCPConn).SetLinger(0)
		_ = p.Close()
	},
	"sends one more frame": func(p *rude) {
		p.say("move", `{"from":"the old one"}`)
		p.say("module:status", `{"identity":{"kind":"plugin","plugin":{"id":"bot"},"id":"1"},"phase":"failed","reason":"late"}`)
		p.send(frameText, `{"type":"echo-receive-airi-host-1-1","payload":{"body":{"invokeId":"airi-host-1-1","content":"late"}}}`)
		_ = p.Close()
	},
}

// Probe 20. The socket that has been replaced stays so, whatever it does.
func TestProbe_theReplacedSocketStaysReplaced(t *testing.T) {
	for generation, announce := range announcing {
		for how, late := range lateness {
			t.Run(generation+", it "+how, func(t *testing.T) { replaces(t, announce, late) })
		}
	}
}

func replaces(t *testing.T, announce func(string) (string, string), late func(*rude)) {
	t.Helper()
	r := start(t, Options{Verify: tokens})
	old := r.rude()
	old.say("module:authenticate", `{"token":"ours"}`)
	old.hear("module:authenticated", "true")
	old.say(announce("1"))
	old.hear("registry:modules:sync", `"bot"`)
	session := r.wantPhase("bot", lifecycle.Ready).ID

	newer := r.login("also ours")
	newer.say(announce("1"))
	old.wantEnd(4001)
	r.wantKnown()
	r.wantCalled(newer, "1")
	late(old)
	require.Eventually(t, func() bool { return len(r.gateway.Peers()) == 1 }, patience, time.Millisecond)
	wantKept := func() {
		t.Helper()
		is := r.wantPhase("bot", lifecycle.Ready)
		require.Equal(t, session, is.ID)
		require.Empty(t, is.Reason)
		r.wantCalled(newer, "1")
	}
	wantKept()

	// Who has no token, or another's, changes nothing.
	stranger := r.dial()
	stranger.say(announce("1"))
	require.Contains(t, stranger.hear("error"), "must authenticate before announcing")
	stranger.say("move", `{"from":"a stranger"}`)
	require.Contains(t, stranger.hear("error"), "not authenticated")
	wantKept()
	thief := r.login("theirs")
	thief.say(announce("1"))
	require.Contains(t, thief.hear("error"), "the identity bot/1 is in use with another token: choose another id")
	wantKept()
	thief.say("move", `{"from":"them"}`)
	require.JSONEq(t, `{"from":"them"}`, newer.hear("move"), "and nothing of the others'")

	// Two instances of one name live side by side.
	thief.say(announce("2"))
	require.Eventually(t, func() bool { return len(r.host.Sessions()) == 2 && ready(r, "2") }, patience, time.Millisecond)
	r.wantCalled(thief, "2")
	r.wantCalled(newer, "1")
	require.NoError(t, thief.Close())
	require.Eventually(t, func() bool { return !ready(r, "2") }, patience, time.Millisecond)
	r.wantCalled(newer, "1")
}

// wantKnown waits until all sessions know which connections they have.
func (r *rig) wantKnown() {
	r.Helper()
	require.Eventually(r, func() bool {
		r.gateway.mu.Lock()
		defer r.gateway.mu.Unlock()
		for _, m := range r.gateway.members {
			if m.link != nil && m.link.isLate() {
				return false
			}
		}
		return true
	}, patience, time.Millisecond)
}

// login is a client that has shown a token.
func (r *rig) login(token string) *peer {
	r.Helper()
	p := r.dial()
	p.say("module:authenticate", `{"token":%q}`, token)
	require.JSONEq(r, `{"authenticated":true}`, p.hear("module:authenticated"))
	return p
}

func ready(r *rig, instance string) bool {
	for _, is := range r.host.Sessions() {
		if is.Instance == instance {
			return is.Phase == lifecycle.Ready
		}
	}
	return false
}

// A connection that has other modules lives on when one is taken from it.
func TestProbe_aConnectionLosesOneOfItsModules(t *testing.T) {
	r := start(t, Options{Verify: tokens})
	both := r.login("ours")
	both.say(announcing["extensions"]("1"))
	both.say("extension:module:announce", `{"name":"cat","identity":{"id":"1","extension":{"id":"cat"}},"possibleEvents":["purr"]}`)
	session := r.wantPhase("bot", lifecycle.Ready).ID
	cat := r.wantPhase("cat", lifecycle.Ready).ID
	newer := r.login("ours")
	newer.say(announcing["extensions"]("1"))
	newer.hear("extension:module:announced")
	r.wantKnown()
	r.wantCalled(newer, "1")
	both.raw(`{"type":"echo-receive-airi-host-1-1","payload":{"body":{"invokeId":"airi-host-1-1","content":"late"}}}`)
	both.say("extension:module:announce", `{"name":"cat","identity":{"id":"1","extension":{"id":"cat"}},"possibleEvents":["purr","meow"]}`)
	require.Equal(t, cat, r.wantPhase("cat", lifecycle.Ready).ID)
	require.NoError(t, both.Close())
	r.wantPhase("cat", lifecycle.Degraded)
	require.Equal(t, session, r.wantPhase("bot", lifecycle.Ready).ID)
	r.wantCalled(newer, "1")
}

// spelling writes an event: data as plain JSON has it, or wrapped, with what meta says of it.
type spelling func(kind, plain, wrapped, meta string) string

var spellings = map[string]spelling{
	"plain": func(kind, plain, _, _ string) string {
		return fmt.Sprintf(`{"type":%q,"data":%s,"metadata":{"event":{"id":"e-%s"}}}`, kind, plain, kind)
	},
	"wrapped": func(kind, _, wrapped, meta string) string {
		if meta != "" {
			meta = `,"meta":{"v":1,"values":{` + meta + `}}`
		}
		return fmt.Sprintf(`{"json":{"type":%q,"data":%s,"metadata":{"event":{"id":"e-%s","parentId":null}}}%s}`, kind, wrapped, kind, meta)
	},
}

// retold is what became of a conversation.
type retold struct {
	Phases, Heard, Results []string
}

// Probe 21. One conversation, in plain JSON and in SuperJSON's wrapper, comes to the same.
func TestProbe_bothSpellingsOfAFrame(t *testing.T) {
	all := map[string]retold{}
	for name, spell := range spellings {
		t.Run(name, func(t *testing.T) { all[name] = converse(t, spell) })
	}
	require.Equal(t, all["plain"], all["wrapped"])
	require.Contains(t, all["plain"].Phases, "configured ready")
}

func converse(t *testing.T, spell spelling) (came retold) {
	t.Helper()
	heard := make(chan string, 4)
	ear := plugin.Define("ear")
	plugin.On(ear, "move", func(_ context.Context, in json.RawMessage) error {
		heard <- string(in)
		return nil
	})
	plugin.Handle(ear, "twice", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
		return json.Marshal([]json.RawMessage{in, in})
	})
	r := start(t, Options{Verify: tokens}, ear)
	sub := r.host.Subscribe(actors.KindPhase, 0)
	defer sub.Close()
	other := r.login("ours")
	p := r.dial()
	say := func(kind, plain string, wrapped ...string) {
		t.Helper()
		p.raw(spell(kind, plain, append(wrapped, plain)[0], strings.Join(wrapped[min(1, len(wrapped)):], ",")))
	}
	hear := func(kind string) string {
		t.Helper()
		data := p.checked(kind)
		came.Heard = append(came.Heard, kind+" "+data)
		return data
	}
	say("module:authenticate", `{"token":"ours"}`, `{"token":"ours","peerId":null}`, `"data.peerId":["undefined"]`, `"metadata.event.parentId":["undefined"]`)
	hear("module:authenticated")
	say("module:compatibility:request", `{"protocolVersion":"v1","apiVersion":"v1"}`)
	hear("module:compatibility:result")
	const id = `"identity":{"kind":"plugin","plugin":{"id":"bot"},"id":"1"}`
	say("module:announce", `{"name":"bot",`+id+`,"possibleEvents":["echo"]}`,
		`{"name":"bot",`+id+`,"possibleEvents":["echo"],"index":null,"configSchema":null}`, `"data.index":["undefined"]`, `"data.configSchema":["undefined"]`)
	r.wantPhase("bot", lifecycle.Preparing)
	say("module:prepared", `{`+id+`}`, `{`+id+`,"missingDependencies":null}`, `"data.missingDependencies":["undefined"]`)
	r.wantPhase("bot", lifecycle.Configured)
	say("module:status", `{`+id+`,"phase":"ready"}`, `{`+id+`,"phase":"ready","reason":null}`, `"data.reason":["undefined"]`)
	session := r.wantPhase("bot", lifecycle.Ready).ID

	committed := make(chan error, 1)
	go func() {
		_, err := r.host.CommitConfiguration(t.Context(), session, protocol.Config{ID: "c", Revision: 2, SchemaVersion: 1, Full: json.RawMessage(`{"voice":"deep"}`)})
		committed <- err
	}()
	config := hear("module:configuration:commit")
	say("module:configuration:configured", config)
	require.NoError(t, <-committed)
	say("ui:configure", `{"moduleName":"bot","config":{"at":"2026-11-30T09:00:00.000Z","constructor":{"a":1}}}`,
		`{"moduleName":"bot","config":{"at":"2026-11-30T09:00:00.000Z","constructor":{"a":1}},"moduleIndex":null}`,
		`"data.config.at":["Date"]`, `"data.moduleIndex":["undefined"]`)
	hear("module:configure")

	say("move", `{"at":"2026-11-30T09:00:00.000Z","seen":[["a",["b"]]],"ids":["1","2"],"big":"9007199254740993","constructor":{"a":1}}`,
		`{"at":"2026-11-30T09:00:00.000Z","none":null,"seen":[["a",["b"]]],"ids":["1","2"],"big":"9007199254740993","constructor":{"a":1}}`,
		`"data.at":["Date"]`, `"data.none":["undefined"]`, `"data.seen":["map",{"0.1":["set"]}]`, `"data.ids":["set",{"0":["bigint"]}]`, `"data.big":["bigint"]`)
	came.Results = append(came.Results, <-heard)
	require.Contains(t, other.hear("move"), `"big":"9007199254740993"`)

	p.raw(`{"type":"twice-send","payload":{"body":{"invokeId":"x","content":{"constructor":1}}}}`)
	_, body := p.hearEventa("twice-receive-x")
	came.Results = append(came.Results, string(body["content"]))
	r.wantCalled(p, "1")
	wantPatient(t, p, spell)
	require.Equal(t, session, r.wantPhase("bot", lifecycle.Ready).ID)
	for {
		select {
		case e := <-sub.C:
			if one := e.(actors.PhaseChanged); one.Plugin == "bot" {
				came.Phases = append(came.Phases, fmt.Sprint(one.From, " ", one.To))
			}
			continue
		default:
		}
		return came
	}
}

// wantPatient sends what nobody can act on: it is told so, and its connection lives.
func wantPatient(t *testing.T, p *peer, spell spelling) {
	t.Helper()
	refused := func(frame, why string) {
		t.Helper()
		p.raw(frame)
		require.Contains(t, p.checked("error"), why, frame)
	}
	refused(`{"json":{"type":"move","data":{"a":null}},"meta":{"v":1,"values":{"data.__proto__.a":["undefined"]}}}`, "invalid event format")
	refused(`{"json":{"type":"move","data":{}},"meta":{"v":1,"values":{"data.constructor.prototype":["undefined"]}}}`, "invalid event format")
	refused(strings.Replace(spell("5", `{}`, `{}`, ""), `"5"`, `5`, 1), "invalid event format")
	refused(spell("move", `[]`, `[]`, ""), "invalid event format")
	refused(`{"type":"move","da`, "invalid JSON")
	refused(``, "invalid JSON")
	refused("\xff\xfe", "invalid JSON")
	p.raw(spell("no:such:type", `{}`, `{}`, "")) // somebody may know it
	p.raw(spell("transport:connection:heartbeat", `{"kind":"ping"}`, `{"kind":"ping"}`, ""))
	require.Contains(t, p.checked("transport:connection:heartbeat"), `"kind":"pong"`)
}

// checked is hear, for an event of the host's own: each has type, data and metadata.
func (p *peer) checked(kind string) string {
	p.r.Helper()
	return string(p.until(func(record []byte) (json.RawMessage, bool) {
		var in struct {
			JSON struct {
				Type     *string
				Data     map[string]json.RawMessage
				Metadata *struct {
					Source map[string]json.RawMessage
					Event  struct{ ID string }
				}
			}
		}
		require.NoError(p.r, json.Unmarshal(record, &in), "%s", record)
		require.NotNil(p.r, in.JSON.Type, "%s", record)
		require.NotNil(p.r, in.JSON.Data, "%s", record)
		require.NotNil(p.r, in.JSON.Metadata, "%s", record)
		require.NotEmpty(p.r, in.JSON.Metadata.Event.ID, "%s", record)
		if *in.JSON.Type != "module:configure" { // which has the metadata of who asked for it
			require.NotEmpty(p.r, in.JSON.Metadata.Source, "%s", record)
		}
		var e struct{ JSON event }
		require.NoError(p.r, json.Unmarshal(record, &e))
		return e.JSON.Data, e.JSON.Type == kind
	}))
}

// A binary frame is read as a text is, and refused as one.
func TestProbe_binaryFrames(t *testing.T) {
	r := start(t, Options{})
	p := r.rude()
	for _, one := range []struct{ frame, kind, part string }{
		{`{"type":"transport:connection:heartbeat","data":{"kind":"ping"}}`, "transport:connection:heartbeat", `"pong"`},
		{"\x00\x01", "error", "invalid JSON"},
		{"\xff\xff", "error", "invalid JSON"},
		{`{"json":{"type":"transport:connection:heartbeat","data":{"kind":"ping"}}}`, "transport:connection:heartbeat", `"pong"`},
	} {
		p.send(frameBinary, one.frame)
		p.hear(one.kind, one.part)
	}
}
