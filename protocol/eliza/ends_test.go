package eliza

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

// wire joins our host's end and our worker's end.
type wire struct{ protocoltest.Wire }

func newWire(t *testing.T, p Plugin, s WorkerSettings) *wire {
	t.Helper()
	return &wire{protocoltest.Wire{
		T: t, Codec: codec{}, Host: newRig(t, p, protocol.Settings{}).d, Worker: NewWorker(s), Line: rig{t: t}.line,
	}}
}

func (w *wire) start() {
	w.T.Helper()
	w.At(w.Host, protocol.Run{Step: protocol.StepSetup})
	w.At(w.Worker, Begin{})
	w.At(w.Worker, Initialized{})
	require.Contains(w.T, w.Says(), "ran setup <nil>")
}

var definition = Definition{
	Name: "p", Description: "about p", Priority: new(0), Dependencies: []string{}, Config: raw(`{}`),
	Actions:    []Action{{Name: "GREET", Similes: []string{"HI"}, Validates: true}},
	Providers:  []Provider{{Name: "TIME", About: raw(`{"private":true}`)}},
	Models:     []string{"TEXT"},
	Events:     []Events{{Name: "E", Handlers: 2}},
	Services:   []Service{{Type: "clock", Methods: []string{"now"}}},
	Evaluators: []Action{{Name: "SCORE"}},
	Endpoints:  []Endpoint{{Path: "/hello"}, {Path: "/told", Method: "POST", Unserved: true}},
}

func TestEnds_callEachOther(t *testing.T) {
	key := []byte("a key")
	w := newWire(t, Plugin{Key: key}, WorkerSettings{Plugin: definition, Key: key})
	w.start()
	for i, c := range []struct{ key, input, task, reply, result string }{
		{
			"action:GREET", `{"message":{"id":"m"}}`, `action:GREET {"message":{"id":"m"},"state":{},"options":null,"responses":null} follows=true validate=false handler=0`,
			`{"success":true}`, `{"success":true}`,
		},
		{"action:GREET.validate", `{"message":{}}`, `action:GREET {"message":{},"state":{}} follows=false validate=true handler=0`, `1`, `true`},
		{"provider:TIME", `{"message":{}}`, `provider:TIME {"message":{},"state":{}} follows=false validate=false handler=0`, `{"text":"n"}`, `{"text":"n"}`},
		{"model:TEXT", `9007199254740993`, `model:TEXT 9007199254740993 follows=false validate=false handler=0`, `"\ud800"`, `"\ud800"`},
		{"service:clock.now", `"UTC"`, `service:clock.now ["UTC"] follows=false validate=false handler=0`, `[1]`, `[1]`},
		{"evaluator:SCORE", `{"message":{}}`, `evaluator:SCORE {"message":{},"state":{}} follows=false validate=false handler=0`, `null`, `null`},
		{
			"http:GET /hello", `{}`, `http:GET /hello {"method":"GET","path":"/hello","params":{},"query":{},"headers":{},"body":null} follows=false validate=false handler=0`,
			`{"status":204}`, `{"status":204,"headers":{},"body":null}`,
		},
	} {
		id := protocol.CallID(i + 1)
		w.At(w.Host, protocol.Invoke{ID: id, Call: protocol.Call{Key: c.key, Input: raw(c.input)}})
		require.Equal(t, []string{rig{t: t}.line(Task{})[:5] + number1(i+1) + " " + c.task}, w.Says())
		w.At(w.Worker, protocol.Reply{ID: protocol.RequestID(i + 1), Result: raw(c.reply)})
		require.Equal(t, []string{"complete " + number1(i+1) + " ok " + c.result}, w.Says())
	}
}

func number1(n int) string { return string(number(uint64(n))) }

func TestEnds_events(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Plugin: definition})
	w.start()
	w.At(w.Host, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "event:E", Input: raw(`"x"`)}})
	require.Equal(t, []string{
		`task 1 event:E "x" follows=false validate=false handler=0`, `task 2 event:E "x" follows=false validate=false handler=1`,
	}, w.Says())
	w.At(w.Worker, protocol.Reply{ID: 2, Result: raw(`"ignored"`)})
	w.At(w.Worker, protocol.Reply{ID: 1})
	require.Equal(t, []string{"complete 1 ok null"}, w.Says())
	w.At(w.Worker, protocol.Emit{Event: protocol.Event{Name: "hello", Payload: raw(`1`)}})
	w.At(w.Host, protocol.Emit{Event: protocol.Event{Name: "back"}})
	require.Equal(t, []string{"emitted hello 1", "emitted back "}, w.Says())
}

