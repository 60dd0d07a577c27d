package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"
)

// releases are the sets of Paperclip.
var releases = []string{Paperclip, Paperclip916}

// lab is a manager in a test.
type lab struct {
	*Manager
	modules string
}

// A manager of each release is started once for all that it is asked here; each test
// has workers of its own.
func TestManager(t *testing.T) {
	t.Parallel()
	for _, name := range releases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			modules := Install(t, name)
			m := lab{StartManager(t, modules, nil), modules}
			for name, run := range map[string]func(*testing.T, lab){
				"runsTheKitchen": runsTheKitchen, "handsTheServicesOver": handsTheServicesOver,
				"runsEveryKindOfHandler": runsEveryKindOfHandler, "measures": measures,
				"recordingChangesNothing": recordingChangesNothing, "tellsThatASetupFailed": tellsThatASetupFailed,
			} {
				t.Run(name, func(t *testing.T) { run(t, m) })
			}
		})
	}
}

// start starts a fixture, under an id of the test's own, and stops it with the test.
func (m lab) start(t *testing.T, name string, c Changes, more map[string]any) (plugin, dir string) {
	t.Helper()
	c.ID = name + "." + strings.ToLower(path.Base(t.Name()))
	dir = Fixture(t, m.modules, name, c)
	order := map[string]any{"dir": dir}
	for member, value := range more {
		order[member] = value
	}
	var is struct{ Plugin string }
	m.Do(t, "start", order, &is)
	t.Cleanup(func() { m.stop(t, is.Plugin) })
	return is.Plugin, dir
}

// stop stops a worker, if it is there.
func (m lab) stop(t *testing.T, plugin string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), orderTime)
	defer cancel()
	require.NoError(t, m.Client.Do(ctx, "stop", map[string]any{"plugin": plugin}, nil))
}

// call calls a method of a worker.
func (m lab) call(t *testing.T, plugin, method string, params any) string {
	t.Helper()
	var result json.RawMessage
	m.Do(t, "call", map[string]any{"plugin": plugin, "method": method, "params": params}, &result)
	return string(result)
}

func runsTheKitchen(t *testing.T, m lab) {
	t.Helper()
	plugin, dir := m.start(t, "kitchen", Changes{Record: true}, nil)
	require.Equal(t, "kitchen.runsthekitchen", plugin)
	require.JSONEq(t, `{"name":"Ada"}`, m.call(t, plugin, "getData", map[string]any{"key": "echo", "params": map[string]string{"name": "Ada"}}))
	m.stop(t, plugin)

	received := frames(t, dir, Received)
	require.Equal(t, "initialize", received[0].Method)
	require.Contains(t, string(received[0].Params), `"id":"`+plugin+`"`)
	methods := make([]string, 0, len(received))
	for _, f := range received {
		if f.Method != "" {
			methods = append(methods, f.Method)
		}
	}
	require.Equal(t, []string{"initialize", "getData", "shutdown"}, methods)
	sent := frames(t, dir, Sent)
	require.Equal(t, "events.subscribe", sent[0].Method)
	require.Equal(t, "null", string(sent[len(sent)-1].Result), "the answer to shutdown")
}

// frame is what a frame may have.
type frame struct {
	JSONRPC, Method string
	ID              json.RawMessage
	Params, Result  json.RawMessage
}

// frames reads what a worker recorded.
func frames(t *testing.T, dir, name string) []frame {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	require.True(t, bytes.HasSuffix(text, []byte("\n")))
	var all []frame
	for line := range bytes.Lines(text) {
		var f frame
		require.NoError(t, json.Unmarshal(line, &f))
		require.Equal(t, "2.0", f.JSONRPC)
		all = append(all, f)
	}
	return all
}

func handsTheServicesOver(t *testing.T, m lab) {
	t.Helper()
	plugin, _ := m.start(t, "kitchen", Changes{}, map[string]any{"config": map[string]string{"greeting": "Moin"}})
	act := func(key string, params map[string]any) string {
		t.Helper()
		return m.call(t, plugin, "performAction", map[string]any{"key": key, "companyId": "acme", "params": params})
	}
	where := map[string]string{"scopeKind": "instance", "stateKey": "count"}
	require.JSONEq(t, `null`, act("state.get", map[string]any{"where": where}))
	act("state.set", map[string]any{"where": where, "value": 3})
	require.JSONEq(t, `3`, act("state.get", map[string]any{"where": where}))
	require.JSONEq(t, `{"greeting":"Moin"}`, act("config", map[string]any{"companyId": "acme"}))
	require.JSONEq(t, `{"status":200,"headers":{"content-type":"text/plain;charset=UTF-8"},"body":"fetched"}`, act("fetch", map[string]any{"url": "http://example.org/"}))

	err := m.Try(t, "call", map[string]any{"plugin": plugin, "method": "performAction", "params": map[string]any{
		"key": "state.get", "companyId": "acme",
		"params": map[string]any{"where": map[string]string{"scopeKind": "company", "scopeId": "another", "stateKey": "count"}},
	}}, nil)
	var failed *load.Failure
	require.ErrorAs(t, err, &failed)
	require.Equal(t, -32005, failed.Code, failed.Message)
}

