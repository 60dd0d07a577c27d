package client

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func offered(keys ...string) (all []protocol.Offer) {
	for _, key := range keys {
		all = append(all, protocol.Offer{Key: key, Invocable: true})
	}
	return all
}

func TestClient_goesFromOpenToReady(t *testing.T) {
	r := newRig(t, Options{Token: "secret", Dependencies: []string{"tool:x"}},
		protocol.Offer{Key: "tool:greet", Description: "Greets.", Priority: 2}, protocol.Offer{Key: "chat:say"}, protocol.Offer{Key: "event:rain"})
	require.Equal(t, []string{"timer 2 15s", `say module:authenticate {"token":"secret"}`, "timer 1 10s"}, r.step(Opened{}))
	require.Equal(t, []string{
		`say module:compatibility:request {"protocolVersion":"v1","apiVersion":"v1","supportedProtocolVersions":["v1"],"supportedApiVersions":["v1"]}`,
		"timer 1 2s",
	}, r.hear("module:authenticated", `{"authenticated":true}`))
	require.Empty(t, r.hear("module:authenticated", `{"authenticated":true}`), "it is said twice without a token")
	require.Empty(t, r.hear("module:compatibility:result", `{"mode":"rejected"}`), "somebody else's answer")
	require.Equal(t, []string{
		`say module:announce {"dependencies":[{"role":"tool:x"}],"identity":me,"name":"hello","possibleEvents":["chat:say"]}`, "timer 1 10s",
	}, r.record(`{"type":"module:compatibility:result","data":{"mode":"exact"},"metadata":{"event":{"id":"e","parentId":"`+r.asked+`"}}}`))
	require.Empty(t, r.hear("registry:modules:sync", `{"modules":[]}`))
	require.Equal(t, []string{"stop 1", "announced negotiates:true again:false unanswered:false", "run init"}, r.hear("registry:modules:sync", r.sync()))
	require.Equal(t, []string{`say module:prepared {"identity":me}`, "run setup"}, r.step(Ran{Step: protocol.StepInit}))
	offers := []string{
		`say module:contribute:capability:offer {"identity":me,"capability":{"id":"tool:greet","description":"Greets.","metadata":{"priority":2}}}`,
		`say module:contribute:capability:offer {"identity":me,"capability":{"id":"event:rain"}}`,
		`say module:status {"identity":me,"phase":"ready"}`,
	}
	require.Equal(t, offers, r.step(Ran{Step: protocol.StepSetup}))

	require.Equal(t, []string{"stop 1", "stop 2"}, r.step(Lost{}))
	require.Empty(t, r.step(Lost{}))
	require.Equal(t, append([]string{"stop 1", "announced negotiates:true again:true unanswered:false", `say module:prepared {"identity":me}`}, offers...),
		r.connect(true), "all of it is said again")
}

func TestClient_announcesItselfAsAnExtension(t *testing.T) {
	r := newRig(t, Options{Extensions: true, Version: "2"})
	r.step(Opened{})
	r.hear("module:authenticated", `{"authenticated":true}`)
	require.Equal(t, []string{
		`say extension:announce {"identity":{"id":"hello","version":"2"}}`,
		`say extension:module:announce {"identity":me,"name":"hello","possibleEvents":[]}`, "timer 1 10s",
	}, r.step(protocol.Fired{Timer: timerPhase}))
	require.Equal(t, []string{"stop 1", "announced negotiates:false again:false unanswered:false", "run init"},
		r.hear("extension:module:announced", `{"name":"hello","identity":`+string(encoded(r.c.identity()))+`}`))
}

func TestClient_isNotLetIn(t *testing.T) {
	fired := func(r *rig) []string { return r.step(protocol.Fired{Timer: timerPhase}) }
	told := func(message string) func(*rig) []string {
		return func(r *rig) []string { return r.hear("error", `{"message":"`+message+`"}`) }
	}
	for _, c := range []struct {
		what  string
		steps []func(*rig) []string
		want  string
	}{
		{"a wrong token", []func(*rig) []string{told("invalid token")}, "fail: the server does not take the token"},
		{"no token", []func(*rig) []string{func(r *rig) []string { return r.hear("module:authenticated", `{"authenticated":false}`) }}, "fail: the server does not take the token"},
		{"another error", []func(*rig) []string{told("busy")}, "hang up: authenticating: busy"},
		{"no answer", []func(*rig) []string{fired}, "hang up: the server did not authenticate the module within 10s"},
		{"another version", []func(*rig) []string{func(r *rig) []string {
			r.hear("module:authenticated", `{"authenticated":true}`)
			return r.record(`{"type":"module:compatibility:result","data":{"mode":"rejected","reason":"too old"},"metadata":{"event":{"parentId":"` + r.asked + `"}}}`)
		}}, "fail: the host does not take this module: too old"},
		{"a name that is taken", []func(*rig) []string{
			func(r *rig) []string { return r.hear("module:authenticated", `{"authenticated":true}`) }, fired, told("taken"),
		}, "hang up: announcing hello: taken"},
		{"a server that says nothing of it", []func(*rig) []string{
			func(r *rig) []string { return r.hear("module:authenticated", `{"authenticated":true}`) }, fired, fired,
		}, "stop 1,announced negotiates:false again:false unanswered:true,run init"},
	} {
		r := newRig(t, Options{})
		r.step(Opened{})
		var got []string
		for _, do := range c.steps {
			got = do(r)
		}
		require.Equal(t, c.want, strings.Join(got, ","), c.what)
	}
}

