package paperclip

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestTasks_carryTheInvocation(t *testing.T) {
	r := begun(t, WorkerSettings{})
	require.Equal(t, []string{`serve 2 executeTool {"toolName":"x"} in c trace 00-a-b-01 inv`}, r.receive(
		`{"id":2,"method":"executeTool","params":{"toolName":"x"},"paperclipInvocation":{"id":"inv","scope":{"companyId":"c"},"traceparent":"00-a-b-01"}}`))
	require.Equal(t, []string{`send {"id":2,"result":{"content":"y"}}`}, r.reply(2, `{"content":"y"}`, nil))
	require.Empty(t, r.reply(2, `1`, nil))
}

func TestTasks_initializeOnce(t *testing.T) {
	const ask, refused = `{"id":2,"method":"initialize","params":{}}`, `send {"id":2,"error":{"code":-32002,"message":"Worker already initialized"}}`
	r := newWorkerRig(t, WorkerSettings{})
	r.receive(`{"id":1,"method":"initialize","params":{}}`)
	require.Equal(t, []string{refused}, r.receive(ask), "while the first runs, too")
	require.Equal(t, []string{`send {"id":1,"error":{"code":-32002,"message":"no"}}`}, r.reply(1, "", errors.New("no")))
	require.Equal(t, []string{`serve 2 initialize {}`}, r.receive(ask), "a failed one may be tried again")
	r.reply(2, "", nil)
	require.Equal(t, []string{refused}, r.receive(ask))
}

func TestTasks_answerWhatThePluginHasNot(t *testing.T) {
	r := begun(t, WorkerSettings{})
	for method, want := range map[string]string{
		"health":           `"result":{"status":"ok"}`,
		"configChanged":    `"result":null`,
		"validateConfig":   `"error":{"code":-32004,"message":"validateConfig is not implemented by this plugin"}`,
		"handleWebhook":    `"error":{"code":-32004,"message":"handleWebhook is not implemented by this plugin"}`,
		"environmentProbe": `"error":{"code":-32004,"message":"environmentProbe is not implemented by this plugin"}`,
		"constructor":      `"error":{"code":-32601,"message":"Unknown method: constructor"}`,
	} {
		require.Equal(t, []string{`send {"id":"x",` + want + `}`}, r.receive(`{"id":"x","method":"`+method+`","params":{}}`))
	}
}

func TestTasks_notifications(t *testing.T) {
	r := begun(t, WorkerSettings{})
	require.Equal(t, []string{`serve 2 onEvent {"event":{}} in c inv`},
		r.receive(`{"method":"onEvent","params":{"event":{}},"paperclipInvocation":{"id":"inv","scope":{"companyId":"c"}}}`))
	require.Empty(t, r.reply(2, `1`, nil), "nobody waits")
	require.Equal(t, []string{`serve 3 agents.sessions.event {"seq":1}`}, r.receive(`{"method":"agents.sessions.event","params":{"seq":1}}`))
	for _, ignored := range []string{`{"method":"onEvent"}`, `{"method":"onEvent","params":null}`} {
		require.Equal(t, []string{"dropped unknown-notification onEvent"}, r.receive(ignored))
	}
	require.Equal(t, []string{"dropped unknown-notification health"}, r.receive(`{"method":"health","params":{}}`))
}

func TestTasks_areBounded(t *testing.T) {
	r := begun(t, WorkerSettings{MaxPending: 1})
	r.receive(`{"id":2,"method":"getData","params":{}}`)
	require.Equal(t, []string{`send {"id":3,"error":{"code":-32000,"message":"1 calls are in flight, the limit: call getData again later"}}`},
		r.receive(`{"id":3,"method":"getData","params":{}}`))
	require.Equal(t, []string{"dropped event onEvent"}, r.receive(`{"method":"onEvent","params":{}}`))
	r.reply(2, "1", nil)
	require.Contains(t, r.receive(`{"id":4,"method":"getData","params":{}}`)[0], "serve 3")
}

func TestTasks_shutdown(t *testing.T) {
	r := begun(t, WorkerSettings{})
	require.Equal(t, []string{`send {"id":2,"result":null}`, "ran stop ok"}, r.receive(`{"id":2,"method":"shutdown","params":{}}`))
	require.Empty(t, r.receive(`{"id":3,"method":"health"}`))

	r = begun(t, WorkerSettings{Hooks: []string{"shutdown"}})
	r.receive(`{"id":2,"method":"getData","params":{}}`)
	require.Equal(t, []string{`serve 3 shutdown {}`}, r.receive(`{"id":3,"method":"shutdown","params":{}}`))
	require.Equal(t, []string{`send {"id":3,"error":{"code":-32002,"message":"not yet"}}`}, r.reply(3, "", errors.New("not yet")))
	r.receive(`{"id":4,"method":"shutdown","params":{}}`)
	require.Equal(t, []string{`send {"id":4,"result":null}`, "abandon {2}", "ran stop ok"}, r.step(protocol.Reply{ID: 4}))
	require.Empty(t, r.reply(2, "1", nil), "nothing is sent behind it")
}
