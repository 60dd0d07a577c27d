package paperclip

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// ask calls the host from a handler.
func (r rig) ask(id protocol.CallID, method, params, invocation string) []string {
	r.t.Helper()
	call := protocol.Call{Key: method}
	if params != "" {
		call.Input = raw(params)
	}
	return r.step(Asking{Invoke: protocol.Invoke{ID: id, Call: call}, Invocation: invocation})
}

func TestAsking_stampsTheInvocation(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{})
	require.Equal(t, []string{`send {"id":1,"method":"state.get","params":{"k":1},"paperclipInvocationId":"inv"}`}, r.ask(5, "state.get", `{"k":1}`, "inv"))
	require.Equal(t, []string{`send {"id":2,"method":"config.get","params":{}}`}, r.ask(6, "config.get", "", ""))
	require.Equal(t, []string{"complete 6 ok null"}, r.receive(`{"id":2,"result":null}`))
	require.Equal(t, []string{"complete 5 error denied"}, r.receive(`{"id":1,"error":{"code":-32005,"message":"denied"}}`))
}

func TestAsking_aHostsErrorKeepsItsCodeOnTheWayThrough(t *testing.T) {
	r := begun(t, WorkerSettings{})
	r.receive(`{"id":2,"method":"getData","params":{}}`)
	r.ask(1, "state.get", "", "")
	done, ok := r.d.Step(now, protocol.Received{Message: decode(t, []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"no"}}`))}, nil)[0].(protocol.Complete)
	require.True(t, ok)
	require.Equal(t, []string{`send {"id":2,"error":{"code":-32005,"message":"no"}}`}, r.reply(2, "", done.Err))
}

func TestAsking_matchesIDsWithoutConversion(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{})
	r.ask(1, "state.get", "", "")
	require.Equal(t, []string{"dropped unknown-call 2"}, r.receive(`{"id":2,"result":1}`))
	require.Equal(t, []string{`dropped answer-without-id {"code":-1}`}, r.receive(`{"id":null,"error":{"code":-1}}`))
	require.Equal(t, []string{`complete 1 error wire: state.get was answered under the id "1", a string; expected the number 1`}, r.receive(`{"id":"1","result":1}`))
	require.Equal(t, []string{"dropped late-answer 1"}, r.receive(`{"id":1,"result":1}`))
	r.ask(2, "state.get", "", "")
	r.step(protocol.Cancel{ID: 2})
	require.Equal(t, []string{"dropped late-answer 2"}, r.receive(`{"id":2,"result":1}`))
}

func TestAsking_isBounded(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{MaxPending: 1})
	r.ask(1, "state.get", "", "")
	require.Equal(t, []string{"complete 2 error overloaded: 1 calls of the host are in flight, the limit: call state.get again later"}, r.ask(2, "state.get", "", ""))
}

func TestAsking_endsWithTheInput(t *testing.T) {
	r := begun(t, WorkerSettings{})
	r.receive(`{"id":2,"method":"getData","params":{}}`)
	r.ask(1, "state.get", "", "")
	require.Equal(t, []string{"complete 1 error outcome-unknown: Worker RPC host is shutting down", "abandon {2}"}, r.step(protocol.Closed{}))
	require.Equal(t, []string{`complete 2 error not-ready: Cannot call "state.get": worker RPC host is not running`}, r.ask(2, "state.get", "", ""))
	require.Empty(t, r.step(Telling{Emit: protocol.Emit{Event: protocol.Event{Name: "log"}}}))
	require.Empty(t, r.step(protocol.Closed{}))
}

func TestTelling(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{})
	tell := func(payload any, invocation string) []string {
		return r.step(Telling{Emit: protocol.Emit{Event: protocol.Event{Name: "log", Payload: payload}}, Invocation: invocation})
	}
	require.Equal(t, []string{`send {"method":"log","params":{"level":"info"},"paperclipInvocationId":"inv"}`}, tell(map[string]string{"level": "info"}, "inv"))
	require.Equal(t, []string{`send {"method":"log"}`}, tell(nil, ""))
	require.Equal(t, []string{"dropped event log: json: unsupported type: chan int"}, tell(make(chan int), ""))
}
