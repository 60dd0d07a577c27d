package peers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// A host with workers of each release is started once for all that is called here.
func TestHost_callsWhatWorkersOffer(t *testing.T) {
	t.Parallel()
	for _, name := range releases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openHome(t, name, `{"companies":["globex"]}`, nil) // else nothing may be asked for about it
			h.start(t, "kitchen", Changes{})
			h.start(t, "waiter", Changes{})
			for name, run := range map[string]func(*testing.T, *home){
				"tools": callsTools, "actions": callsActions, "data": callsData, "jobs": runsJobs, "webhooks": handsWebhooks,
				"endpoints": servesEndpoints, "events": tellsEvents, "environments": runsEnvironments, "health": asksForHealth,
			} {
				t.Run(name, func(t *testing.T) { run(t, h) })
			}
		})
	}
}

func callsTools(t *testing.T, h *home) {
	t.Helper()
	add := protocol.Call{Key: "tool:add", Scope: "acme", Input: json.RawMessage(`{"a":1,"b":2.5}`)}
	require.JSONEq(t, `{"content":"3.5","data":{"sum":3.5,"run":{
		"agentId":"airi-host","runId":"airi-host","companyId":"acme","projectId":"airi-host"}}}`, h.calls(t, add))

	_, err := h.tries(t, protocol.Call{Key: "tool:refuse", Scope: "acme"})
	wantPeerError(t, err, "", "the kitchen is closed")
	add.Input = json.RawMessage(`{"a":"one"}`)
	_, err = h.tries(t, add)
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
	require.ErrorContains(t, err, "the input of tool:add of plugin kitchen: ")
	_, err = h.tries(t, protocol.Call{Key: "tool:refuse"})
	wantCode(t, err, protocol.CodeInvalid, "plugin kitchen: tool:refuse needs a company and has none: give the call a scope, or the host a default one")
}

func callsActions(t *testing.T, h *home) {
	t.Helper()
	nobody := `"userId":null,"agentId":null,"runId":null`
	h.wantActs(t, `{"params":{"n":1,"companyId":"acme"},"companyId":"acme","actor":{"type":"system",`+nobody+`,"companyId":"acme"}}`,
		"kitchen", "who", "acme", `{"n":1}`)
	h.wantActs(t, `{"params":{"companyId":"mine"},"companyId":null,"actor":{"type":"system",`+nobody+`,"companyId":null}}`,
		"kitchen", "who", "", `{"companyId":"mine"}`)
	_, err := h.acts(t, "kitchen", "fail", "acme", `{"message":"no","code":7}`)
	wantPeerError(t, err, "7", "no")
	_, err = h.acts(t, "kitchen", "fail", "acme", `{"message":"no","code":"ENOENT"}`)
	wantPeerError(t, err, "-32002", "no")
	_, err = h.acts(t, "kitchen", "absent", "acme", `{}`)
	wantPeerError(t, err, "-32002", `No action handler registered for key "absent"`)
}

func callsData(t *testing.T, h *home) {
	t.Helper()
	const input = `{"text":"<&>\u2028é😀","deep":[{"a":[null,true,1e-7]}]}`
	require.JSONEq(t, input, h.calls(t, protocol.Call{Key: "data:echo", Plugin: "kitchen", Input: json.RawMessage(input)}))
	require.JSONEq(t, `{"waiter":{"companyId":"acme"}}`, h.calls(t, protocol.Call{Key: "data:echo", Plugin: "waiter", Scope: "acme"}))
	// Workers announce no data, so that whose it is has to be said.
	_, err := h.tries(t, protocol.Call{Key: "data:echo"})
	wantCode(t, err, protocol.CodeNotFound, "nobody offers data:echo: if a plugin has it that announces no such thing, name the plugin")
}

// seen is what the kitchen's handlers were given.
func (h *home) seen(t *testing.T) (seen struct{ Events, Jobs, Webhooks, Configs []map[string]any }) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(h.calls(t, protocol.Call{Key: "data:seen", Plugin: "kitchen"})), &seen))
	return seen
}

func runsJobs(t *testing.T, h *home) {
	t.Helper()
	for i, input := range []string{``, `{"trigger":"schedule"}`, `{"trigger":"manual"}`, `{"trigger":"retry"}`} {
		call := protocol.Call{Key: "job:sync"}
		if input != "" {
			call.Input = json.RawMessage(input)
		}
		require.Equal(t, "null", h.calls(t, call))
		job := h.seen(t).Jobs[i]
		require.Equal(t, []string{"manual", "schedule", "manual", "retry"}[i], job["trigger"])
		require.Equal(t, "sync", job["jobKey"])
		require.NotEmpty(t, job["runId"])
		at, err := time.Parse(time.RFC3339, job["scheduledAt"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), at, patience)
	}
	_, err := h.tries(t, protocol.Call{Key: "job:sync", Input: json.RawMessage(`{"trigger":"fun"}`)})
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
}

