package eliza

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// asks is the call that comes of a host-rpc with a member more.
func (r rig) asks(member string) protocol.Call {
	r.t.Helper()
	messages, err := codec{}.Decode([]byte(`{"type":"host-rpc","requestId":"w","api":"runtime","method":"invoke","args":{}` + member + `}`))
	require.NoError(r.t, err)
	effects := r.d.Step(time.Now(), protocol.Received{Message: messages[0]}, nil)
	require.Len(r.t, effects, 1)
	return effects[0].(protocol.Serve).Call
}

// What a worker asks for the sake of a call is for its tenant, where the worker tells.
func TestDriver_servesWithinTheHostsCalls(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(`{"name":"lab","models":{"M":{"rpc":true,"id":"model:M:1"}}}`)
	for i, scope := range []string{"acme", "globex"} {
		r.step(protocol.Invoke{ID: protocol.CallID(i + 1), Call: protocol.Call{Key: "model:M", Caller: "other", Scope: scope, Trace: "trace", Root: 7}})
	}
	got := r.asks(`,"within":2`)
	require.Equal(t, []string{"globex", "trace"}, []string{got.Scope, got.Trace})
	require.Equal(t, &protocol.Cause{Caller: "other", Key: "model:M", Scope: "globex", Depth: 1, Root: 7}, got.Cause)
	require.Equal(t, "acme", r.asks(`,"within":1`).Scope)
	require.Same(t, protocol.CauseUntold, r.asks(``).Cause, "the reference's workers say nothing")
	for _, own := range []string{`null`, `3`, `"2"`, `{}`, `-1`, `true`} {
		require.Nil(t, r.asks(`,"within":`+own).Cause, own)
		require.Empty(t, r.asks(`,"within":`+own).Scope, own)
	}
	r.step(protocol.Cancel{ID: 2})
	require.Equal(t, "globex", r.asks(`,"within":2`).Scope, "it may still be at it")
	for _, answered := range []string{"1", "2"} {
		r.receive(`{"type":"worker-rpc-result","requestId":` + answered + `,"ok":true,"payload":1}`)
		require.Nil(t, r.asks(`,"within":`+answered).Cause)
	}
}

// Of an event that is given up, those handlers may still be at it that have not answered.
func TestDriver_leavesTheHandlersThatHaveNotAnswered(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(`{"name":"lab","events":{"E":[{"rpc":true,"id":"e1"},{"rpc":true,"id":"e2"}]}}`)
	r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "event:E", Scope: "acme"}})
	r.receive(`{"type":"worker-rpc-result","requestId":1,"ok":true,"payload":null}`)
	require.Nil(t, r.asks(`,"within":1`).Cause)
	r.step(protocol.Cancel{ID: 1})
	require.Nil(t, r.asks(`,"within":1`).Cause)
	require.Equal(t, "acme", r.asks(`,"within":2`).Scope)
}

// What a worker has asked is for the sake of the call that it was asked in, whatever comes
// after that one.
func TestDriver_causesOutliveTheirCalls(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(`{"name":"lab","models":{"M":{"rpc":true,"id":"model:M:1"}}}`)
	call := func(id protocol.CallID, scope string) {
		r.step(protocol.Invoke{ID: id, Call: protocol.Call{Key: "model:M", Scope: scope}})
	}
	call(1, "acme")
	asked := r.asks(`,"within":1`)
	r.receive(`{"type":"worker-rpc-result","requestId":1,"ok":true,"payload":1}`)
	call(2, "globex")
	require.Equal(t, "acme", asked.Cause.Scope)
	r.step(protocol.Cancel{ID: 2})
	call(3, "initech")
	require.Equal(t, "globex", r.asks(`,"within":2`).Scope)
}

// Our worker's end tells for whose sake it asks.
func TestWorker_tellsForWhoseSakeItAsks(t *testing.T) {
	w := NewWorker(WorkerSettings{Plugin: Definition{Name: "lab", Models: []string{"M"}}})
	announced := w.Step(time.Now(), Begin{}, nil)
	require.Len(t, announced, 1)
	effects := w.Step(time.Now(), protocol.Received{Message: RPC{
		RequestID: json.RawMessage(`7`), Surface: quote("model"), Target: quote(firstID(t, announced)), Args: json.RawMessage(`{}`),
	}}, nil)
	task := effects[0].(Task)
	for id, c := range map[protocol.CallID]struct {
		in   func(protocol.Invoke) protocol.Input
		want string
	}{
		1: {func(in protocol.Invoke) protocol.Input { return Asking{in, task.Within} }, `7`},
		2: {func(in protocol.Invoke) protocol.Input { return Asking{Invoke: in} }, `null`},
		3: {func(in protocol.Invoke) protocol.Input { return in }, ``},
	} {
		sent := w.Step(time.Now(), c.in(protocol.Invoke{ID: id, Call: protocol.Call{Key: "getSetting"}}), nil)
		require.Equal(t, c.want, string(sent[0].(protocol.Send).Message.(HostRPC).Within))
	}
}

func firstID(t *testing.T, announced []protocol.Effect) string {
	t.Helper()
	var descriptor struct {
		Models map[string]struct{ ID string }
	}
	require.NoError(t, json.Unmarshal(announced[0].(protocol.Send).Message.(Announce).Descriptor, &descriptor))
	return descriptor.Models["M"].ID
}