func TestClient_beats(t *testing.T) {
	r := newRig(t, Options{})
	r.connect(true)
	beat := []string{`say transport:connection:heartbeat {"kind":"ping","message":"🩵"}`, "timer 2 15s"}
	for range silence {
		require.Equal(t, beat, r.step(protocol.Fired{Timer: timerBeat}))
	}
	require.Empty(t, r.record("pong"), "a sign of life")
	for range silence {
		require.Equal(t, beat, r.step(protocol.Fired{Timer: timerBeat}))
	}
	require.Equal(t, []string{"hang up: nothing has come for 45s"}, r.step(protocol.Fired{Timer: timerBeat}))
	require.Equal(t, []string{`say transport:connection:heartbeat {"kind":"pong","message":"💛"} answers e`}, r.hear("transport:connection:heartbeat", `{"kind":"ping"}`))
	require.Empty(t, r.hear("transport:connection:heartbeat", `{"kind":"pong"}`))
	require.Equal(t, []string{"dropped frame"}, r.record("{"))
	require.Equal(t, []string{"dropped server-error"}, r.hear("error", `{"message":"x"}`))
}

func TestClient_waitsForAConfiguration(t *testing.T) {
	r := newRig(t, Options{NeedsConfig: true, ConfigSchema: json.RawMessage(`{"id":"s","version":1}`)})
	r.connect(true)
	needed := `say module:configuration:needed {"identity":me,"reason":"it needs a configuration","schema":{"id":"s","version":1}}`
	require.Equal(t, []string{`say module:prepared {"identity":me}`, needed}, r.step(Ran{Step: protocol.StepInit}))
	r.step(Lost{})
	require.Equal(t, needed, r.connect(true)[3], "it still does")

	me := `"identity":` + string(encoded(r.c.identity()))
	require.Equal(t, []string{`validate 1 {"a":1}`, `heard module:configuration:validate:request {` + me + `,"current":{"full":{"a":1}}}`},
		r.hear("module:configuration:validate:request", `{`+me+`,"current":{"full":{"a":1}}}`))
	require.Equal(t, []string{`say module:configuration:validate:response {"identity":me,"validation":{"status":"invalid","invalid":[{"reason":"no b"}]}} answers e`},
		r.step(Validated{ID: 1, Err: errors.New("no b")}))
	require.Equal(t, []string{"dropped away"}, r.step(Validated{ID: 1}))
	require.Equal(t, `validate 2 {"b":1}`, r.hear("module:configuration:plan:request", `{`+me+`,"current":{"b":1}}`)[0])
	require.Equal(t, []string{`say module:configuration:plan:response {"identity":me,"plan":{"schema":{"id":"s","version":1},"missing":["c"]}} answers e`},
		r.step(Validated{ID: 2, Validation: protocol.Validation{Asked: true, Missing: []string{"c"}}}))

	commit := func(full string) []string {
		return r.hear("module:configuration:commit", `{`+me+`,"config":{"configId":"x","revision":1,`+full+`}}`)
	}
	require.Equal(t, []string{`configured {"a":1}`, "run setup"}, commit(`"full": {"a": 1}`)[:2])
	require.Equal(t, []string{
		`say module:configuration:configured {"identity":me,"config":{"configId":"x","revision":1,"full":{"a":1}}} answers e`,
		`say module:status {"identity":me,"phase":"ready"}`,
	}, r.step(Ran{Step: protocol.StepSetup}))
	require.Len(t, commit(`"full":{"a":1}`), 2, "it has that one, and says so; and it is heard")
	require.Equal(t, []string{`configured {"a":1,"b":2}`, "run setup"}, commit(`"patch":{"b":2}`)[:2])
	require.Equal(t, `configured {"a":3}`, commit(`"full":{"a":3}`)[0], "another one while setup runs")
	require.Equal(t, []string{"run setup"}, r.step(Ran{Step: protocol.StepSetup}))
	got := r.step(Ran{Step: protocol.StepSetup, Err: errors.New("not 3")})
	require.Equal(t, []string{
		`configured {"a":1}`,
		`say module:configuration:commit:status {"identity":me,"state":"failed","note":"not 3"} answers e`,
		`say module:configuration:commit:status {"identity":me,"state":"failed","note":"not 3"} answers e`,
		`say module:status {"identity":me,"phase":"failed","reason":"not 3"}`,
	}, got, "the one before stays")
	require.Equal(t, []string{`configured {"z":0}`, "run setup"}, r.hear("module:configure", `{"config":{"z":0}}`)[:2])
	require.Equal(t, []string{`say module:status {"identity":me,"phase":"ready"}`}, r.step(Ran{Step: protocol.StepSetup}))
	require.Equal(t, "dropped frame", r.hear("module:configure", `{"config":7}`)[0])
	other := strings.Replace(me, "one", "two", 1)
	require.Len(t, r.hear("module:configuration:commit", `{`+other+`,"config":{"full":{}}}`), 1, "another module's")
}

