package eliza

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// rig drives one end and tells what it does as lines.
type rig struct {
	t *testing.T
	d protocol.Driver
}

func newRig(t *testing.T, p Plugin, s protocol.Settings) rig {
	t.Helper()
	if s.Plugin == "" {
		s.Plugin = "lab"
	}
	return rig{t, Dialect{Plugin: func(protocol.Settings) Plugin { return p }}.NewDriver(s)}
}

// line is an effect as a line.
func (r rig) line(e protocol.Effect) string {
	r.t.Helper()
	switch e := e.(type) {
	case protocol.Send:
		return "send " + encode(r.t, e.Message)
	case protocol.Complete:
		if e.Err != nil {
			return fmt.Sprintf("complete %d error %v", e.ID, e.Err)
		}
		return fmt.Sprintf("complete %d ok %s", e.ID, e.Result)
	case protocol.Progress:
		return fmt.Sprintf("progress %d %s", e.ID, e.Item)
	case protocol.Serve:
		return fmt.Sprintf("serve %d %s %s follows=%v caller=%s", e.ID, e.Call.Key, e.Call.Input, e.Follows, e.Call.Caller)
	case Task:
		return fmt.Sprintf("task %d %s %s follows=%v validate=%v handler=%d", e.ID, e.Call.Key, e.Call.Input, e.Follows, e.IsValidate, e.Handler)
	case protocol.Ran:
		return fmt.Sprintf("ran %s %v", e.Step, e.Err)
	case protocol.Offered:
		return fmt.Sprintf("offered %s priority=%d %q %s", e.Offer.Key, e.Offer.Priority, e.Offer.Description, e.Offer.Metadata)
	case protocol.Retracted:
		return "retracted " + e.Key
	case protocol.Dropped:
		return "dropped " + e.What + " " + e.Detail
	case protocol.Logged:
		return fmt.Sprintf("logged %s %s", e.Level, e.Message)
	case protocol.Emitted:
		payload, _ := e.Event.JSON()
		return fmt.Sprintf("emitted %s %s", e.Event.Name, payload)
	case protocol.Abandon:
		return fmt.Sprintf("abandon %d", e.ID)
	case protocol.Fail:
		return "fail " + e.Err.Error()
	case Started:
		return fmt.Sprintf("started %s %s", e.Manifest, e.Context)
	}
	return fmt.Sprintf("%T", e)
}

func (r rig) step(in protocol.Input) (lines []string) {
	r.t.Helper()
	for _, e := range r.d.Step(now, in, nil) {
		lines = append(lines, r.line(e))
	}
	return lines
}

func (r rig) receive(frame string) []string {
	r.t.Helper()
	return r.step(protocol.Received{Message: decode(r.t, []byte(frame))})
}

func (r rig) call(id protocol.CallID, key, input string) []string {
	r.t.Helper()
	return r.step(protocol.Invoke{ID: id, Call: protocol.Call{Key: key, Input: raw(input)}})
}

// start announces and passes through init.
func (r rig) start(descriptor string) {
	r.t.Helper()
	require.Empty(r.t, r.step(protocol.Run{Step: protocol.StepSetup}))
	r.receive(`{"type":"worker-announce-plugin","descriptor":` + descriptor + `}`)
	require.Equal(r.t, []string{"ran setup <nil>"}, r.receive(`{"type":"init-complete"}`))
}

const everything = `{"name":"p","priority":3,
	"actions":[{"name":"GREET","handler":{"rpc":true,"id":"a1"},"similes":["HI"],"description":"greets","validate":{"rpc":true,"id":"a2"}}],
	"providers":[{"name":"TIME","get":{"rpc":true,"id":"p1"},"dynamic":true}],
	"models":{"TEXT":{"rpc":true,"id":"m1"}},
	"events":{"E":[{"rpc":true,"id":"e1"},{"rpc":true,"id":"e2"}],"NONE":[]},
	"services":[{"serviceType":"clock","rpcMethods":["now","hidden"],"capabilityDescription":"time","rpc:now":{"rpc":true,"id":"s1"},"rpc:secret":{"rpc":true,"id":"s2"}}],
	"evaluators":[{"name":"SCORE","handler":{"rpc":true,"id":"v1"}}],
	"routes":[{"path":"/items/:id","type":"POST","routeHandler":{"rpc":true,"id":"r1"},"name":"items"},{"path":"bare","routeHandler":{"rpc":true,"id":"r2"}},
		{"path":"/s","type":"STATIC","routeHandler":{"rpc":true,"id":"r3"}},{"path":"/told"}]}`