func TestEnds_stream(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Plugin: definition})
	w.start()
	follow := func(id protocol.CallID) {
		w.At(w.Host, protocol.Invoke{ID: id, Call: protocol.Call{Key: "model:TEXT"}, Follows: true})
	}
	follow(1)
	w.At(w.Worker, protocol.Report{ID: 1, Item: raw(`"a"`)})
	w.At(w.Worker, protocol.Report{ID: 1, Item: raw(`"b"`)})
	w.At(w.Worker, protocol.Reply{ID: 1, Result: raw(`"ab"`)})
	require.Equal(t, []string{
		"task 1 model:TEXT null follows=true validate=false handler=0", "progress 1 ", `progress 1 "a"`, `progress 1 "b"`, `complete 1 ok "ab"`,
	}, w.Says())
	follow(2)
	w.At(w.Worker, protocol.Report{ID: 2, Item: raw(`1`)})
	w.At(w.Worker, protocol.Reply{ID: 2, Err: errors.New("broken")})
	require.Equal(t, "complete 2 error broken", w.Says()[3])

	w.At(w.Worker, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "useModel", Input: raw(`{"modelType":"TEXT"}`)}, Follows: true})
	w.At(w.Host, protocol.Report{ID: 1, Item: raw(`"x"`)})
	w.At(w.Host, protocol.Reply{ID: 1, Result: raw(`"xy"`)})
	w.At(w.Worker, protocol.Invoke{ID: 2, Call: protocol.Call{Key: "useModel"}, Follows: true})
	w.At(w.Host, protocol.Report{ID: 2, Item: raw(`"x"`)})
	w.At(w.Host, protocol.Reply{ID: 2, Err: errors.New("late")})
	require.Equal(t, []string{
		`serve 1 useModel {"modelType":"TEXT"} follows=true caller=lab`, `progress 1 "x"`, `complete 1 ok "xy"`,
		`serve 2 useModel {} follows=true caller=lab`, `progress 2 "x"`, `complete 2 error late`,
	}, w.Says())
}

// Whoever takes a stream may leave it, and whoever sends it is told; what the sender still
// says is for nobody, and its task counts until it is over.
func TestEnds_streamsAreLeft(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Plugin: definition})
	w.start()
	text := protocol.Call{Key: "model:TEXT", Input: raw(`1`)}
	w.At(w.Host, protocol.Invoke{ID: 1, Call: text, Follows: true})
	w.At(w.Worker, protocol.Report{ID: 1, Item: raw(`"a"`)})
	w.At(w.Host, protocol.Cancel{ID: 1})
	w.At(w.Worker, protocol.Report{ID: 1, Item: raw(`"b"`)})
	w.At(w.Worker, protocol.Reply{ID: 1, Result: raw(`"ab"`)})
	require.Equal(t, []string{
		`task 1 model:TEXT 1 follows=true validate=false handler=0`, "progress 1 ", `progress 1 "a"`, "abandon 1", `dropped late-callback "b"`,
	}, w.Says())

	w.At(w.Host, protocol.Invoke{ID: 2, Call: text, Follows: true})
	w.At(w.Host, protocol.Cancel{ID: 2})
	require.Len(t, w.Says(), 1, "there is no stream to leave yet")
	w.At(w.Worker, protocol.Report{ID: 2, Item: raw(`"a"`)})
	require.Equal(t, []string{"dropped late-answer 2", "abandon 2", `dropped late-answer stream-chunk "stream:2"`}, w.Says())
	w.At(w.Worker, protocol.Reply{ID: 2, Err: errors.New("x")})
	require.Empty(t, w.Says())

	w.At(w.Worker, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "useModel"}, Follows: true})
	w.At(w.Host, protocol.Report{ID: 1, Item: raw(`"x"`)})
	w.At(w.Worker, protocol.Cancel{ID: 1})
	w.At(w.Worker, protocol.Cancel{ID: 1})
	w.At(w.Host, protocol.Report{ID: 1, Item: raw(`"y"`)})
	w.At(w.Host, protocol.Reply{ID: 1, Result: raw(`"xy"`)})
	require.Equal(t, []string{`serve 1 useModel {} follows=true caller=lab`, `progress 1 "x"`, "abandon 1"}, w.Says())
}

