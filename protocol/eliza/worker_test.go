package eliza

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func newWorkerRig(t *testing.T, s WorkerSettings) rig {
	t.Helper()
	if s.Plugin.Name == "" {
		s.Plugin = definition
	}
	r := rig{t, NewWorker(s)}
	r.step(Begin{})
	return r
}

func TestWorker_refusesReplays(t *testing.T) {
	key := []byte("k")
	var denied []Denial
	r := newWorkerRig(t, WorkerSettings{Key: key, ReplayWindow: 64, Denied: func(d Denial) { denied = append(denied, d) }})
	frame := func(id string) string {
		m := RPC{RequestID: raw(id), Surface: raw(`"model"`), Target: raw(`"model:TEXT:4"`), Args: raw(`{}`)}
		var err error
		m.MAC, err = Sign(key, m)
		require.NoError(t, err)
		return encode(t, m)
	}
	const refusal = `send {"type":"worker-rpc-result","requestId":1,"ok":false,"error":{"name":"RpcAuthError","message":"Worker RPC message came before, or is too old","code":"RPC_AUTH_FAILED"}}`
	require.Contains(t, r.receive(frame(`1`))[0], "task 1 model:TEXT")
	require.Equal(t, []string{"dropped replayed-call 1", refusal}, r.receive(frame(`1`)))
	require.Contains(t, r.receive(frame(`100`))[0], "task 2 model:TEXT")
	require.Equal(t, []string{"dropped replayed-call 1", refusal}, r.receive(frame(`1`)), "older than the window")
	changed := r.receive(strings.Replace(frame(`101`), `"args":{}`, `"args":{"a":1}`, 1))
	require.Equal(t, "dropped unsigned-call 101", changed[0])
	require.Contains(t, changed[1], "MAC missing or invalid")
	require.Contains(t, r.receive(frame(`101`))[0], "task 3 model:TEXT", "what was wrongly signed has used up nothing")
	replay := Denial{Plugin: "p", Surface: "model", Target: "model:TEXT:4", Reason: "Worker RPC message came before, or is too old"}
	unsigned := replay
	unsigned.Reason = "Worker RPC message MAC missing or invalid"
	require.Equal(t, []Denial{replay, replay, unsigned}, denied)
}

func TestWorker_boundsWhatItHandles(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{MaxPending: 1})
	const call = `{"type":"worker-rpc","requestId":1,"surface":"model","target":"model:TEXT:4","args":{}}`
	require.Len(t, r.receive(call), 1)
	require.Contains(t, r.receive(call)[0], `"code":"overloaded"`)
	r.step(protocol.Reply{ID: 1})
	require.Empty(t, r.step(protocol.Reply{ID: 1}))
	require.Contains(t, r.receive(call)[0], "task 2")
	require.Len(t, r.call(1, "getSetting", ``), 1)
	require.Contains(t, r.call(2, "getSetting", ``)[0], "complete 2 error 1 calls of the host are in flight, the limit: call getSetting again later")
	require.Empty(t, r.step(protocol.Cancel{ID: 1}))
	require.Equal(t, []string{"dropped late-answer 1"}, r.receive(`{"type":"host-rpc-result","requestId":1,"ok":true}`))
	require.Equal(t, []string{`dropped unknown-call "1"`}, r.receive(`{"type":"host-rpc-result","requestId":"1","ok":true}`))
	r.call(3, "getSetting", ``)
	require.Contains(t, r.receive(`{"type":"host-rpc-result","requestId":"2","ok":true}`)[0], `complete 3 error getSetting was answered under the id "2", a string; expected the number 2`)
}

func TestWorker_auditsWhatIsDenied(t *testing.T) {
	var denied []Denial
	r := newWorkerRig(t, WorkerSettings{Granted: raw(`{"bun":{"run":false}}`), Denied: func(d Denial) { denied = append(denied, d) }})
	require.Equal(t, "dropped denied model:TEXT:4", r.receive(`{"type":"worker-rpc","requestId":1,"surface":"model","target":"model:TEXT:4","args":{}}`)[0])
	require.Equal(t, []Denial{{Plugin: "p", Surface: "model", Target: "model:TEXT:4", Permission: "bun:read | host:*"}}, denied)
}