func TestDriver_offersWhatIsAnnounced(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Equal(t, []string{`send {"type":"init","manifest":{"id":"lab"},"context":{"config":{}}}`},
		r.step(protocol.Run{Step: protocol.StepSetup, Params: raw(`{"manifest":{"id":"lab"},"context":{"config":{}}}`)}))
	require.Equal(t, []string{
		"dropped announcement the static endpoint /s is not served",
		`offered action:GREET priority=3 "greets" {"similes":["HI"],"validate":"action:GREET.validate"}`,
		`offered action:GREET.validate priority=3 "Whether action GREET fits." `,
		`offered provider:TIME priority=3 "" {"dynamic":true}`,
		`offered model:TEXT priority=3 "" `,
		`offered event:E priority=3 "" `,
		`offered service:clock.now priority=3 "time" `,
		`offered evaluator:SCORE priority=3 "" `,
		`offered http:POST /items/:id priority=3 "" {"name":"items"}`,
		`offered http:GET /bare priority=3 "" `,
	}, r.receive(`{"type":"worker-announce-plugin","descriptor":`+everything+`}`))
	require.Equal(t, []string{"complete 1 error model:TEXT was not called: its plugin is not initialized"}, renamed(r.call(1, "model:TEXT", `1`)))
	require.Equal(t, []string{"ran init step init was asked for while setup runs; a worker passes through one step at a time"},
		renamed(r.step(protocol.Run{Step: protocol.StepInit})))
	require.Equal(t, []string{"ran setup <nil>"}, r.receive(`{"type":"init-complete"}`))
	require.Equal(t, []string{"dropped other-frame init-complete"}, r.receive(`{"type":"init-complete"}`))
	require.Equal(t, []string{"ran setup <nil>"}, r.step(protocol.Run{Step: protocol.StepSetup}), "a changed configuration")
	require.Equal(t, []string{"ran stop <nil>"}, r.step(protocol.Run{Step: protocol.StepStop}))
	require.Equal(t, []string{"dropped announcement worker-announce-plugin came twice: the first one counts"},
		r.receive(`{"type":"worker-announce-plugin","descriptor":{"name":"q"}}`))
}

// renamed takes the plugin's name off a failure.
func renamed(lines []string) []string {
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "plugin lab: ", "")
	}
	return lines
}

func TestDriver_callsByKind(t *testing.T) {
	for _, c := range []struct{ key, input, surface, id, args, answer, result string }{
		{
			"action:GREET", `{"params":{"text":"hi","n":1}}`, "action", "a1",
			`{"message":{"entityId":"airi-host","roomId":"airi-host","content":{"text":"hi","source":"airi-host"}},"state":{},"options":{"text":"hi","n":1},"responses":null,"callbackId":"action-callback:1"}`,
			`{"success":true,"more":1}`, `{"success":true,"more":1}`,
		},
		{
			"action:GREET", `{"params":{"n":1},"message":{"id":"m"},"state":{"s":1},"options":{"o":1},"responses":[1]}`, "action", "a1",
			`{"message":{"id":"m"},"state":{"s":1},"options":{"o":1},"responses":[1],"callbackId":"action-callback:1"}`, `null`, `null`,
		},
		{
			"action:GREET", ``, "action", "a1",
			`{"message":{"entityId":"airi-host","roomId":"airi-host","content":{"text":"","source":"airi-host"}},"state":{},"options":null,"responses":null,"callbackId":"action-callback:1"}`,
			`null`, `null`,
		},
		{"action:GREET.validate", `{"message":{"id":"m"}}`, "action", "a2", `{"message":{"id":"m"},"state":{}}`, `"yes"`, `true`},
		{"action:GREET.validate", `{"message":{"id":"m"}}`, "action", "a2", `{"message":{"id":"m"},"state":{}}`, `0`, `false`},
		{"provider:TIME", `{"message":{},"state":{"a":1}}`, "provider", "p1", `{"message":{},"state":{"a":1}}`, `{"text":"noon"}`, `{"text":"noon"}`},
		{"evaluator:SCORE", `{"message":{}}`, "evaluator", "v1", `{"message":{},"state":{}}`, `[1]`, `[1]`},
		{"model:TEXT", `"prompt"`, "model", "m1", `{"params":"prompt"}`, `"text"`, `"text"`},
		{"model:TEXT", ``, "model", "m1", `{"params":null}`, `9007199254740993`, `9007199254740993`},
		{"service:clock.now", `["UTC",null]`, "service", "s1", `{"args":["UTC",null]}`, `1`, `1`},
		{"service:clock.now", `{"tz":1}`, "service", "s1", `{"args":[{"tz":1}]}`, `1`, `1`},
		{"service:clock.now", ``, "service", "s1", `{"args":[]}`, `null`, `null`},
		{
			"http:POST /items/:id", `{"params":{"id":"7"},"body":[1]}`, "route", "r1",
			`{"ctx":{"method":"POST","path":"/items/:id","params":{"id":"7"},"query":{},"headers":{},"body":[1]}}`,
			`{"status":201,"extra":1}`, `{"status":201,"headers":{},"body":null}`,
		},
		{
			"http:GET /bare", ``, "route", "r2", `{"ctx":{"method":"GET","path":"/bare","params":{},"query":{},"headers":{},"body":null}}`,
			`{"status":200,"headers":{"a":"b"},"body":"x"}`, `{"status":200,"headers":{"a":"b"},"body":"x"}`,
		},
	} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		r.start(everything)
		n := "1"
		if strings.Contains(c.args, "callbackId") {
			n = "2"
		}
		require.Equal(t, []string{`send {"type":"worker-rpc","requestId":` + n + `,"surface":"` + c.surface + `","target":"` + c.id + `","args":` + c.args + `}`},
			r.call(9, c.key, c.input), "%s %s", c.key, c.input)
		require.Equal(t, []string{"complete 9 ok " + c.result},
			r.receive(`{"type":"worker-rpc-result","requestId":`+n+`,"ok":true,"payload":`+c.answer+`}`), c.key)
	}
}

