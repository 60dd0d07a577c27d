package airi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

var now = time.Unix(1_700_000_000, 0)

// rig is a driver and the words to test it with.
type rig struct {
	t *testing.T
	d *driver
}

func newRig(t *testing.T, s protocol.Settings) rig {
	t.Helper()
	if s.Plugin == "" {
		s.Plugin = "hello"
	}
	return rig{t: t, d: newDriver(s, Collecting{})}
}

// step gives an input and returns the effects, each as one line; frames that are
// sent stand as "ID BODY".
func (r rig) step(in protocol.Input) []string {
	r.t.Helper()
	lines := []string{}
	for _, e := range r.d.Step(now, in, nil) {
		lines = append(lines, r.line(e))
	}
	return lines
}

func (r rig) line(e protocol.Effect) string {
	r.t.Helper()
	switch e := e.(type) {
	case protocol.Send:
		f, ok := e.Message.(Frame)
		require.True(r.t, ok)
		return strings.TrimSpace("send " + f.ID + " " + string(f.Body))
	case protocol.Complete:
		return fmt.Sprintf("complete %d %s", e.ID, outcome(e.Result, e.Err))
	case protocol.Progress:
		return fmt.Sprintf("progress %d %s", e.ID, e.Item)
	case protocol.Serve:
		line := fmt.Sprintf("serve %d %s for %s %s", e.ID, e.Call.Key, e.Call.Caller, e.Call.Input)
		if e.Feeds {
			line += "fed "
		}
		if e.Follows {
			line += "followed"
		}
		return strings.TrimSpace(line)
	case protocol.Fed:
		return fmt.Sprintf("fed %d %s", e.ID, e.Item)
	case protocol.FedEnd:
		return fmt.Sprintf("fed end %d %s", e.ID, outcome(nil, e.Err))
	case protocol.Ran:
		return fmt.Sprintf("ran %s %s", e.Step, outcome(nil, e.Err))
	case protocol.Emitted:
		payload, err := e.Event.JSON()
		require.NoError(r.t, err)
		return strings.TrimSpace("emitted " + e.Event.Name + " " + string(payload))
	case protocol.Dropped:
		return "dropped " + e.What + " " + e.Detail
	case protocol.Fail:
		return "fail " + e.Err.Error()
	default:
		return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T %v", e, e), "protocol."))
	}
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

// receive gives a frame.
func (r rig) receive(id, body string) []string {
	r.t.Helper()
	f := Frame{ID: id}
	if body != "" {
		f.Body = raw(body)
	}
	return r.step(protocol.Received{Message: f})
}

// result gives a frame that has the number of a result.
func (r rig) result(id, body string) []string {
	r.t.Helper()
	return r.step(protocol.Received{Message: Frame{ID: id, Body: raw(body), InvokeType: number(typeReceive)}})
}

// open gives the first frame of a call of the module's, as the bridge marks it.
func (r rig) open(id, body, opens string) []string {
	r.t.Helper()
	return r.step(protocol.Received{Message: Frame{ID: id, Body: raw(body), Opens: opens}})
}

// call makes a call that is on its way then.
func (r rig) call(id protocol.CallID, key string) {
	r.t.Helper()
	require.Contains(r.t, r.step(protocol.Invoke{ID: id, Call: protocol.Call{Key: key}})[0], "send "+key+"-send")
}

func TestDriver_passesEventsOn(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	require.Equal(t, []string{`emitted chat/new {"x": 1}`}, r.receive("chat/new", `{"x": 1}`))
	require.Equal(t, []string{"emitted chat-send"}, r.receive("chat-send", ""))
	require.Equal(t, []string{`emitted a-receive-b {"text":"no step"}`}, r.receive("a-receive-b", `{"text":"no step"}`))
	require.Equal(t, []string{`send module:status {"phase":"ready"}`},
		r.step(protocol.Emit{Event: protocol.Event{Name: "module:status", Payload: map[string]string{"phase": "ready"}}}))
	require.Equal(t, []string{"send e"}, r.step(protocol.Emit{Event: protocol.Event{Name: "e"}}))
}

func TestDriver_holdsBackEventsThatWouldBeMore(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	emit := func(name string, payload any) []string {
		return r.step(protocol.Emit{Event: protocol.Event{Name: name, Payload: payload}})
	}
	require.Equal(t, []string{"dropped reserved-event airi-host:bridge:stop-send"},
		emit("airi-host:bridge:stop-send", raw(`{"invokeId":"x"}`)))
	require.Equal(t, []string{"dropped reserved-event greet-send"}, emit("greet-send", raw(`{"invokeId":"x"}`)))
	require.Equal(t, []string{"dropped reserved-event greet-receive-x"}, emit("greet-receive-x", raw(`{"invokeId":"x"}`)))
	require.Equal(t, []string{"dropped reserved-event "}, emit("", nil))
	require.Equal(t, []string{"dropped payload e: json: unsupported type: chan int"}, emit("e", make(chan int)))
	require.Equal(t, []string{`send greet-send {"text":"an event"}`}, emit("greet-send", raw(`{"text":"an event"}`)))
}

func TestDriver_ignoresTimersAndForeignMessages(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	require.Empty(t, r.step(protocol.Fired{Timer: 1}))
	require.Empty(t, r.step(protocol.Received{Message: "text"}))
}

func TestDriver_numbersItsFrames(t *testing.T) {
	d := newDriver(protocol.Settings{}, Collecting{})
	var seen []string
	for range 2 {
		sent, ok := d.Step(now, protocol.Emit{Event: protocol.Event{Name: "e"}}, nil)[0].(protocol.Send)
		require.True(t, ok)
		f, ok := sent.Message.(Frame)
		require.True(t, ok)
		seen = append(seen, f.Delivery)
	}
	require.Equal(t, []string{"airi-host-1", "airi-host-2"}, seen)
}

func TestDriver_appendsToWhatIsThere(t *testing.T) {
	before := []protocol.Effect{protocol.Dropped{What: "before"}}
	after := newDriver(protocol.Settings{}, Collecting{}).Step(now, protocol.Emit{Event: protocol.Event{Name: "e"}}, before)
	require.Len(t, after, 2)
	require.Equal(t, before, after[:1])
}

func TestDriver_aMistakeOfFramingEndsTheConnection(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	out := r.d.Step(now, protocol.Received{Message: decode(t, `oh{"type":"e","payload":{}}`)[0]}, nil)
	require.Len(t, out, 1)
	fail, ok := out[0].(protocol.Fail)
	require.True(t, ok)
	require.EqualError(t, fail.Err, `plugin hello wrote text in front of a frame: expected every frame on a line of its own; `+
		`what came is: oh{"type":"e","payload":{}}`)
	require.Equal(t, protocol.CodeWire, protocol.CodeOf(fail.Err))
}

// FuzzDriver gives a driver with a call, a step and a request in flight any frame
// at all: it takes it, and every promise is kept once when the connection ends.
func FuzzDriver_received(f *testing.F) {
	for _, line := range recordedFrames(f) {
		f.Add([]byte(line))
	}
	for _, line := range []string{
		`{"type":"x-receive-airi-host-1","payload":{"body":{"invokeId":"airi-host-1"}}}`,
		`{"type":"x-receive-airi-host-1","payload":{"invokeType":4,"body":{"invokeId":"airi-host-1"}}}`,
		`{"type":"z-send-stream-end","payload":{"opens":"stream","body":{"invokeId":"theirs"}}}`,
		`{"type":"z-send","payload":{"opens":"value","body":{"invokeId":"theirs","isReqStream":true}}}`,
		`{"type":"x-receive-stream-end-airi-host-1","payload":{"body":{"invokeId":"airi-host-1"}}}`,
		`{"type":"airi-host:bridge:init-receive-error-airi-host-2","payload":{"body":{"invokeId":"airi-host-2","content":5}}}`,
		`{"type":"airi-host:bridge:hello","payload":{"body":{"protocol":1}}}`,
		`{"type":"airi-host:bridge:handler-defined","payload":{"body":{"tag":"x"}}}`,
		`{"type":"airi-host:bridge:crashed","payload":{"body":{"message":"x"}}}`,
		`{"type":"y-send-abort","payload":{"body":{"invokeId":"theirs"}}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		messages, err := codec{}.Decode(record)
		if err != nil {
			return
		}
		d := newDriver(protocol.Settings{Plugin: "p", MaxPending: 2}, Collecting{})
		out := d.Step(now, protocol.Invoke{ID: 7, Call: protocol.Call{Key: "x"}, Follows: len(record)%2 == 0}, nil)
		out = d.Step(now, protocol.Run{Step: protocol.StepInit}, out)
		out = d.Step(now, protocol.Received{Message: Frame{ID: "y-send", Body: raw(`{"invokeId":"theirs"}`)}}, out)
		for range 3 {
			for _, m := range messages {
				out = d.Step(now, protocol.Received{Message: m}, out)
			}
		}
		out = d.Step(now, protocol.Closed{}, out)
		require.Equal(t, 1, count[protocol.Complete](out))
		require.Equal(t, 1, count[protocol.Ran](out))
		require.Equal(t, count[protocol.Serve](out), count[protocol.Abandon](out))
		require.LessOrEqual(t, count[protocol.Serve](out), 4)
		require.LessOrEqual(t, count[protocol.FedEnd](out), count[protocol.Serve](out))
		require.Zero(t, d.collected)
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

func frameOf(t *testing.T, record string) Frame {
	t.Helper()
	f, ok := decode(t, record)[0].(Frame)
	require.True(t, ok)
	return f
}