// A stream that is left counts among the calls in flight until it is over; who leaves
// streams that are not there is not heard.
func TestEnds_streamsThatAreLeftAreBounded(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{MaxPending: 1})
	r.start(everything)
	const ask = `{"type":"host-rpc","requestId":1,"method":"useModel","args":{},"streamReply":true}`
	r.receive(ask)
	for _, id := range []string{`"host-stream:1"`, `"host-stream:2"`, `"stream:1"`, `1`, `null`, `"host-stream:"`, `"host-stream:-1"`} {
		require.Equal(t, []string{"dropped late-answer stream-end " + id}, r.receive(`{"type":"stream-end","streamId":`+id+`}`))
	}
	require.Equal(t, []string{"dropped late-answer stream-end "}, r.receive(`{"type":"stream-end"}`))
	r.step(protocol.Report{ID: 1, Item: raw(`1`)})
	require.Equal(t, []string{"abandon 1"}, r.receive(`{"type":"stream-end","streamId":"host-stream:1"}`))
	require.Equal(t, []string{`dropped late-answer stream-end "host-stream:1"`}, r.receive(`{"type":"stream-end","streamId":"host-stream:1"}`))
	require.Contains(t, r.receive(ask)[0], `"code":"overloaded"`)
	require.Empty(t, r.step(protocol.Reply{ID: 1}))
	require.Contains(t, r.receive(ask)[0], "serve 2 useModel")
	long := `"` + strings.Repeat("x", 300) + `"`
	require.Len(t, r.receive(`{"type":"worker-rpc-result","requestId":0,"ok":true,"streamId":`+long+`}`), 1)
}

func TestEnds_callbacksAndErrors(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Plugin: definition})
	w.start()
	w.At(w.Host, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "action:GREET", Input: raw(`{"message":{}}`)}, Follows: true})
	w.At(w.Worker, protocol.Report{ID: 1, Item: raw(`{"text":"one"}`)})
	w.At(w.Worker, protocol.Reply{ID: 1, Err: remoteError(raw(`{"name":"N","message":"m","code":"C","cause":{"message":"why"},"stack":"N: m\n    at x"}`))})
	w.At(w.Worker, protocol.Report{ID: 1})
	told := w.Says()
	require.Equal(t, []string{`progress 1 {"text":"one"}`, "complete 1 error m", "dropped late-callback "}, told[1:])

	w.At(w.Worker, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "getSetting", Input: raw(`{"key":"k"}`)}})
	w.At(w.Host, protocol.Reply{ID: 1, Err: &protocol.Error{Code: protocol.CodeTimeout, Message: "too slow"}})
	require.Equal(t, "complete 1 error too slow", w.Says()[1])
}

// What the host grants, it tells: then the worker keeps to it as well.
func TestEnds_grantsAreTold(t *testing.T) {
	w := newWire(t, Plugin{Granted: raw(`{"bun":{"read":true}}`)}, WorkerSettings{Plugin: definition})
	w.At(w.Host, protocol.Run{Step: protocol.StepSetup, Params: raw(`{"manifest":{"id":"lab"},"context":{"config":{}}}`)})
	require.Equal(t, []string{`started {"id":"lab"} {"config":{},"grantedPermissions":{"bun":{"read":true}}}`}, w.Says())
	w.At(w.Worker, Begin{})
	require.Equal(t, []string{"dropped denied action:GREET:1"}, rig{t, w.Worker}.receive(
		`{"type":"worker-rpc","requestId":1,"surface":"action","target":"action:GREET:1","args":{}}`)[:1])
}

func TestEnds_dynamic(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Plugin: Definition{Name: "p", Actions: []Action{{Name: "A"}}}})
	w.At(w.Host, protocol.Run{Step: protocol.StepSetup})
	w.At(w.Worker, Begin{})
	w.At(w.Worker, Initialized{Added: &Definition{Actions: []Action{{Name: "B"}}, Models: []string{"M"}}})
	require.Equal(t, []string{
		`offered action:A priority=0 "" `, `offered action:B priority=0 "" `, `offered model:M priority=0 "" `, "ran setup <nil>",
	}, w.Says(), "ids are not given again")

	w = newWire(t, Plugin{}, WorkerSettings{Plugin: definition})
	w.At(w.Host, protocol.Run{Step: protocol.StepSetup, Params: raw(`{"manifest":{"id":"lab"},"context":{"config":{}}}`)})
	require.Equal(t, []string{`started {"id":"lab"} {"config":{}}`}, w.Says())
	w.At(w.Worker, Begin{})
	w.At(w.Worker, Initialized{Err: errors.New("no key")})
	require.Contains(t, w.Says(), "ran setup no key")
}