// What completes a call is lent to whoever lends what comes.
func TestDriver_lendsWhatCompletesACall(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	var first protocol.Effect
	for n := protocol.CallID(1); n <= 2; n++ {
		r.call(n, "model:TEXT", `{"a":1}`)
		answer := decode(t, fmt.Appendf(nil, `{"type":"worker-rpc-result","requestId":%d,"ok":true,"payload":"r%d"}`, n, n))
		out := r.d.Step(now, &protocol.Received{Message: answer}, nil)
		require.Equal(t, []protocol.Effect{&protocol.Complete{ID: n, Result: fmt.Appendf(nil, `"r%d"`, n)}}, out)
		if first == nil {
			first = out[0]
		}
		require.Same(t, first, out[0], "it is written over")
	}
	r.call(3, "model:TEXT", `{}`)
	require.Equal(t, []string{`complete 3 ok "own"`}, r.receive(`{"type":"worker-rpc-result","requestId":3,"ok":true,"payload":"own"}`))
}

func TestDriver_tellsAllHandlersOfAnEvent(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	require.Equal(t, []string{
		`send {"type":"worker-rpc","requestId":1,"surface":"event","target":"e1","args":{"a":1}}`,
		`send {"type":"worker-rpc","requestId":2,"surface":"event","target":"e2","args":{"a":1}}`,
	}, r.call(5, "event:E", `{"a":1}`))
	require.Empty(t, r.receive(`{"type":"worker-rpc-result","requestId":2,"ok":false,"error":{"name":"E","message":"boom"}}`))
	require.Equal(t, []string{"complete 5 error boom"}, r.receive(`{"type":"worker-rpc-result","requestId":1,"ok":true,"payload":null}`))
	require.Equal(t, []string{"dropped late-answer 1"}, r.receive(`{"type":"worker-rpc-result","requestId":1,"ok":true,"payload":null}`))
	require.Len(t, r.call(6, "event:E", ``), 2)
	require.Empty(t, r.step(protocol.Cancel{ID: 6}))
	require.Equal(t, []string{"dropped late-answer 4"}, r.receive(`{"type":"worker-rpc-result","requestId":4,"ok":true}`))
}

func TestDriver_tellsWhatAnActionSays(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "action:GREET"}, Follows: true})
	require.Equal(t, []string{`progress 1 {"text":"one"}`}, r.receive(`{"type":"worker-action-callback","callbackId":"action-callback:1","payload":{"text":"one"}}`))
	require.Equal(t, []string{`progress 1 null`}, r.receive(`{"type":"worker-action-callback","callbackId":"action-callback:1"}`))
	require.Equal(t, []string{`dropped late-callback "none"`}, r.receive(`{"type":"worker-action-callback","callbackId":"none"}`))
	require.Equal(t, []string{"complete 1 ok null"}, r.receive(`{"type":"worker-rpc-result","requestId":2,"ok":true}`))
	require.Equal(t, []string{`dropped late-callback "action-callback:1"`}, r.receive(`{"type":"worker-action-callback","callbackId":"action-callback:1"}`))
	r.call(2, "action:GREET", ``)
	require.Equal(t, []string{`progress 2 `}, r.receive(`{"type":"worker-action-callback","callbackId":"action-callback:3","payload":1}`), "a sign of life")
}

