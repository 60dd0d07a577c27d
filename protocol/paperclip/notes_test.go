package paperclip

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestNotes_log(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	for params, want := range map[string]string{
		`{"level":"debug","message":"m","meta":{"a":1}}`: `logged DEBUG m {"a":1}`,
		`{"level":"info","message":"m"}`:                 "logged INFO m",
		`{"level":"warn","message":"m","meta":{}}`:       "logged WARN m {}",
		`{"level":"error","message":"m","meta":null}`:    "logged ERROR m",
		`{"level":"loud","message":{"o":1}}`:             `logged INFO {"o":1}`,
		`{}`:                                             "logged INFO",
		`7`:                                              "logged INFO",
	} {
		require.Equal(t, []string{want}, r.receive(`{"method":"log","params":`+params+`}`))
		require.Equal(t, []string{want}, r.receive(`{"method":"log","params":`+params+`,"paperclipInvocationId":"unknown"}`))
	}
}

func TestNotes_logIsBounded(t *testing.T) {
	d := Dialect{}.NewDriver(protocol.Settings{})
	long := strings.Repeat("é", MaxLog)
	out := d.Step(now, protocol.Received{Message: Notification{
		Method: "log", Params: newObject().str("message", long).raw("meta", newObject().str("a", long).done()).done(),
	}}, nil)
	require.Len(t, out, 2)
	dropped, ok := out[0].(protocol.Dropped)
	require.True(t, ok)
	require.Equal(t, DroppedMeta, dropped.What)
	line, ok := out[1].(protocol.Logged)
	require.True(t, ok)
	require.Len(t, line.Message, MaxLog)
	require.Nil(t, line.Meta)
}

func TestNotes_countTheRest(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	for method, what := range map[string]string{
		"setupTokenPty.output": DroppedRoute, "loginPty.output": DroppedRoute,
		"onEvent": DroppedNotification, "config.get": DroppedNotification, "": DroppedNotification,
	} {
		require.Equal(t, []string{"dropped " + what + " " + method}, r.receive(`{"method":"`+method+`","params":{}}`))
	}
}

func TestNotes_showStrayTextAsALogLine(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Equal(t, []string{"logged INFO hello world", "dropped stray-text hello world"},
		r.step(protocol.Received{Message: decode(t, []byte("hello world"))}))
	out := r.step(protocol.Received{Message: decode(t, []byte(strings.Repeat("x", 10_000)))})
	require.Len(t, out[0], len("logged INFO ")+protocol.MaxStray)
}

func TestNotes_mistakesOfFramingEndTheConnection(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	out := r.step(protocol.Received{Message: decode(t, []byte(`Loading… {"jsonrpc":"2.0","id":1,"result":"`+strings.Repeat("x", 500)+`"}`))})
	require.Len(t, out, 1)
	require.True(t, strings.HasPrefix(out[0], "fail plugin lab wrote text in front of a frame; "+
		`expected every frame on a line of its own; what came is: Loading… {"jsonrpc":"2.0","id":1,"result":"xxx`), out[0])
	require.Less(t, len(out[0]), 400)
}
