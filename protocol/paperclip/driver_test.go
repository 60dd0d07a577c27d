package paperclip

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// rig is a driver and the words to test it with.
type rig struct {
	t *testing.T
	d protocol.Driver
}

// newRig makes a host's end. Its ids are "id-1", "id-2" …
func newRig(t *testing.T, p Plugin, s protocol.Settings) rig {
	t.Helper()
	if s.Plugin == "" {
		s.Plugin = "lab"
	}
	n := 0
	return rig{t: t, d: Dialect{
		Plugin: func(protocol.Settings) Plugin { return p },
		NewID:  func() string { n++; return fmt.Sprintf("id-%d", n) },
	}.NewDriver(s)}
}

// step gives an input and returns the effects, each as one line; frames that are
// sent stand without their version.
func (r rig) step(in protocol.Input) []string {
	r.t.Helper()
	lines := []string{}
	for _, e := range r.d.Step(now, in, nil) {
		if _, denial := e.(protocol.Denied); denial { // TestGate_tellsWhatItDenies has these
			continue
		}
		if line := r.line(e); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (r rig) line(e protocol.Effect) string {
	r.t.Helper()
	switch e := e.(type) {
	case protocol.Send:
		return "send " + strings.Replace(encode(r.t, e.Message), `"jsonrpc":"2.0",`, "", 1)
	case protocol.Complete:
		return fmt.Sprintf("complete %d %s", e.ID, outcome(e.Result, e.Err))
	case protocol.Serve:
		return served(e)
	case Task:
		return strings.TrimSpace(served(e.Serve) + " " + e.Invocation)
	case protocol.Ran:
		return fmt.Sprintf("ran %s %s", e.Step, outcome(nil, e.Err))
	case protocol.Dropped:
		return "dropped " + e.What + " " + e.Detail
	case protocol.Offered:
		require.True(r.t, e.Offer.Invocable)
		return "offered " + e.Offer.Key
	case protocol.Logged:
		return strings.TrimSpace(fmt.Sprintf("logged %s %s %s", e.Level, e.Message, e.Meta))
	case protocol.Fail:
		return "fail " + e.Err.Error()
	case protocol.SetTimer:
		return "timer " + e.After.String()
	case protocol.Retracted:
		return "retracted " + e.Key
	case protocol.Chunk:
		return fmt.Sprintf("chunk %d %q", e.ID, e.Data)
	case protocol.RouteOpened:
		return fmt.Sprintf("opened %d", e.ID)
	case protocol.RouteRefused:
		return fmt.Sprintf("refused %d %s", e.ID, outcome(nil, e.Err))
	case protocol.RouteExited:
		return fmt.Sprintf("exited %d %s", e.ID, exitLine(e.Exit))
	case protocol.RouteEnded:
		return fmt.Sprintf("ended %d %s", e.ID, outcome(nil, e.Err))
	case protocol.RouteWritten:
		return fmt.Sprintf("written %d %d %d", e.ID, e.Writes, e.Bytes)
	case protocol.Retire:
		return "retire " + outcome(nil, e.Err)
	case Opening:
		return fmt.Sprintf("asked %d %s %s %s", e.ID, e.Route.Kind, e.Route.Scope, e.Route.Params)
	case protocol.Progress:
		return fmt.Sprintf("progress %d %s", e.ID, e.Item)
	case protocol.Streamed:
		return strings.TrimSpace(fmt.Sprintf("stream %d %s %s %s", e.What, e.Channel, e.Scope, e.Item))
	case protocol.StopTimer:
		return "" // TestRoutes_keepTheirPromisesWhateverComes has these
	default:
		return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T %v", e, e), "protocol."))
	}
}

func served(e protocol.Serve) string {
	words := []string{"serve", fmt.Sprint(e.ID), e.Call.Key, string(e.Call.Input)}
	for name, value := range map[string]string{"in": e.Call.Scope} {
		if value != "" {
			words = append(words, name, value)
		}
	}
	if e.Call.Trace != "" {
		words = append(words, "trace", e.Call.Trace)
	}
	if e.Call.Caller != "" {
		words = append(words, "for", e.Call.Caller)
	}
	return strings.Join(words, " ")
}

func outcome(result json.RawMessage, err error) string {
	if err == nil {
		return strings.TrimSpace("ok " + string(result))
	}
	if code := protocol.CodeOf(err); code != "" {
		return "error " + string(code) + ": " + err.Error()
	}
	return "error " + err.Error()
}

// receive gives a frame without its version.
func (r rig) receive(frame string) []string {
	r.t.Helper()
	return r.step(protocol.Received{Message: decode(r.t, []byte(`{"jsonrpc":"2.0",`+frame[1:]))})
}

func (r rig) invoke(id protocol.CallID, c protocol.Call) []string {
	r.t.Helper()
	return r.step(protocol.Invoke{ID: id, Call: c})
}

// call makes a call that is on its way then, for a company or for none.
func (r rig) call(id protocol.CallID, company string) {
	r.t.Helper()
	out := r.invoke(id, protocol.Call{Key: "data:k", Scope: company})
	require.Len(r.t, out, 1)
	require.Contains(r.t, out[0], "send ")
}

func (r rig) reply(id protocol.RequestID, result string, err error) []string {
	r.t.Helper()
	return r.step(protocol.Reply{ID: id, Result: raw(result), Err: err})
}

func TestDriver_countsWhatItDoesNotUse(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Equal(t, []string{`dropped unclassified {"jsonrpc":"2.0","id":null,"method":"x"}`}, r.receive(`{"id":null,"method":"x"}`))
	require.Empty(t, r.step(protocol.Received{Message: "text"}))
	require.Empty(t, r.step(protocol.Reply{ID: 9}))
	require.Empty(t, r.step(protocol.Cancel{ID: 9}))
	require.Empty(t, r.step(protocol.Fired{Timer: 7}))
}

func TestDriver_emitsWhatTheSDKKnows(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	emit := func(name string, payload any) []string {
		return r.step(protocol.Emit{Event: protocol.Event{Name: name, Payload: payload}})
	}
	require.Equal(t, []string{`send {"method":"agents.sessions.event","params":{"sessionId":"s","companyId":"c"}}`},
		emit("agents.sessions.event", raw(`{"sessionId":"s","companyId":"c"}`)))
	require.Equal(t, []string{
		"timer 15m0s",
		`send {"method":"onEvent","params":{"event":{"companyId":" c "}},"paperclipInvocation":{"id":"id-1","scope":{"companyId":"c"}}}`,
	}, emit("onEvent", raw(`{"event":{"companyId":" c "}}`)))
	require.Equal(t, []string{"dropped event module:status"}, emit("module:status", raw(`{}`)))
	require.Equal(t, []string{"dropped event onEvent"}, emit("onEvent", make(chan int)))
}

func TestDriver_refusesAllAfterTheEnd(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Empty(t, r.step(protocol.Closed{}))
	require.Equal(t, []string{"complete 1 error not-ready: plugin lab: not called: data:k: the connection has ended"},
		r.invoke(1, protocol.Call{Key: "data:k"}))
	require.Equal(t, []string{"ran stop error not-ready: plugin lab: not run: stop: the connection has ended"},
		r.step(protocol.Run{Step: protocol.StepStop}))
	require.Empty(t, r.receive(`{"id":1,"method":"config.get"}`))
	require.Empty(t, r.step(protocol.Closed{}))
}

func TestDriver_appendsToWhatIsThere(t *testing.T) {
	before := []protocol.Effect{protocol.Dropped{What: "before"}}
	after := Dialect{}.NewDriver(protocol.Settings{}).Step(now, protocol.Run{Step: protocol.StepInit}, before)
	require.Len(t, after, 2)
	require.Equal(t, before, after[:1])
}

// FuzzDriver gives a driver with calls, a step, an event and a request in flight
// any line at all: it takes it, and every promise is kept once at the end.
func FuzzDriver_received(f *testing.F) {
	recorded(f)
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":"1","result":1}`, `{"jsonrpc":"2.0","id":1.0,"error":5}`, `{"jsonrpc":"2.0","id":3,"result":{"ok":true,"supportedMethods":7}}`,
		`{"jsonrpc":"2.0","id":[],"method":"companies.list","params":[],"paperclipInvocationId":"id-1"}`, `x{"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","method":"log","params":{"level":7,"message":[],"meta":""}}`, `{"jsonrpc":"2.0","method":"log","params":5}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		messages, err := codec{}.Decode(record)
		require.NoError(t, err)
		r := newRig(t, Plugin{Company: "c", Grants: []string{"companies.read"}}, protocol.Settings{MaxPending: 2})
		step := func(in protocol.Input, out []protocol.Effect) []protocol.Effect { return r.d.Step(now, in, out) }
		out := step(protocol.Invoke{ID: 7, Call: protocol.Call{Key: "data:x"}}, nil)
		out = step(protocol.Invoke{ID: 8, Call: protocol.Call{Key: "tool:x"}}, out)
		out = step(protocol.Invoke{ID: 9, Call: protocol.Call{Key: "event:x"}}, out)
		out = step(protocol.Run{Step: protocol.StepSetup, Params: record}, out)
		out = step(protocol.Received{Message: Request{ID: raw("5"), Method: "log"}}, out)
		for range 3 {
			for _, m := range messages {
				out = step(protocol.Received{Message: m}, out)
			}
		}
		out = step(protocol.Reply{ID: 2, Result: record}, out)
		out = step(protocol.Fired{Timer: expiryTimer}, out)
		out = step(protocol.Closed{}, out)
		require.Equal(t, 3, count[protocol.Complete](out))
		require.Equal(t, 1, count[protocol.Ran](out))
		require.LessOrEqual(t, count[protocol.Serve](out), 3)
		require.GreaterOrEqual(t, count[protocol.Serve](out), count[protocol.Abandon](out))
	})
}

func count[T protocol.Effect](effects []protocol.Effect) int {
	n := 0
	for _, e := range effects {
		if _, ok := e.(T); ok {
			n++
		}
	}
	return n
}