func TestDriver_streamsModels(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	require.Equal(t, []string{`send {"type":"worker-rpc","requestId":1,"surface":"model","target":"m1","args":{"params":1},"streamReply":true}`},
		r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "model:TEXT", Input: raw(`1`)}, Follows: true}))
	require.Equal(t, []string{"progress 1 "}, r.receive(`{"type":"worker-rpc-result","requestId":1,"ok":true,"streamId":"s"}`))
	require.Equal(t, []string{`progress 1 "a"`}, r.receive(`{"type":"stream-chunk","streamId":"s","chunk":"a"}`))
	require.Equal(t, []string{`progress 1 null`}, r.receive(`{"type":"stream-chunk","streamId":"s"}`))
	require.Equal(t, []string{`complete 1 ok "ab"`}, r.receive(`{"type":"stream-end","streamId":"s","value":"ab"}`))
	require.Equal(t, []string{`dropped late-answer stream-chunk "s"`}, r.receive(`{"type":"stream-chunk","streamId":"s","chunk":"a"}`))
	require.Equal(t, []string{`dropped late-answer stream-end "s"`}, r.receive(`{"type":"stream-end","streamId":"s"}`))

	r.step(protocol.Invoke{ID: 2, Call: protocol.Call{Key: "model:TEXT"}, Follows: true})
	require.Equal(t, []string{`complete 2 ok "plain"`}, r.receive(`{"type":"worker-rpc-result","requestId":2,"ok":true,"payload":"plain"}`), "a worker that does not stream")
	for id, end := range map[protocol.CallID]string{3: `,"error":{"name":"E","message":"broken"}`, 4: ``} {
		r.step(protocol.Invoke{ID: id, Call: protocol.Call{Key: "model:TEXT"}})
		r.receive(fmt.Sprintf(`{"type":"worker-rpc-result","requestId":%d,"ok":true,"streamId":1}`, r.d.(*driver).last))
		require.Equal(t, []string{fmt.Sprintf("progress %d ", id)}, r.receive(`{"type":"stream-chunk","streamId":1,"chunk":"a"}`), "nobody follows")
		got := r.receive(`{"type":"stream-end","streamId":1` + end + `}`)
		if end == "" {
			require.Equal(t, []string{"complete 4 ok null"}, got)
		} else {
			require.Equal(t, []string{"complete 3 error broken"}, got)
		}
	}
	r.step(protocol.Invoke{ID: 7, Call: protocol.Call{Key: "model:TEXT"}})
	r.receive(fmt.Sprintf(`{"type":"worker-rpc-result","requestId":%d,"ok":true,"streamId":1}`, r.d.(*driver).last))
	r.step(protocol.Invoke{ID: 8, Call: protocol.Call{Key: "model:TEXT"}})
	require.Contains(t, r.receive(fmt.Sprintf(`{"type":"worker-rpc-result","requestId":%d,"ok":true,"streamId":1}`, r.d.(*driver).last))[0],
		"complete 8 error plugin lab: model:TEXT was answered as the stream 1: expected a short id that is not in use")
	require.Equal(t, []string{`send {"type":"stream-end","streamId":1,"error":{"name":"AbortError","message":"nobody takes this stream any more","code":"cancelled"}}`},
		r.step(protocol.Cancel{ID: 7}), "the worker need not go on")
	require.Equal(t, []string{`dropped late-answer stream-chunk 1`}, r.receive(`{"type":"stream-chunk","streamId":1,"chunk":"a"}`))
}

func TestDriver_refusesWhatItCannotCall(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{MaxPending: 1})
	r.start(everything)
	for _, key := range []string{
		"action:NONE", "service:clock.hidden", "service:clock.secret", "http:STATIC /s", "http:GET /told", "event:NONE", "eliza:x", "eliza:bogus a1",
	} {
		require.Equal(t, []string{"complete 1 error " + key + ": plugin lab has announced no such thing"}, r.call(1, key, ``))
	}
	require.Equal(t, []string{"complete 1 error plugin lab: the input of action:GREET: expected an object, got an array"}, r.call(1, "action:GREET", `[]`))
	require.Len(t, r.call(1, "model:TEXT", ``), 1)
	require.Equal(t, []string{"complete 2 error plugin lab: 1 calls are in flight and the limit is 1: call model:TEXT again later"}, r.call(2, "model:TEXT", ``))
	require.Equal(t, []string{`complete 1 error plugin lab: model:TEXT was answered under the id "1", a string; expected the number 1`},
		r.receive(`{"type":"worker-rpc-result","requestId":"1","ok":true}`))
	for _, id := range []string{`"1"`, `2`, `null`, `true`, `{}`} {
		require.Equal(t, []string{"dropped unknown-call " + id}, r.receive(`{"type":"worker-rpc-result","requestId":`+id+`,"ok":true}`))
	}
	require.Equal(t, []string{"dropped unknown-call "}, r.receive(`{"type":"worker-rpc-result","ok":true}`))
	r.call(3, "model:TEXT", ``)
	require.Equal(t, []string{`complete 3 error plugin lab: model:TEXT was answered without "ok": expected true or false, got nothing`},
		r.receive(`{"type":"worker-rpc-result","requestId":2}`))
	require.Equal(t, []string{`send {"type":"worker-rpc","requestId":3,"surface":"action","target":"a2","args":{"message":1}}`},
		r.call(4, "eliza:action a2", `{"message":1}`))
	require.True(t, Dialect{}.Answers(protocol.Call{Key: "eliza:action a2"}))
	require.False(t, Dialect{}.Answers(protocol.Call{Key: "eliza:action a2", Caller: "other"}))
	require.False(t, Dialect{}.Answers(protocol.Call{Key: "action:GREET"}))
}

func TestDriver_signsAndGates(t *testing.T) {
	var denied []Denial
	p := Plugin{Key: []byte("k"), Granted: raw(`{"bun":{"read":true}}`), Denied: func(d Denial) { denied = append(denied, d) }}
	r := newRig(t, p, protocol.Settings{})
	r.start(everything)
	out := r.d.Step(now, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "model:TEXT", Input: raw(`{"b":1,"a":2}`)}}, nil)
	sent, ok := out[0].(protocol.Send)
	require.True(t, ok)
	rpc, ok := decode(t, []byte(encode(t, sent.Message))).(RPC)
	require.True(t, ok)
	require.True(t, Verify(p.Key, rpc))
	require.Equal(t, []string{"complete 2 error plugin lab: the input of model:TEXT cannot be signed: RPC MAC args must contain only finite numbers"},
		r.call(2, "model:TEXT", `1e400`))
	require.Equal(t, []string{
		"dropped denied plugin lab is not granted bun:run | host:*, which action:GREET needs: grant it in the host's settings",
		"complete 3 error plugin lab is not granted bun:run | host:*, which action:GREET needs: grant it in the host's settings",
	}, r.call(3, "action:GREET", ``))
	require.Equal(t, []string{
		"dropped denied setSetting",
		`send {"type":"host-rpc-result","requestId":7,"ok":false,"error":{"name":"PermissionDeniedError","message":"Plugin lab not granted permission for host-rpc setSetting: it needs bun:write | host:*","code":"PERMISSION_DENIED"}}`,
	}, r.receive(`{"type":"host-rpc","requestId":7,"api":"runtime","method":"setSetting","args":{}}`))
	require.Equal(t, []Denial{
		{Plugin: "lab", Surface: "action", Target: "a1", Permission: "bun:run | host:*"},
		{Plugin: "lab", Surface: "runtime", Target: "setSetting", Permission: "bun:write | host:*"},
	}, denied)
}

