package paperclip

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// newWorkerRig makes a worker's end.
func newWorkerRig(t *testing.T, s WorkerSettings) rig {
	t.Helper()
	return rig{t: t, d: NewWorker(s)}
}

// begun is a worker that has answered initialize.
func begun(t *testing.T, s WorkerSettings) rig {
	t.Helper()
	r := newWorkerRig(t, s)
	r.receive(`{"id":1,"method":"initialize","params":{"config":{"a":1}}}`)
	require.Contains(t, r.reply(1, "", nil)[0], `"ok":true`)
	return r
}

func TestWorker_reportsItsHooksInTheSDKsOrder(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{Hooks: []string{"loginPtyOpen", "handleWebhook", "shutdown", "validateConfig", "nonsense"}})
	require.Equal(t, []string{`serve 1 initialize {"config":{}}`}, r.receive(`{"id":7,"method":"initialize","params":{"config":{}}}`))
	require.Equal(t, []string{`send {"id":7,"result":{"ok":true,"supportedMethods":["validateConfig","shutdown","loginPtyOpen"]}}`},
		r.reply(1, `"ignored"`, nil))
}

func TestWorker_answersWhatItCannotRead(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{})
	for in, want := range map[string]string{
		`garbage`:                              "Invalid JSON: garbage",
		`"str"`:                                "Message must be a JSON object",
		`x{"jsonrpc":"2.0","id":1,"result":1}`: `Invalid JSON: x{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}`,
	} {
		require.Equal(t, []string{`send {"id":null,"error":{"code":-32700,"message":"Parse error: ` + want + `"}}`},
			r.step(protocol.Received{Message: decode(t, []byte(in))}))
	}
	require.Equal(t, []string{`dropped unclassified {"jsonrpc":"2.0","id":null,"method":"health"}`}, r.receive(`{"id":null,"method":"health"}`))
	require.Empty(t, r.step(protocol.Received{Message: "text"}))
}

func TestWorker_ignoresWhatIsNotItsInput(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{})
	require.Empty(t, r.step(protocol.Run{Step: protocol.StepStop}))
	require.Empty(t, r.step(protocol.Cancel{ID: 7}))
	require.Empty(t, r.step(protocol.Fired{Timer: 1}))
}

// FuzzWorker gives a worker with a task and a call in flight any line at all.
func FuzzWorker_received(f *testing.F) {
	recorded(f)
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"configChanged","params":{"config":[],"companyId":7},"paperclipInvocation":7}`,
		`{"jsonrpc":"2.0","method":"onEvent","params":1,"paperclipInvocation":{"id":7,"scope":[]}}`, `{"jsonrpc":"2.0","id":"1","result":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		messages, err := codec{}.Decode(record)
		require.NoError(t, err)
		w := NewWorker(WorkerSettings{Hooks: []string{"configChanged", "validateConfig"}, MaxPending: 2})
		out := w.Step(now, protocol.Received{Message: Request{ID: raw("5"), Method: "getData"}}, nil)
		out = w.Step(now, Asking{Invoke: protocol.Invoke{ID: 7, Call: protocol.Call{Key: "state.get"}}}, out)
		for range 3 {
			for _, m := range messages {
				out = w.Step(now, protocol.Received{Message: m}, out)
			}
		}
		out = w.Step(now, protocol.Reply{ID: 2, Result: record}, out)
		out = w.Step(now, protocol.Closed{}, out)
		require.Equal(t, 1, count[protocol.Complete](out))
		require.LessOrEqual(t, count[Task](out), 3)
		for _, e := range out {
			if s, ok := e.(protocol.Send); ok && json.Valid(record) {
				encode(t, s.Message)
			}
		}
	})
}
