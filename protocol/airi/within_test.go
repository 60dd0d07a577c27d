package airi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// served is the call that comes of a request that the module makes within one of the host's.
func (r rig) served(n, within string) protocol.Call {
	r.t.Helper()
	f := Frame{ID: "tool:y-send", Opens: OpensValue, Within: within, Body: raw(`{"invokeId":"m` + n + `"}`)}
	text, err := codec{}.Encode(nil, f)
	require.NoError(r.t, err)
	effects := r.d.Step(time.Now(), protocol.Received{Message: frameOf(r.t, string(text))}, nil)
	require.Len(r.t, effects, 1)
	return effects[0].(protocol.Serve).Call
}

// What a module calls while it serves one of the host's calls is for its sake and its
// tenant, also when nobody waits for that one any more; when it is answered, no longer.
func TestDriver_servesWithinTheHostsCalls(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	for i, scope := range []string{"acme", "globex"} {
		r.step(protocol.Invoke{ID: protocol.CallID(i + 1), Call: protocol.Call{
			Key: "tool:x", Caller: "other", Ecosystem: "eliza", Scope: scope, Trace: "trace", Root: 7, Cause: &protocol.Cause{Depth: 3},
		}})
	}
	got := r.served("1", "airi-host-2")
	require.Equal(t, []string{"hello", "globex", "trace"}, []string{got.Caller, got.Scope, got.Trace})
	require.Equal(t, &protocol.Cause{
		Caller: "other", Ecosystem: "eliza", Key: "tool:x", Scope: "globex", Depth: 4, Root: 7, Within: &protocol.Cause{Depth: 3},
	}, got.Cause)
	require.Equal(t, "acme", r.served("2", "airi-host-1").Scope)

	for i, ours := range []string{"", "airi-host-3", "airi-host-0", "airi-host-x", "other", "2"} {
		got := r.served("of its own accord"+string(rune('0'+i)), ours)
		require.Empty(t, got.Scope)
		require.Nil(t, got.Cause)
	}

	r.step(protocol.Cancel{ID: 2})
	require.Equal(t, "globex", r.served("3", "airi-host-2").Scope, "it may still be at it")
	r.result("tool:x-receive-airi-host-2", `{"invokeId":"airi-host-2"}`)
	r.result("tool:x-receive-airi-host-1", `{"invokeId":"airi-host-1"}`)
	require.Empty(t, r.served("4", "airi-host-2").Scope)
	require.Nil(t, r.served("5", "airi-host-1").Cause)
}

// A call whose stream is too long for who waits is given up as one that is cancelled is,
// and nothing of what was collected stays with it.
func TestDriver_servesWithinWhatIsGivenUp(t *testing.T) {
	dialect := Dialect{Collecting: func() Collecting { return Collecting{Items: 1} }}
	r := rig{t: t, d: dialect.NewDriver(protocol.Settings{Plugin: "hello"}).(*driver)}
	for id := range protocol.CallID(2) {
		r.step(protocol.Invoke{ID: id + 1, Call: protocol.Call{Key: "tail", Scope: "acme"}})
		r.item("tail", int(id)+1, `"one"`)
	}
	long, cancelled := r.d.calls[1], r.d.calls[2]
	r.item("tail", 1, `"two"`)
	r.step(protocol.Cancel{ID: 2})
	require.Equal(t, "acme", r.served("1", "airi-host-1").Scope)
	require.Equal(t, "acme", r.served("2", "airi-host-2").Scope)
	require.Nil(t, long.items)
	require.Nil(t, cancelled.items)
}