// A worker that was born without permissions keeps to those that the first init tells.
func TestWorker_keepsToThePermissionsOfItsInit(t *testing.T) {
	const call = `{"type":"worker-rpc","requestId":1,"surface":"model","target":"model:TEXT:4","args":{}}`
	const action = `{"type":"worker-rpc","requestId":2,"surface":"action","target":"action:GREET:1","args":{}}`
	for told, wants := range map[string][2]string{
		`{"bun":{"read":true}}`:       {"task", "dropped denied"},
		`["bun:read","isolation:x"]`:  {"task", "dropped denied"},
		`["bun:run"]`:                 {"task", "task"},
		`["host:tray"]`:               {"task", "task"},
		`{"bun":{"run":false}}`:       {"dropped denied", "dropped denied"},
		`["isolation:shared-worker"]`: {"task", "task"},
		`null`:                        {"task", "task"},
	} {
		r := newWorkerRig(t, WorkerSettings{})
		r.receive(`{"type":"init","manifest":{},"context":{"grantedPermissions":` + told + `}}`)
		r.receive(`{"type":"init","manifest":{},"context":{"grantedPermissions":{"host":{"tray":true}}}}`)
		require.Contains(t, r.receive(call)[0], wants[0], told)
		require.Contains(t, r.receive(action)[0], wants[1], told)
	}
	r := newWorkerRig(t, WorkerSettings{Granted: raw(`{"bun":{"read":true}}`)})
	r.receive(`{"type":"init","manifest":{},"context":{"grantedPermissions":{"host":{"tray":true}}}}`)
	require.Contains(t, r.receive(action)[0], "dropped denied", "it was born with others")
}

func TestWorker_addsAtAnyTime(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{Plugin: Definition{Name: "p", Models: []string{"A"}}})
	require.Equal(t, []string{`send {"type":"init-complete"}`}, r.step(Initialized{}))
	require.Equal(t, []string{`send {"type":"worker-announce-dynamic","descriptor":{"name":"p","mode":"remote","models":{"B":{"rpc":true,"id":"model:B:2"}}}}`},
		r.step(Adding{Added: Definition{Models: []string{"B"}}}))
	require.Contains(t, r.receive(`{"type":"worker-rpc","requestId":1,"surface":"model","target":"model:B:2","args":{}}`)[0], "task 1 model:B")
}

func TestWorker_finishesWhatRunsAtTheEnd(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{})
	r.receive(`{"type":"worker-rpc","requestId":7,"surface":"model","target":"model:TEXT:4","args":{},"streamReply":true}`)
	r.call(1, "getSetting", ``)
	require.Equal(t, []string{"complete 1 error the host ended while getSetting was in flight: gone"}, r.step(protocol.Closed{Err: errors.New("gone")}))
	require.Len(t, r.step(protocol.Report{ID: 1, Item: raw(`1`)}), 2)
	require.Equal(t, []string{`send {"type":"stream-end","streamId":"stream:1","value":2}`}, r.step(protocol.Reply{ID: 1, Result: raw(`2`)}))
	require.Equal(t, []string{"complete 2 error getSetting was not called: the connection has ended"}, r.call(2, "getSetting", ``))
	require.Empty(t, r.receive(`{"type":"worker-rpc"}`))
}

func TestWorker_passesOverOtherFrames(t *testing.T) {
	r := newWorkerRig(t, WorkerSettings{})
	for frame, want := range map[string]string{
		"noise": "dropped stray-text noise", `{"type":"request"}`: `dropped other-frame {"type":"request"}`,
		`{"type":"worker-rpc-result","requestId":1}`: "dropped other-frame worker-rpc-result", `{"type":"init-complete"}`: "dropped other-frame eliza.InitComplete",
		`{"type":"stream-chunk","streamId":1}`: "dropped late-answer stream-chunk 1", `{"type":"stream-end","streamId":1}`: "dropped late-answer stream-end 1",
	} {
		require.Equal(t, []string{want}, r.receive(frame))
	}
	require.Contains(t, r.step(protocol.Emit{Event: protocol.Event{Name: "x", Payload: make(chan int)}})[0], "dropped other-frame x:")
}