func TestDriver_servesTheRuntime(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{MaxPending: 3})
	for i, id := range []string{`1`, `"x y"`, `9007199254740993`} {
		require.Equal(t, []string{fmt.Sprintf(`serve %d getSetting {"key":"k"} follows=false caller=lab`, i+1)},
			r.receive(`{"type":"host-rpc","requestId":`+id+`,"api":"other","method":"getSetting","args":{"key":"k"}}`))
	}
	require.Contains(t, r.receive(`{"type":"host-rpc","requestId":4,"method":"getSetting"}`)[0], `"code":"overloaded"`)
	require.Equal(t, []string{`send {"type":"host-rpc-result","requestId":9007199254740993,"ok":true,"payload":"v"}`},
		r.step(protocol.Reply{ID: 3, Result: raw(`"v"`)}))
	require.Equal(t, []string{`send {"type":"host-rpc-result","requestId":"x y","ok":true,"payload":null}`}, r.step(protocol.Reply{ID: 2}))
	require.Equal(t, []string{`send {"type":"host-rpc-result","requestId":"x y","ok":false,"error":{"name":"Error","message":"too long"}}`},
		r.step(protocol.Reply{ID: 2, Err: errors.New("too long")}), "what could not be sent")
	require.Equal(t, []string{`send {"type":"host-rpc-result","requestId":1,"ok":false,"error":{"name":"Error","message":"no","code":"denied"}}`},
		r.step(protocol.Reply{ID: 1, Err: &protocol.Error{Code: protocol.CodeDenied, Message: "no"}}))
	require.Empty(t, r.step(protocol.Reply{ID: 1}))
	require.Equal(t, []string{`dropped request-without-id "getSetting"`}, r.receive(`{"type":"host-rpc","method":"getSetting"}`))
	for _, method := range []string{`,"method":5`, ``, `,"method":"tool:greet"`} {
		require.Contains(t, r.receive(`{"type":"host-rpc","requestId":null` + method + `}`)[0], `"requestId":null,"ok":false,"error":{"name":"UnsupportedMethodError"`)
	}
	r.receive(`{"type":"host-rpc","requestId":5,"method":"nope","args":{}}`)
	require.Contains(t, r.step(protocol.Reply{ID: 4, Err: &protocol.Error{Code: protocol.CodeNotFound}})[0],
		`"message":"Unsupported host-rpc method: nope. This host supports getService, `)

	require.Equal(t, []string{`serve 5 useModel {} follows=true caller=lab`}, r.receive(`{"type":"host-rpc","requestId":6,"method":"useModel","args":{},"streamReply":true}`))
	require.Equal(t, []string{
		`send {"type":"host-rpc-result","requestId":6,"ok":true,"streamId":"host-stream:5"}`, `send {"type":"stream-chunk","streamId":"host-stream:5","chunk":"a"}`,
	}, r.step(protocol.Report{ID: 5, Item: raw(`"a"`)}))
	require.Equal(t, []string{`send {"type":"stream-end","streamId":"host-stream:5","value":"ab"}`}, r.step(protocol.Reply{ID: 5, Result: raw(`"ab"`)}))
	require.Empty(t, r.step(protocol.Report{ID: 5}))
}

func TestDriver_auditsWhatTheWorkerTakesForUnsigned(t *testing.T) {
	var denied []Denial
	r := newRig(t, Plugin{Key: []byte("k"), Denied: func(d Denial) { denied = append(denied, d) }}, protocol.Settings{})
	r.start(everything)
	r.call(1, "event:E", `1`)
	r.call(2, "model:TEXT", ``)
	const refused = `,"ok":false,"error":{"name":"RpcAuthError","message":"no","code":"RPC_AUTH_FAILED"}}`
	r.receive(`{"type":"worker-rpc-result","requestId":2` + refused)
	r.receive(`{"type":"worker-rpc-result","requestId":1,"ok":true}`)
	want := []Denial{{Plugin: "lab", Surface: "event", Target: "e2", Reason: "the worker of plugin lab refused the signature of a call: no"}}
	require.Equal(t, want, denied)
	for _, other := range []string{`{"name":"RpcAuthError","message":"no"}`, `{"name":"RpcAuthError","message":"no","code":"RPC_AUTH_FAILED","stack":"of another one"}`, `"no"`} {
		r.receive(`{"type":"worker-rpc-result","requestId":3,"ok":false,"error":` + other + `}`)
		require.Equal(t, want, denied)
		r.call(3, "model:TEXT", ``)
	}
}

