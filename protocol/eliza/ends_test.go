package eliza

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// wire joins our host's end and our worker's end by the lines that they write.
type wire struct {
	t            *testing.T
	host, worker protocol.Driver
	// told are the effects that are no frames, as lines, of both ends.
	told []string
}

func newWire(t *testing.T, p Plugin, s WorkerSettings) *wire {
	t.Helper()
	return &wire{t: t, host: newRig(t, p, protocol.Settings{}).d, worker: NewWorker(s)}
}

// at gives one end an input, and the other all that comes of it.
func (w *wire) at(end protocol.Driver, in protocol.Input) {
	w.t.Helper()
	other := w.worker
	if end == w.worker {
		other = w.host
	}
	for _, e := range end.Step(now, in, nil) {
		if s, ok := e.(protocol.Send); ok {
			w.at(other, protocol.Received{Message: decode(w.t, []byte(encode(w.t, s.Message)))})
			continue
		}
		w.told = append(w.told, rig{t: w.t}.line(e))
	}
}

// says takes what was told since the last time.
func (w *wire) says() []string {
	told := w.told
	w.told = nil
	return told
}

func (w *wire) start() {
	w.t.Helper()
	w.at(w.host, protocol.Run{Step: protocol.StepSetup})
	w.at(w.worker, Begin{})
	w.at(w.worker, Initialized{})
	require.Contains(w.t, w.says(), "ran setup <nil>")
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
		w.at(w.host, protocol.Invoke{ID: id, Call: protocol.Call{Key: c.key, Input: raw(c.input)}})
		require.Equal(t, []string{rig{t: t}.line(Task{})[:5] + number1(i+1) + " " + c.task}, w.says())
		w.at(w.worker, protocol.Reply{ID: protocol.RequestID(i + 1), Result: raw(c.reply)})
		require.Equal(t, []string{"complete " + number1(i+1) + " ok " + c.result}, w.says())
	}
}

func number1(n int) string { return string(number(uint64(n))) }

func TestEnds_events(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Plugin: definition})
	w.start()
	w.at(w.host, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "event:E", Input: raw(`"x"`)}})
	require.Equal(t, []string{
		`task 1 event:E "x" follows=false validate=false handler=0`, `task 2 event:E "x" follows=false validate=false handler=1`,
	}, w.says())
	w.at(w.worker, protocol.Reply{ID: 2, Result: raw(`"ignored"`)})
	w.at(w.worker, protocol.Reply{ID: 1})
	require.Equal(t, []string{"complete 1 ok null"}, w.says())
	w.at(w.worker, protocol.Emit{Event: protocol.Event{Name: "hello", Payload: raw(`1`)}})
	w.at(w.host, protocol.Emit{Event: protocol.Event{Name: "back"}})
	require.Equal(t, []string{"emitted hello 1", "emitted back "}, w.says())
}

func TestEnds_stream(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Plugin: definition})
	w.start()
	follow := func(id protocol.CallID) {
		w.at(w.host, protocol.Invoke{ID: id, Call: protocol.Call{Key: "model:TEXT"}, Follows: true})
	}
	follow(1)
	w.at(w.worker, protocol.Report{ID: 1, Item: raw(`"a"`)})
	w.at(w.worker, protocol.Report{ID: 1, Item: raw(`"b"`)})
	w.at(w.worker, protocol.Reply{ID: 1, Result: raw(`"ab"`)})
	require.Equal(t, []string{
		"task 1 model:TEXT null follows=true validate=false handler=0", "progress 1 ", `progress 1 "a"`, `progress 1 "b"`, `complete 1 ok "ab"`,
	}, w.says())
	follow(2)
	w.at(w.worker, protocol.Report{ID: 2, Item: raw(`1`)})
	w.at(w.worker, protocol.Reply{ID: 2, Err: errors.New("broken")})
	require.Equal(t, "complete 2 error broken", w.says()[3])

	w.at(w.worker, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "useModel", Input: raw(`{"modelType":"TEXT"}`)}, Follows: true})
	w.at(w.host, protocol.Report{ID: 1, Item: raw(`"x"`)})
	w.at(w.host, protocol.Reply{ID: 1, Result: raw(`"xy"`)})
	w.at(w.worker, protocol.Invoke{ID: 2, Call: protocol.Call{Key: "useModel"}, Follows: true})
	w.at(w.host, protocol.Report{ID: 2, Item: raw(`"x"`)})
	w.at(w.host, protocol.Reply{ID: 2, Err: errors.New("late")})
	require.Equal(t, []string{
		`serve 1 useModel {"modelType":"TEXT"} follows=true caller=lab`, `progress 1 "x"`, `complete 1 ok "xy"`,
		`serve 2 useModel {} follows=true caller=lab`, `progress 2 "x"`, `complete 2 error late`,
	}, w.says())
}

func TestEnds_callbacksAndErrors(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Plugin: definition})
	w.start()
	w.at(w.host, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "action:GREET", Input: raw(`{"message":{}}`)}, Follows: true})
	w.at(w.worker, protocol.Report{ID: 1, Item: raw(`{"text":"one"}`)})
	w.at(w.worker, protocol.Reply{ID: 1, Err: remoteError(raw(`{"name":"N","message":"m","code":"C","cause":{"message":"why"},"stack":"N: m\n    at x"}`))})
	w.at(w.worker, protocol.Report{ID: 1})
	told := w.says()
	require.Equal(t, []string{`progress 1 {"text":"one"}`, "complete 1 error m", "dropped late-callback "}, told[1:])

	w.at(w.worker, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "getSetting", Input: raw(`{"key":"k"}`)}})
	w.at(w.host, protocol.Reply{ID: 1, Err: &protocol.Error{Code: protocol.CodeTimeout, Message: "too slow"}})
	require.Equal(t, "complete 1 error too slow", w.says()[1])
}

func TestEnds_dynamic(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Plugin: Definition{Name: "p", Actions: []Action{{Name: "A"}}}})
	w.at(w.host, protocol.Run{Step: protocol.StepSetup})
	w.at(w.worker, Begin{})
	w.at(w.worker, Initialized{Added: &Definition{Actions: []Action{{Name: "B"}}, Models: []string{"M"}}})
	require.Equal(t, []string{
		`offered action:A priority=0 "" `, `offered action:B priority=0 "" `, `offered model:M priority=0 "" `, "ran setup <nil>",
	}, w.says(), "ids are not given again")

	w = newWire(t, Plugin{}, WorkerSettings{Plugin: definition})
	w.at(w.host, protocol.Run{Step: protocol.StepSetup, Params: raw(`{"manifest":{"id":"lab"},"context":{"config":{}}}`)})
	require.Equal(t, []string{`started {"id":"lab"} {"config":{}}`}, w.says())
	w.at(w.worker, Begin{})
	w.at(w.worker, Initialized{Err: errors.New("no key")})
	require.Contains(t, w.says(), "ran setup no key")
}