func handsWebhooks(t *testing.T, h *home) {
	t.Helper()
	require.Equal(t, "null", h.calls(t, protocol.Call{Key: "webhook:inbox", Input: json.RawMessage(
		`{"headers":{"x-a":"1","x-b":["2","3"]},"rawBody":"{\"n\":1}","parsedBody":{"n":1},"requestId":"q"}`)}))
	require.Equal(t, map[string]any{
		"endpointKey": "inbox", "headers": map[string]any{"x-a": "1", "x-b": []any{"2", "3"}}, "rawBody": `{"n":1}`,
		"parsedBody": map[string]any{"n": 1.0}, "requestId": "q",
	}, h.seen(t).Webhooks[0])
}

func servesEndpoints(t *testing.T, h *home) {
	t.Helper()
	require.JSONEq(t, `{"status":200,"headers":{"x-kitchen":"thing.get"},
		"body":{"path":"/things/a%2Fb%20c","params":{"id":"a/b c"},"query":{"x":["1","2"]},"body":null}}`,
		h.calls(t, protocol.Call{Key: "http:GET /things/:id", Scope: "acme", Input: json.RawMessage(`{"params":{"id":"a/b c"},"query":{"x":["1","2"]}}`)}))
	require.JSONEq(t, `{"status":201,"headers":{"x-kitchen":"thing.add"},"body":{"path":"/things","params":{},"query":{},"body":{"n":[1]}}}`,
		h.calls(t, protocol.Call{Key: "http:POST /things", Scope: "acme", Input: json.RawMessage(`{"body":{"n":[1]}}`)}))
	_, err := h.tries(t, protocol.Call{Key: "http:GET /menu", Scope: "acme"})
	wantCode(t, err, protocol.CodeNotFound, "nobody offers http:GET /menu")
}

func tellsEvents(t *testing.T, h *home) {
	t.Helper()
	tell := func(name, company, payload string) {
		t.Helper()
		h.calls(t, protocol.Call{Key: "event:" + name, Scope: company, Input: json.RawMessage(payload)})
	}
	tell("season.spring", "acme", `1`)
	tell("season", "acme", `2`)
	tell("seasonal", "acme", `3`)
	tell("order.placed", "acme", `4`)
	tell("order.placed", "globex", `5`)
	h.wantActs(t, `null`, "kitchen", "emit", "acme", `{"name":"done","companyId":"acme","payload":{"n":6}}`)
	tell("season.autumn", "", `7`)

	var heard []struct {
		By, EventID, EventType, CompanyID, ActorType, ActorID string
		Payload                                               json.RawMessage
	}
	eventually(t, func() bool {
		require.NoError(t, json.Unmarshal([]byte(h.calls(t, protocol.Call{Key: "data:heard", Plugin: "waiter"})), &heard))
		return len(heard) >= 5
	}, h.journal)
	var told, ids []string
	for _, e := range heard {
		told = append(told, e.By+" "+e.EventType+" "+e.CompanyID+" "+e.ActorType+" "+e.ActorID+" "+string(e.Payload))
		if e.EventType == "season.spring" {
			ids = append(ids, e.EventID)
		}
	}
	require.ElementsMatch(t, []string{
		"exact season.spring acme system airi-host 1", "pattern season.spring acme system airi-host 1",
		"filter order.placed globex system airi-host 5", "kitchen plugin.kitchen.done acme plugin kitchen {\"n\":6}",
		"pattern season.autumn  system airi-host 7",
	}, told)
	require.Equal(t, ids[0], ids[1], "it was told once, however many subscriptions there are")
	events := h.seen(t).Events
	require.Len(t, events, 1, "whoever emits hears it too")
	require.Equal(t, "plugin.kitchen.done", events[0]["eventType"])
}

func runsEnvironments(t *testing.T, h *home) {
	t.Helper()
	hook := func(name, company, input string) string {
		t.Helper()
		return h.calls(t, protocol.Call{Key: "environment:shed." + name, Scope: company, Input: json.RawMessage(input)})
	}
	base := `"environmentId":"e","config":{}`
	require.JSONEq(t, `{"ok":true,"summary":"dry"}`, hook("probe", "acme", `{`+base+`}`))
	require.JSONEq(t, `{"providerLeaseId":"lease-of-r","metadata":{}}`, hook("acquireLease", "", `{"companyId":"acme","runId":"r",`+base+`}`))
	require.JSONEq(t, `{"exitCode":0,"timedOut":false,"stdout":"dig deep\n","stderr":""}`,
		hook("execute", "acme", `{`+base+`,"lease":{"providerLeaseId":"l"},"command":"dig","args":["deep"]}`))
	require.Equal(t, uint64(1), h.session(t, "kitchen").Dropped["log-late"], "nobody follows its log")
	require.JSONEq(t, `{"ok":true,"normalizedConfig":{"a":1}}`, hook("validateConfig", "", `{"config":{"a":1}}`))
	require.JSONEq(t, `{"ok":false,"errors":["the shed is broken"]}`, hook("validateConfig", "", `{"config":{"broken":true}}`))
	require.Equal(t, "null", hook("releaseLease", "acme", `{"providerLeaseId":"l",`+base+`}`))
	_, err := h.tries(t, protocol.Call{Key: "environment:shed.probe", Input: json.RawMessage(`{` + base + `}`)})
	require.ErrorContains(t, err, "environment:shed.probe needs a company and has none")
	_, err = h.tries(t, protocol.Call{Key: "environment:shed.syncIn", Scope: "acme"})
	wantCode(t, err, protocol.CodeNotFound, "nobody offers environment:shed.syncIn")
}