func TestDriver_signsWhatIsWritten(t *testing.T) {
	r := newRig(t, Plugin{Key: []byte("k")}, protocol.Settings{})
	r.start(everything)
	for _, e := range r.d.Step(now, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "model:TEXT", Input: raw("\"a\xff\xfe\"")}}, nil) {
		s, ok := e.(protocol.Send)
		require.True(t, ok)
		rpc, ok := decode(t, []byte(encode(t, s.Message))).(RPC)
		require.True(t, ok)
		require.True(t, Verify([]byte("k"), rpc))
	}
}

func TestDriver_boundsWhatAWorkerAsks(t *testing.T) {
	r := newRig(t, Plugin{Handles: func(m string) bool { return m == "getSetting" }}, protocol.Settings{})
	d, _ := r.d.(*driver)
	d.requests.Add(request{}, MaxAsked)
	require.Contains(t, r.receive(`{"type":"host-rpc","requestId":1,"method":"getSetting","args":{}}`)[0], "the limit is 268435456: call getSetting again later")
	require.Contains(t, r.receive(`{"type":"host-rpc","requestId":1,"method":"useModel","args":{}}`)[0], "Unsupported host-rpc method: useModel")
	r.step(protocol.Reply{ID: 1})
	require.Contains(t, r.receive(`{"type":"host-rpc","requestId":1,"method":"getSetting","args":{}}`)[0], "serve 2 getSetting")
	r.step(protocol.Reply{ID: 2, Err: &protocol.Error{Code: protocol.CodeNotFound, Message: "no such key"}})
	require.NoError(t, d.requests.Refusal(protocol.Settings{}, "x", 2*MaxAsked), "nothing of them is counted any more")
}

func TestDriver_readsDescriptorsAsTheReference(t *testing.T) {
	var v struct {
		Calls [][2]json.RawMessage
	}
	data, err := os.ReadFile("testdata/transcripts/bridge-10-bad-descriptors.result.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	require.NotEmpty(t, v.Calls)
	for _, c := range v.Calls {
		got, err := readDescriptor(c[0])
		if plugin := member(c[1], "plugin"); plugin != nil {
			require.NoError(t, err, "%s", c[0])
			require.Equal(t, textOf(member(plugin, "name")), got.name)
			continue
		}
		require.Error(t, err, "%s", c[0])
		words := textOf(member(member(c[1], "rejected"), "message"))
		if !strings.Contains(words, "[") || strings.HasPrefix(words, "[RemotePluginBridge]") {
			require.EqualError(t, err, strings.TrimPrefix(words, "[RemotePluginBridge] "))
		} else {
			require.Regexp(t, `^descriptor[^:]*: expected .*, got `, err.Error()) // in our words: field, what was expected
		}
	}
	got, err := readDescriptor(raw(`{"name":"a","priority":"7","evaluators":[{"name":"E","handler":{"rpc":true,"id":"e"}}]}`))
	require.NoError(t, err)
	require.Equal(t, 7, got.entries[0].offer.Priority)
	require.Equal(t, "evaluator:E", got.entries[0].offer.Key)
}

func TestDriver_boundsAndChecksHandlers(t *testing.T) {
	models := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"M%d":{"rpc":true,"id":"m%d"}`, i, i)
		}
		return `{"name":"p","models":{` + strings.TrimPrefix(b.String(), ",") + `}}`
	}
	_, err := readDescriptor(raw(models(MaxHandlers)))
	require.NoError(t, err)
	_, err = readDescriptor(raw(models(MaxHandlers + 1)))
	require.EqualError(t, err, "descriptor.models.M4096: 4096 handlers are announced, the limit: announce fewer")
	_, err = readDescriptor(raw(`{"name":"p","models":{"A":{"rpc":true,"id":"x"},"B":{"rpc":true,"id":"x"}}}`))
	require.EqualError(t, err, `descriptor.models.B: the id "x" stands there twice: every handler has one of its own`)
	got, err := readDescriptor(raw(`{"name":"p","providers":[{"name":"A","get":{"rpc":true,"id":"x"}},{"name":"A","get":{"rpc":true,"id":"y"}}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"provider:A is announced twice: the first one counts"}, got.skipped)
	require.Len(t, got.entries, 1)
}

func TestDriver_refusesAnnouncements(t *testing.T) {
	const one = `{"type":"worker-announce-plugin","descriptor":{"name":"p","models":{"M":{"rpc":true,"id":"m"}}}}`
	for _, c := range []struct{ frames, why string }{
		{`{"type":"init-complete"}`, "plugin lab sent init-complete before it announced itself: expected worker-announce-plugin first"},
		{`{"type":"worker-announce-dynamic","descriptor":{"name":"p"}}`, "plugin lab: worker-announce-dynamic received before plugin announce"},
		{`{"type":"worker-announce-plugin"}`, "plugin lab: descriptor: expected an object, got nothing"},
		{one + "\n" + `{"type":"worker-announce-dynamic","descriptor":{"name":"q"}}`, "plugin lab: worker-announce-dynamic plugin mismatch: expected p, got q"},
		{
			one + "\n" + `{"type":"worker-announce-dynamic","descriptor":{"name":"p","models":{"N":{"rpc":true,"id":"m"}}}}`,
			"plugin lab: the handler m was announced for model:M and again by init, so that the first one can be called no more: let the plugin have it before its init, or give it another name",
		},
	} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		r.step(protocol.Run{Step: protocol.StepSetup})
		var last string
		for _, f := range strings.Split(c.frames, "\n") {
			lines := r.receive(f)
			last = lines[len(lines)-1]
		}
		require.Equal(t, "ran setup "+c.why, last)
		require.Contains(t, r.receive(one)[0], "dropped announcement worker-announce-plugin after a failed start")
		require.Contains(t, r.call(1, "model:M", ``)[0], "model:M was not called: its plugin's start has failed: "+c.why)
	}
}