func TestClient_saysHowItIs(t *testing.T) {
	r := newRig(t, Options{})
	r.connect(true)
	require.Empty(t, r.step(Feels{Phase: PhaseDegraded, Reason: "ill"}))
	r.step(Ran{Step: protocol.StepInit})
	require.Equal(t, []string{`say module:status {"identity":me,"phase":"degraded","reason":"ill"}`}, r.step(Ran{Step: protocol.StepSetup}))
	require.Empty(t, r.step(Feels{Phase: PhaseDegraded, Reason: "ill"}), "it is known")
	require.Equal(t, []string{`say module:status {"identity":me,"phase":"ready"}`}, r.step(Feels{Phase: PhaseReady}))
}

func TestClient_failsAtItsStart(t *testing.T) {
	r := newRig(t, Options{})
	r.connect(true)
	require.Equal(t, []string{`say module:status {"identity":me,"phase":"failed","reason":"no"}`, "fail: init: no"},
		r.step(Ran{Step: protocol.StepInit, Err: errors.New("no")}))
	r.step(Lost{})
	require.Empty(t, r.step(Opened{}), "it is over")
}

func TestClient_goesBack(t *testing.T) {
	r := newRig(t, Options{})
	r.ready(true)
	require.Equal(t, []string{`say module:status:change {"phase":"announced"}`, "run init"}, r.step(Emit{"module:status:change", json.RawMessage(`{"phase":"announced"}`)}))
	require.Equal(t, []string{`say module:prepared {"identity":me}`, "run setup"}, r.step(Ran{Step: protocol.StepInit}))
	require.Equal(t, []string{`say module:status {"identity":me,"phase":"ready"}`}, r.step(Ran{Step: protocol.StepSetup}))
	r.step(Emit{"module:status:change", json.RawMessage(`{"phase":"configuration-needed"}`)})
	require.Empty(t, r.step(Feels{Phase: PhaseDegraded}), "it waits")
	require.Equal(t, []string{"configured {}", "run setup"}, r.hear("module:configure", `{"config":{}}`)[:2])
}

func TestClient_changesWhatItOffers(t *testing.T) {
	r := newRig(t, Options{}, offered("tool:a")...)
	r.ready(true)
	require.Equal(t, []string{`say module:contribute:capability:offer {"identity":me,"capability":{"id":"tool:b","metadata":{"inputSchema":{}}}}`},
		r.step(Offer{protocol.Offer{Key: "tool:b", InputSchema: json.RawMessage(`{}`)}}))
	require.Equal(t, []string{`say module:announce {"identity":me,"name":"hello","possibleEvents":["chat:say"]}`}, r.step(Offer{protocol.Offer{Key: "chat:say"}}))
	require.Equal(t, []string{`say module:announce {"identity":me,"name":"hello","possibleEvents":[]}`}, r.step(Retract{"chat:say"}))
	require.Equal(t, []string{`say module:contribute:capability:activated {"identity":me,"capabilityId":"tool:b","active":false,"reason":"it is withdrawn"}`}, r.step(Retract{"tool:b"}))
	require.Empty(t, r.step(Retract{"tool:b"}))
	r.step(Lost{})
	require.Empty(t, r.step(Retract{"tool:a"}))
	require.Equal(t, []string{`say module:status {"identity":me,"phase":"ready"}`}, r.connect(true)[3:], "it is offered no more")
}

