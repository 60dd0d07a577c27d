package server

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServer_negotiatesCompatibility(t *testing.T) {
	var asked Proposal
	r := newRig(t, Options{Negotiate: func(p Proposal) Agreement {
		asked = p
		return Agreement{Protocol: "v2", API: "v1", Mode: "rejected", Reason: `no "v9"`}
	}})
	r.open("watch")
	r.open("a")
	clear(r.told)
	r.say("a", event("module:compatibility:request",
		`{"protocolVersion":"v9","apiVersion":"v1","supportedProtocolVersions":["v9","v8",7],"supportedApiVersions":[]}`, ""))
	require.Equal(t, Proposal{Protocol: "v9", API: "v1", SupportedProtocol: []string{"v9", "v8"}}, asked)
	require.Equal(t, map[string][]string{"a": {
		`module:compatibility:result {"apiVersion":"v1","mode":"rejected","protocolVersion":"v2","reason":"no \"v9\""} answers "e"` + ourSource,
	}}, r.told)
	r.say("a", byModule("m", "p", "1"))
	require.Equal(t, []string{"server.Negotiated", "1 announced by a as m, how 1, negotiates"}, r.took())
}

func TestServer_agreesToWhatIsAskedForUnlessTold(t *testing.T) {
	r := newRig(t, Options{})
	r.open("a")
	r.say("a", event("module:compatibility:request", `{"protocolVersion":"v1","apiVersion":"v3"}`, ""))
	require.Equal(t, `module:compatibility:result {"apiVersion":"v3","mode":"exact","protocolVersion":"v1"} answers "e"`+ourSource, r.last("a"))
}

// A module's life, as it tells it, and as a Configurator at another connection asks for it.
func TestServer_tellsTheHostOfAModulesLife(t *testing.T) {
	r := newRig(t, Options{})
	r.open("configurator")
	r.open("a")
	r.say("a", byExtension("m", "p", "1"))
	r.say("a", byExtension("n", "p", "2"))
	r.took()
	id := `"identity":{"id":"1","extension":{"id":"p"}}`
	for _, kind := range LifeTypes {
		clear(r.told)
		r.say("a", event(kind, `{`+id+`,"phase":"ready"}`, ""))
		require.Equal(t, []string{"configurator"}, r.who(), kind)
		require.Equal(t, []string{`1 life by a, own true: ` + kind + ` {` + id + `,"phase":"ready"}`}, r.took())
	}
	commit := `{` + id + `,"config":{"configId":"c","revision":2,"schemaVersion":1,"full":{}}}`
	clear(r.told)
	r.say("configurator", event("module:configuration:commit", commit, ""))
	require.Equal(t, []string{"a"}, r.who())
	require.Equal(t, []string{"1 life by configurator, own false: module:configuration:commit " + commit}, r.took())

	for data, want := range map[string]string{
		`{}`: "dropped unknown", // it has two
		`{"identity":{"id":"9","extension":{"id":"p"}}}`: "dropped unknown",
		`{"identity":7}`: "dropped unknown",
		`{"identity":{"kind":"plugin","plugin":{"id":"p"},"id":"2"}}`: `2 life by a, own true: module:prepared {"identity":{"kind":"plugin","plugin":{"id":"p"},"id":"2"}}`,
		`{"identity":{"plugin":"p","instanceId":"2"}}`:                `2 life by a, own true: module:prepared {"identity":{"plugin":"p","instanceId":"2"}}`,
	} {
		r.say("a", event("module:prepared", data, ""))
		require.Equal(t, []string{want}, r.took(), data)
	}
}

func TestServer_anOnlyModuleNeedsNoIdentity(t *testing.T) {
	r := newRig(t, Options{})
	r.open("a")
	r.say("a", event("module:announce", `{"name":"m","identity":{"kind":"plugin","plugin":{"id":"p"}}}`, ""))
	r.took()
	r.say("a", event("module:prepared", `{"missingDependencies":["x"]}`, ""))
	r.say("a", event("module:prepared", `{"identity":{"kind":"plugin","plugin":{"id":"p"}}}`, ""))
	require.Len(t, r.took(), 2)
}

func TestServer_saysWhatTheHostSays(t *testing.T) {
	r := newRig(t, Options{})
	for _, name := range []string{"a", "b"} {
		r.open(name)
	}
	r.say("a", byModule("m", "p", "1"))
	said := func(in Input) map[string][]string {
		clear(r.told)
		r.step(in)
		return r.told
	}
	id := `{"id":"1","kind":"plugin","plugin":{"id":"p"}}`
	require.Equal(t, map[string][]string{"a": {`module:configuration:commit {"config":{"revision":1},"identity":` + id + `}` + ourSource}},
		said(Tell{Session: 1, Type: "module:configuration:commit", Data: json.RawMessage(`{"config":{"revision":1},"identity":"another's"}`)}))
	status := `module:status {"identity":` + id + `,"phase":"ready"}` + ourSource
	require.Equal(t, map[string][]string{"a": {status}, "b": {status}},
		said(Tell{Session: 1, Type: "module:status", Data: json.RawMessage(`{"phase":"ready"}`), Everyone: true}))
	require.Equal(t, map[string][]string{"a": {`x:y {"identity":1}` + ourSource}},
		said(Tell{Session: 1, Type: "x:y", Data: json.RawMessage(`{"identity":1}`), Bare: true}))
	require.Equal(t, map[string][]string{"a": {`module:configure {"config":{"k":1}}` + ourSource}}, said(Configure{1, json.RawMessage(`{"k":1}`)}))
	require.Equal(t, map[string][]string{"a": {`module:configure {"config":{}}` + ourSource}}, said(Configure{1, nil}))
	require.Equal(t, map[string][]string{"b": {`x:y {"n":1}` + ourSource}},
		said(Emit{Type: "x:y", Data: json.RawMessage(`{"n":1}`), Route: json.RawMessage(`{"destinations":["peer:peer-b"]}`)}))
	require.Len(t, said(Emit{Type: "x:y", Data: json.RawMessage(`{}`)}), 2)
	require.Empty(t, said(Emit{Type: "input:text", Data: json.RawMessage(`{}`)}))
	r.say("b", event("module:consumer:register", `{"event":"input:text","group":"chat-ingestion"}`, ""))
	require.Equal(t, map[string][]string{"b": {`input:text {}` + ourSource}}, said(Emit{Type: "input:text", Data: json.RawMessage(`{}`)}))

	r.took()
	for _, in := range []Input{
		Tell{Session: 9, Type: "module:status"},
		Configure{9, nil},
		Emit{Type: "x:y", Data: json.RawMessage(`{}`), Route: json.RawMessage(`7`)},
	} {
		require.Empty(t, said(in))
	}
	require.Equal(t, []string{"dropped unknown", "dropped unknown", "dropped malformed"}, r.took())
	r.end("a")
	r.took()
	require.Empty(t, said(Configure{1, nil}))
	require.Equal(t, []string{"dropped unknown"}, r.took())
}