func TestDriver_takesWhatAnActionSaysByACall(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(`{"name":"p","actions":[{"name":"A","handler":{"rpc":true,"id":"a"}}]}`)
	r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "action:A"}, Follows: true})
	got := r.receive(`{"type":"host-rpc","requestId":9,"api":"runtime","method":"actionCallback","args":{"callbackId":"action-callback:1","response":{"text":"x"},"actionName":null}}`)
	require.Equal(t, []string{`progress 1 {"text":"x"}`, `send {"type":"host-rpc-result","requestId":9,"ok":true,"payload":null}`}, got)
	got = r.receive(`{"type":"host-rpc","requestId":10,"api":"runtime","method":"actionCallback","args":{"callbackId":"other","response":1}}`)
	require.Contains(t, got[0], "serve 1 actionCallback")
}

func TestDriver_takesWhatIsAddedLater(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(`{"name":"p","events":{"E":[{"rpc":true,"id":"e1"}]},"models":{"M":{"rpc":true,"id":"m"}}}`)
	require.Equal(t, []string{"dropped announcement model:M is announced twice: the first one counts", `offered event:E priority=0 "" `},
		r.receive(`{"type":"worker-announce-dynamic","descriptor":{"name":"p","models":{"M":{"rpc":true,"id":"m2"}},"events":{"E":[{"rpc":true,"id":"e2"}]}}}`)[:2])
	require.Len(t, r.call(1, "event:E", ``), 2)
	got := r.receive(`{"type":"worker-announce-dynamic","descriptor":{"name":"p","models":{"N":{"rpc":true,"id":"m"}}}}`)
	require.Equal(t, "retracted model:M", got[0], "it can be called no more")
	require.Contains(t, got[1], "logged ERROR the announcement is refused: the handler m was announced for model:M")
	require.Contains(t, r.receive(`{"type":"worker-announce-dynamic","descriptor":[]}`)[0], "logged ERROR")
}

func TestDriver_startsThatFail(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.receive(`{"type":"worker-announce-plugin","descriptor":{"name":"p","models":{"M":{"rpc":true,"id":"m"}}}}`)
	require.Equal(t, []string{"retracted model:M"}, r.receive(`{"type":"event","name":"plugin.init.failed","payload":{"error":{"name":"E","message":"no\n key"}}}`))
	require.Equal(t, []string{"ran setup no key"}, r.step(protocol.Run{Step: protocol.StepSetup}), "it was faster than the question")
	require.Equal(t, []string{"dropped other-frame init-complete"}, r.receive(`{"type":"init-complete"}`))

	r = newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	require.Equal(t, []string{"emitted plugin.init.failed {}"}, r.receive(`{"type":"event","name":"plugin.init.failed","payload":{}}`), "too late to be one")
	require.Equal(t, []string{"emitted hello 1"}, r.receive(`{"type":"event","name":"hello","payload":1}`))
	require.Equal(t, []string{"dropped other-frame event without a name"}, r.receive(`{"type":"event","name":5}`))
	require.Equal(t, []string{`send {"type":"event","name":"x","payload":{"a":1}}`}, r.step(protocol.Emit{Event: protocol.Event{Name: "x", Payload: map[string]int{"a": 1}}}))
	require.Contains(t, r.step(protocol.Emit{Event: protocol.Event{Name: "x", Payload: make(chan int)}})[0], "dropped other-frame x:")
	for frame, what := range map[string]string{
		`{"type":"ready"}`: `{"type":"ready"}`, `{"type":"worker-rpc"}`: "worker-rpc", `{"type":"host-rpc-result","requestId":1}`: "host-rpc-result", `{"type":"init"}`: "init",
	} {
		require.Equal(t, []string{"dropped other-frame " + what}, r.receive(frame))
	}
}

func TestDriver_endsAtAMistakeOfFramingOnly(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Equal(t, []string{"logged INFO hello", "dropped stray-text hello"}, r.receive("hello"))
	require.Equal(t, []string{`fail plugin lab wrote text in front of a frame; expected every frame on a line of its own; what came is: x {"type":"init-complete"}`},
		r.receive(`x {"type":"init-complete"}`))
	logged := 0
	for range 10_000 {
		for _, e := range r.d.Step(now, protocol.Received{Message: Unreadable{Text: "x"}}, nil) {
			if _, ok := e.(protocol.Logged); ok {
				logged++
			}
		}
	}
	require.Less(t, logged, 10)
}

