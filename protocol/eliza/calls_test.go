package eliza

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// What is signed is what is written, whatever the input: on one line, in UTF-8. But for the
// signature the frame is that of a host that signs nothing.
func TestDriver_signsTheFrameThatItWrites(t *testing.T) {
	key := []byte("k")
	plain, signed := newRig(t, Plugin{}, protocol.Settings{}), newRig(t, Plugin{Key: key}, protocol.Settings{})
	plain.start(everything)
	signed.start(everything)
	long := `"` + strings.Repeat("é", keptText) + `"`
	inputs := []string{
		`{"b":1,"a":2}`, " {\r\n\"b\" : 1,\n\"a\":[ 1.50,\n2 ] } ", "{\"text\":\"\xff\"}", `{"text":"\ud800\n"}`, `{"message":` + long + `}`, `null`, ``,
	}
	id := protocol.CallID(0)
	for _, target := range []string{"action:GREET", "provider:TIME", "model:TEXT", "event:E", "service:clock.now", "http:POST /items/:id", "eliza:action a1"} {
		for _, input := range inputs {
			id++
			want, got := plain.call(id, target, input), signed.call(id, target, input)
			require.Len(t, got, len(want))
			for i, line := range got {
				frame, ok := strings.CutPrefix(line, "send ")
				require.True(t, ok, line)
				require.NotContains(t, frame, "\n")
				rpc, ok := decode(t, []byte(frame)).(RPC)
				require.True(t, ok)
				require.True(t, Verify(key, rpc), frame)
				rpc.MAC = nil
				require.Equal(t, want[i], "send "+encode(t, rpc))
			}
		}
	}
	for _, wrong := range []string{`{"a":1,}`, `{"a" 1}`, `{"a":1`, `{1:1}`, `{"a":[1 2]}`, `{"a":tru}`, `{"a":"`, `{} {}`} {
		id++
		require.Equal(t, []string{"complete " + number64(id) + " error plugin lab: the input of model:TEXT cannot be signed: RPC MAC args must be JSON"},
			signed.call(id, "model:TEXT", wrong), wrong)
	}
}

func number64(id protocol.CallID) string { return string(number(uint64(id))) }

// A frame is good until the next step, and a long one is not held for longer.
func TestDriver_keepsNoLongCall(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	d, ok := r.d.(*driver)
	require.True(t, ok)
	r.call(1, "model:TEXT", `"`+strings.Repeat("x", keptText)+`"`)
	require.Nil(t, d.out.args)
	require.Nil(t, d.out.rpc.Args)
	r.call(2, "model:TEXT", `"x"`)
	require.LessOrEqual(t, cap(d.out.args), keptText)
	require.Equal(t, `{"params":"x"}`, string(d.out.rpc.Args))
}

// Calls that are over are used again, and none of them says anything of the one before.
func TestDriver_usesCallsAgain(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.start(everything)
	d, ok := r.d.(*driver)
	require.True(t, ok)
	for range 2 {
		for id := protocol.CallID(1); id <= keptCalls+10; id++ {
			r.call(id, "event:E", `1`)
		}
		for n := d.last - 2*(keptCalls+10) + 1; n <= d.last; n++ {
			r.receive(`{"type":"worker-rpc-result","requestId":` + string(number(n)) + `,"ok":false,"error":{"name":"E","message":"no"}}`)
		}
		require.Len(t, d.free, keptCalls)
		require.Empty(t, d.calls)
		require.Empty(t, d.numbers)
	}
	r.call(1, "action:GREET", `{}`)
	n := string(number(d.last))
	require.Equal(t, []string{`progress 1 `}, r.receive(`{"type":"worker-action-callback","callbackId":"action-callback:`+string(number(d.last-1))+`"}`))
	for _, none := range []string{"action-callback:0" + string(number(d.last-1)), "action-callback:" + n, "action-callback:", "callback:" + n, "action-callback:-1"} {
		require.Equal(t, []string{`dropped late-callback "` + none + `"`}, r.receive(`{"type":"worker-action-callback","callbackId":"`+none+`"}`))
	}
	require.Equal(t, []string{`complete 1 ok {"success":true}`}, r.receive(`{"type":"worker-rpc-result","requestId":`+n+`,"ok":true,"payload":{"success":true}}`))
	r.call(2, "model:TEXT", `1`)
	require.Equal(t, []string{`complete 2 ok 1`}, r.receive(`{"type":"worker-rpc-result","requestId":`+string(number(d.last))+`,"ok":true,"payload":1}`))
}

// A call that is lent is made as one that is given.
func TestDriver_borrowsCalls(t *testing.T) {
	given, lent := newRig(t, Plugin{}, protocol.Settings{}), newRig(t, Plugin{}, protocol.Settings{})
	given.start(everything)
	lent.start(everything)
	for i, key := range []string{"model:TEXT", "action:GREET", "none:x"} {
		in := protocol.Invoke{ID: protocol.CallID(i), Call: protocol.Call{Key: key, Input: raw(`{"a":1}`)}}
		want := given.step(in)
		got := lent.step(&in)
		in = protocol.Invoke{}
		require.Equal(t, want, got)
	}
	require.Equal(t, []string{`complete 0 ok 7`}, lent.receive(`{"type":"worker-rpc-result","requestId":1,"ok":true,"payload":7}`))
}