func asksForHealth(t *testing.T, h *home) {
	t.Helper()
	require.Contains(t, h.calls(t, protocol.Call{Key: "paperclip:health", Plugin: "kitchen"}), `"status":"ok","message":"warm"`)
	require.JSONEq(t, `{"status":"ok"}`, h.calls(t, protocol.Call{Key: "paperclip:health", Plugin: "waiter"}))
}

// An AIRI module in Node and a plugin compiled in call a worker and are called by it.
func TestHost_bringsEcosystemsTogether(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip, `{"scope":"acme"}`, nil)
	h.start(t, "kitchen", Changes{Host: map[string]any{"invoke": []string{"tool:echo", "tool:greet", "data:*"}}})
	h.startDir(t, filepath.Join("..", "testdata", "plugins", "greeter"))
	h.startDir(t, filepath.Join("..", "testdata", "plugins", "echo"))
	h.startDir(t, moduleThatAdds(t))
	h.start(t, "waiter", Changes{})

	require.JSONEq(t, `{"content":"sum 3","data":{"agentId":"airi-host","runId":"airi-host","companyId":"acme","projectId":"airi-host"}}`,
		h.calls(t, protocol.Call{Key: "tool:count", Input: json.RawMessage(`{"a":1,"b":2}`)}))
	_, err := h.tries(t, protocol.Call{Key: "tool:count", Input: json.RawMessage(`{"a":"x"}`)})
	require.ErrorContains(t, err, "the input of tool:add of plugin kitchen: ")

	for _, row := range []struct {
		plugin, key, method, input string
		status                     int
		want                       string
	}{
		{"kitchen", "tool:greet", "POST", `{"name":"Ada"}`, 200, `{"content":"Hello, Ada!"}`},
		{"kitchen", "tool:greet", "POST", `{}`, 500, `{"error":{"code":"peer","message":"whom? give a name"}}`},
		{"kitchen", "tool:echo", "POST", `{"text":"hi"}`, 200, `{"content":"hi","data":{"text":"hi"}}`},
		{"kitchen", "data:echo?plugin=waiter", "POST", `{"n":1}`, 200, `{"waiter":{"n":1,"companyId":"acme"}}`},
		{"kitchen", "data:slow?plugin=waiter&timeoutMs=50", "POST", `{"ms":1000}`, 504, `{"error":{"code":"timeout","message":"data:slow of plugin waiter did not answer before the deadline (the call's own deadline)"}}`},
		{"kitchen", "tool:greet", "GET", ``, 405, `{"error":{"code":"invalid","message":"expected POST, with the input as its body"}}`},
		{"kitchen", "tool:refuse", "POST", `{}`, 403, `{"error":{"code":"denied","message":"plugin kitchen may not call tool:refuse: its manifest's airi-host.invoke does not list it"}}`},
		{"waiter", "tool:greet", "POST", `{}`, 403, `{"error":{"code":"denied","message":"plugin waiter may not call tool:greet: its manifest's airi-host.invoke does not list it"}}`},
	} {
		init, err := json.Marshal(map[string]string{"method": row.method, "body": row.input})
		require.NoError(t, err)
		result, err := h.acts(t, row.plugin, "fetch", "", `{"url":"http://airi-host.invalid/invoke/`+row.key+`","init":`+string(init)+`}`)
		require.NoError(t, err, row.key)
		var answer struct {
			Status int
			Body   string
		}
		require.NoError(t, json.Unmarshal([]byte(result), &answer))
		require.Equal(t, row.status, answer.Status, answer.Body)
		require.JSONEq(t, row.want, answer.Body)
	}
	require.Equal(t, lifecycle.Ready, h.session(t, "kitchen").Phase)
}

// moduleThatAdds is an AIRI module whose tool calls the kitchen's by an Eventa invoke.
func moduleThatAdds(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plugin.json": `{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":"counter",
			"entrypoints":{"node":"./counter.mjs"},"airi-host":{"requires":["tool:add"]}}`,
		"counter.mjs": `import { defineInvoke, defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
			import { definePlugin } from '@proj-airi/plugin-sdk'
			export default definePlugin('counter', '1.0.0', () => ({
				async setupModules({ channels }) {
					const add = defineInvoke(channels.host, defineInvokeEventa('tool:add'))
					defineInvokeHandler(channels.host, defineInvokeEventa('tool:count'), async (input) => {
						const { content, data } = await add(input)
						return { content: 'sum ' + content, data: data.run }
					})
				},
			}))`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}