func runsEveryKindOfHandler(t *testing.T, m lab) {
	t.Helper()
	plugin, _ := m.start(t, "kitchen", Changes{}, nil)
	require.JSONEq(t, `{"status":"ok","message":"warm","details":{"jobs":0}}`, m.call(t, plugin, "health", nil))
	run := map[string]any{"agentId": "a", "runId": "r", "companyId": "acme", "projectId": "p"}
	require.Contains(t, m.call(t, plugin, "executeTool", map[string]any{"toolName": "add", "parameters": map[string]int{"a": 1, "b": 2}, "runContext": run}), `"content":"3"`)
	require.JSONEq(t, `{"ok":false,"errors":["mode is bad"]}`, m.call(t, plugin, "validateConfig", map[string]any{"config": map[string]string{"mode": "bad"}}))
	m.call(t, plugin, "runJob", map[string]any{"job": map[string]any{"jobKey": "sync", "runId": "r", "trigger": "manual", "scheduledAt": "2026-01-01T00:00:00Z"}})
	m.call(t, plugin, "handleWebhook", map[string]any{"endpointKey": "inbox", "headers": map[string]any{}, "rawBody": "hi", "requestId": "q"})
	require.JSONEq(t, `{"status":200,"headers":{"x-kitchen":"thing.get"},"body":{"path":"/things/1","params":{"id":"1"},"query":{},"body":null}}`,
		m.call(t, plugin, "handleApiRequest", map[string]any{
			"routeKey": "thing.get", "method": "GET", "path": "/things/1", "params": map[string]string{"id": "1"}, "query": map[string]any{},
			"body": nil, "actor": map[string]string{"actorType": "user", "actorId": "u"}, "companyId": "acme", "headers": map[string]any{},
		}))
	m.Do(t, "notify", map[string]any{"plugin": plugin, "method": "onEvent", "params": map[string]any{"event": map[string]any{
		"eventId": "e", "eventType": "issue.created", "occurredAt": "2026-01-01T00:00:00Z", "companyId": "acme", "payload": map[string]any{},
	}}}, nil)
	var seen struct{ Events, Jobs, Webhooks []any }
	require.NoError(t, json.Unmarshal([]byte(m.call(t, plugin, "getData", map[string]any{"key": "seen", "params": map[string]any{}})), &seen))
	require.Len(t, seen.Events, 1)
	require.Len(t, seen.Jobs, 1)
	require.Len(t, seen.Webhooks, 1)

	var executed struct {
		Log    []map[string]string
		Result struct{ Stdout string }
	}
	m.Do(t, "execute", map[string]any{"plugin": plugin, "params": map[string]any{
		"driverKey": "shed", "companyId": "acme", "environmentId": "e", "config": map[string]any{},
		"lease": map[string]any{"providerLeaseId": "l"}, "command": "dig", "args": []string{"deep"},
	}}, &executed)
	require.Equal(t, []map[string]string{{"stream": "stdout", "chunk": "dig deep\n"}}, executed.Log)
	require.Equal(t, "dig deep\n", executed.Result.Stdout)

	var asked []struct{ Method string }
	m.Do(t, "calls", map[string]any{"plugin": plugin}, &asked)
	require.Equal(t, "events.subscribe", asked[0].Method)
}

func measures(t *testing.T, m lab) {
	t.Helper()
	m.Do(t, "workers", map[string]any{"workers": []load.Worker{{Dir: Fixture(t, m.modules, "echo", Changes{})}}}, nil)
	for _, l := range []load.Load{
		{Kind: load.Echo, Size: 100, Flight: 1, Calls: 20},
		{Kind: load.Echo, Size: 64 << 10, Flight: 16, Calls: 32},
		{Kind: load.Ask, Flight: 128, Calls: 300},
	} {
		var r load.Result
		m.Do(t, "run", map[string]any{"load": l}, &r)
		require.Equal(t, l.Calls, r.Calls)
		require.Positive(t, r.P50Micros)
		require.Positive(t, r.CPUMicros)
		require.Positive(t, r.PerSecond)
	}
}