func TestServer_handsEventaFramesOn(t *testing.T) {
	r := newRig(t, Options{})
	r.open("a")
	r.facts = nil
	for _, frame := range []string{
		`{"type":"x","payload":{"body":{}}}`,
		`{"id":"1","type":"x","payload":{"id":"x","type":"event","body":1},"timestamp":5}`,
		`{"deliveryId":"d","hopsRemaining":0,"eventa":{"id":"x","body":{}}}`,
	} {
		r.say("a", frame)
		require.Equal(t, []Effect{EventaFrame{1, []byte(frame)}}, r.facts)
		r.facts = nil
	}
}

func TestServer_repeatsAnnouncementsAsTheyCame(t *testing.T) {
	r := newRig(t, Options{})
	r.open("watch")
	r.open("a")
	r.facts = nil
	frame := `{"json":{"type":"extension:module:announce","data":{"name":"m","identity":{"id":"1","extension":{"id":"p"},"labels":null},"configSchema":null,"possibleEvents":["x:y",7],"dependencies":[{"role":"r"}],"since":"2026-01-01T00:00:00.000Z"},"metadata":{"source":null,"event":{"id":"e","parentId":null}}},` +
		`"meta":{"values":{"data.identity.labels":["undefined"],"data.configSchema":["undefined"],"data.since":["Date"],"metadata.event.parentId":["undefined"]},"v":1}}`
	effects := r.step(Receive(r.conns["a"], []byte(frame)))
	var echo string
	for _, e := range effects {
		if s, ok := e.(Send); ok && len(s.To) == 1 && s.To[0] == 1 {
			echo = string(s.Frame)
		}
	}
	require.Contains(t, echo, `"configSchema":null`)
	require.Contains(t, echo, `"meta":{"values":{"data.identity.labels":["undefined"],"data.configSchema":["undefined"],"data.since":["Date"]},"v":1}`)
	require.Contains(t, r.lastList("watch"), `{"identity":{"extension":{"id":"p"},"id":"1"},"name":"m"}`)
	m := r.facts[0].(Announced).Module
	require.Equal(t, []string{"x:y"}, m.PossibleEvents)
	require.Nil(t, m.ConfigSchema)
	require.JSONEq(t, `[{"role":"r"}]`, string(m.Dependencies))
}

// Metadata of the request is kept; every frame of the server's has some.
func TestServer_everyConfigurationHasMetadata(t *testing.T) {
	r := newRig(t, Options{})
	r.open("a")
	r.say("a", byModule("m", "p", "1"))
	for metadata, want := range map[string]string{
		``:                 `module:configure {"config":{"k":1}}` + ourSource,
		`,"metadata":null`: `module:configure {"config":{"k":1}}` + ourSource,
		`,"metadata":{"event":{"id":7},"more":1}`: `module:configure {"config":{"k":1}} | {"metadata":{"event":{"id":7},"more":1}}`,
	} {
		r.say("a", `{"type":"ui:configure","data":{"moduleName":"m","config":{"k":1}}`+metadata+`}`)
		require.Equal(t, want, r.last("a"))
	}
}

// Whose question a module answers is told by the parent of its answer.
func TestServer_tellsWhoseQuestionIsAnswered(t *testing.T) {
	s := New(Options{Instance: "gate"})
	s.Step(time.Time{}, Opened{Conn: 1, Peer: "a"})
	s.Step(time.Time{}, Receive(1, []byte(`{"type":"module:announce","data":{"name":"m","identity":{"kind":"plugin","plugin":{"id":"p"},"id":"1"}}}`)))
	for metadata, want := range map[string]bool{
		``:                                 false,
		`,"metadata":{"event":{"id":"x"}}`: false,
		`,"metadata":{"event":{"id":"x","parentId":"gate-1"}}`:   false,
		`,"metadata":{"event":{"id":"x","parentId":7}}`:          false,
		`,"metadata":{"event":{"id":"x","parentId":"theirs"}}`:   true,
		`,"metadata":{"event":{"id":"x","parentId":"gatesX-1"}}`: true,
	} {
		var life Life
		for _, e := range s.Step(time.Time{}, Receive(1, []byte(`{"type":"module:configuration:validate:response","data":{}`+metadata+`}`))) {
			if l, ok := e.(Life); ok {
				life = l
			}
		}
		require.Equal(t, "module:configuration:validate:response", life.Type)
		require.Equal(t, want, life.Answers, metadata)
	}
}