func TestClient_callsAndIsCalled(t *testing.T) {
	r := newRig(t, Options{}, offered("tool:a")...)
	call := protocol.Invoke{ID: 1, Call: protocol.Call{Key: "tool:x", Input: json.RawMessage(`{}`)}}
	require.Equal(t, []string{"complete 1  not-ready there is no connection to the host for now: call tool:x again later"}, r.step(call))
	require.Equal(t, []string{"dropped away"}, r.step(Emit{"rain", nil}))
	r.ready(true)
	require.Equal(t, []string{`eventa tool:x-send {"invokeId":"s-1-1","content":{}}`}, r.step(call))
	require.Equal(t, []string{"complete 1 {\"data\":7}  <nil>"}, r.record(`{"type":"tool:x-receive-s-1-1","payload":{"invokeType":4,"body":{"invokeId":"s-1-1","content":7}}}`))
	require.Empty(t, r.record(`{"type":"tool:x-receive-stream-end-s-1-1","payload":{"body":{"invokeId":"s-1-1"}}}`), "a host ends what may be a stream")
	require.Equal(t, []string{"dropped late-answer"}, r.record(`{"type":"tool:x-receive-s-1-1","payload":{"invokeType":4,"body":{"invokeId":"s-1-1","content":7}}}`))
	require.Equal(t, []string{`serve 1 tool:a 5`}, r.record(`{"deliveryId":"d","hopsRemaining":3,"eventa":{"id":"tool:a-send","body":{"invokeId":"airi-host-1-1","content":5}},"type":"x","payload":{}}`), "both forms at once")
	id := protocol.RequestID(1 | 1<<requestShift)
	require.Equal(t, []string{`eventa tool:a-receive-airi-host-1-1 {"invokeId":"airi-host-1-1","content":1}`}, r.step(protocol.Report{ID: id, Item: json.RawMessage("1")}))
	require.Equal(t, []string{`eventa tool:a-receive-airi-host-1-1 {"invokeId":"airi-host-1-1","content":2}`}, r.step(protocol.Reply{ID: id, Result: json.RawMessage("2")}))
	require.Equal(t, []string{`say rain {"value":3}`}, r.step(Emit{"rain", json.RawMessage("3")}))
	require.Equal(t, []string{`heard rain {"a":1}`}, r.hear("rain", `{"a":1}`))

	r.record(`{"type":"tool:a-send","payload":{"body":{"invokeId":"airi-host-1-2"}}}`)
	r.step(call)
	require.Equal(t, []string{
		"stop 1", "stop 2", "complete 1  outcome-unknown the connection to the host was lost while tool:x was in flight; it may have run: cut", "abandon 2",
	}, r.step(Lost{errors.New("cut")}))
	r.connect(true)
	require.Equal(t, []string{"dropped away"}, r.step(protocol.Reply{ID: id + 1, Result: json.RawMessage("2")}), "an answer for the connection before")
	require.Equal(t, []string{"dropped away"}, r.step(protocol.Report{ID: id + 1, Item: json.RawMessage("2")}))
}

func TestClient_callsByEventsUnderAIRIsOwnServer(t *testing.T) {
	r := newRig(t, Options{}, offered("chat:say", "event:rain")...)
	r.step(Opened{})
	r.hear("module:authenticated", `{"authenticated":true}`)
	require.Equal(t, `say module:announce {"identity":me,"name":"hello","possibleEvents":["chat:say","rain"]}`, r.step(protocol.Fired{Timer: timerPhase})[0])
	r.hear("registry:modules:sync", r.sync())
	require.Equal(t, []string{`say x:y-send {"invokeId":"s-1-1","invokeType":0}`}, r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "x:y"}}))
	require.Empty(t, r.hear("x:y-receive-q-1-1", `{"invokeId":"q-1-1"}`), "somebody else's answer")
	require.Empty(t, r.hear("x:y-send", `{"invokeId":"q-1-1"}`), "somebody else's to answer")
	require.Equal(t, []string{"serve 1 chat:say 4"}, r.hear("chat:say-send", `{"invokeId":"q","content":4}`))
	require.Equal(t, []string{`say chat:say-receive-q {"invokeId":"q","content":5,"invokeType":4}`, `say chat:say-receive-stream-end-q {"invokeId":"q"}`},
		r.step(protocol.Reply{ID: 1 | 1<<requestShift, Result: json.RawMessage("5")}))
}