func TestDriver_freesAllAtTheEnd(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	r.call(2, "event:E", ``)
	r.call(1, "model:TEXT", ``)
	r.receive(`{"type":"host-rpc","requestId":1,"method":"getSetting","args":{}}`)
	require.Equal(t, []string{
		"complete 2 error plugin lab ended while the call of event:E was in flight; it may have run: gone",
		"complete 1 error plugin lab ended while the call of model:TEXT was in flight; it may have run: gone",
		"abandon 1",
	}, r.step(protocol.Closed{Err: errors.New("gone")}))
	require.Equal(t, []string{"complete 3 error plugin lab: not called: model:TEXT: the connection has ended"}, r.call(3, "model:TEXT", ``))
	require.Equal(t, []string{"ran stop plugin lab: not run: stop: the connection has ended"}, r.step(protocol.Run{Step: protocol.StepStop}))
	require.Empty(t, r.receive(`{"type":"init-complete"}`))

	r = newRig(t, Plugin{}, protocol.Settings{})
	r.step(protocol.Run{Step: protocol.StepSetup})
	require.Equal(t, []string{"ran setup plugin lab ended while the step setup was in flight; it may have run: gone"},
		r.step(protocol.Closed{Err: errors.New("gone")}))
}

func TestDriver_holdsResultsToTheirKinds(t *testing.T) {
	results := func(name string) (calls [][]json.RawMessage) {
		var v struct{ Calls [][]json.RawMessage }
		data, err := os.ReadFile("testdata/transcripts/bridge-" + name + ".result.json")
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &v))
		return v.Calls
	}
	targets := map[string]*target{
		`"provider"`: {surface: surfaceProvider, name: "P"}, `"route"`: {surface: surfaceRoute, name: "GET /r"},
		"": {surface: surfaceAction, name: "A"},
	}
	d := newDriver(Dialect{}, protocol.Settings{Plugin: "lab"})
	check := func(kind string, payload, said json.RawMessage) {
		_, err := targets[kind].result(d, payload)
		require.Equal(t, member(said, "rejected") == nil, err == nil, "%s %s: %v", kind, payload, err)
		if err != nil {
			require.Equal(t, protocol.CodeWire, protocol.CodeOf(err))
			require.ErrorContains(t, err, "of plugin lab: result")
		}
	}
	for _, c := range results("09-provider-route-results") {
		check(string(c[0]), c[1], c[2])
	}
	for _, c := range results("08-action-results") {
		if typeOf(c[0]) != "a string" || string(c[0]) == `"str"` { // the others name a frame, not a payload
			check("", c[0], c[1])
		}
	}
}

func TestDialect(t *testing.T) {
	d := Dialect{}
	require.Equal(t, "eliza", d.Name())
	require.Equal(t, codec{}, d.Codec())
	require.Nil(t, d.Narrate(protocol.Moment{}))
	params, err := d.Initialize(protocol.Birth{Manifest: raw(`{"id":"p"}`), Config: protocol.Config{Full: raw(`{"a":1}`)}})
	require.NoError(t, err)
	require.Equal(t, `{"manifest":{"id":"p"},"context":{"config":{"a":1}}}`, string(params))
	params, err = d.Initialize(protocol.Birth{})
	require.NoError(t, err)
	require.Equal(t, `{"manifest":null,"context":{"config":{}}}`, string(params))
	r := rig{t, d.NewDriver(protocol.Settings{})}
	require.Equal(t, []string{"ran load <nil>"}, r.step(protocol.Run{Step: protocol.StepLoad}))
	require.Empty(t, r.d.Step(time.Time{}, protocol.Fired{}, nil))
}

// Frames that the reference's bridge dies of, or that it passes over, end nothing here.
func TestDriver_outlivesBadEnvelopes(t *testing.T) {
	var v struct{ Calls [][]json.RawMessage }
	data, err := os.ReadFile("testdata/transcripts/bridge-11-envelopes.result.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &v))
	require.NotEmpty(t, v.Calls)
	for _, c := range v.Calls {
		r := newRig(t, Plugin{}, protocol.Settings{})
		r.start(everything)
		for _, line := range r.receive(string(c[0])) {
			require.NotContains(t, line, "fail ", "%s", c[0])
			require.NotContains(t, line, "complete ", "%s", c[0])
		}
		answers := 0
		eachItem(c[2], func(want json.RawMessage) {
			answers++
			id := string(member(want, "requestId"))
			if string(member(want, "ok")) == "true" {
				require.Equal(t, []string{`send {"type":"host-rpc-result","requestId":` + id + `,"ok":true,"payload":"v"}`}, r.step(protocol.Reply{ID: 1, Result: raw(`"v"`)}))
			} else {
				require.Contains(t, r.step(protocol.Reply{ID: 1, Err: &protocol.Error{Code: protocol.CodeNotFound}})[0], `"requestId":`+id+`,"ok":false`)
			}
		})
	}
}
