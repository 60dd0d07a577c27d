package paperclip

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

const inCompany = `,"paperclipInvocation":{"id":"id-1","scope":{"companyId":"c"}}`

func TestKinds_becomeMethods(t *testing.T) {
	actor := `"actorContext":{"type":"system","userId":null,"agentId":null,"runId":null,"companyId":"c"}`
	for _, c := range []struct{ key, input, scope, want string }{
		{"tool:greet", `{"name":"x"}`, "c", `"executeTool","params":{"toolName":"greet","parameters":{"name":"x"},"runContext":{"agentId":"airi-host","runId":"airi-host","companyId":"c","projectId":"airi-host"}}` + inCompany},
		{"tool:a:b", ``, " c ", `"executeTool","params":{"toolName":"a:b","parameters":{},"runContext":{"agentId":"airi-host","runId":"airi-host","companyId":"c","projectId":"airi-host"}}` + inCompany},
		{"action:act", `{"params":{"x":1},"message":{}}`, "c", `"performAction","params":{"key":"act","companyId":"c","params":{"x":1},` + actor + `}` + inCompany},
		{"action:act", ``, "", `"performAction","params":{"key":"act","params":{}}`},
		{"data:d", `{"q":1}`, "c", `"getData","params":{"key":"d","companyId":"c","params":{"q":1}}` + inCompany},
		{"data:d", ``, "", `"getData","params":{"key":"d","params":{}}`},
		{"job:sync", `{"trigger":"schedule"}`, "c", `"runJob","params":{"job":{"jobKey":"sync","runId":"id-1","trigger":"schedule","scheduledAt":"2026-01-02T03:04:05.006Z"}}`},
		{"job:sync", `{"runId":" r-1","scheduledAt":"2026-01-01T00:00:00.5+02:00"}`, "", `"runJob","params":{"job":{"jobKey":"sync","runId":"r-1","trigger":"manual","scheduledAt":"2025-12-31T22:00:00.500Z"}}`},
		{"job:sync", ``, "", `"runJob","params":{"job":{"jobKey":"sync","runId":"id-1","trigger":"manual","scheduledAt":"2026-01-02T03:04:05.006Z"}}`},
		{"webhook:gh", `{"headers":{"a":["b"]},"rawBody":"{}","parsedBody":{},"requestId":"r"}`, "c", `"handleWebhook","params":{"endpointKey":"gh","headers":{"a":["b"]},"rawBody":"{}","parsedBody":{},"requestId":"r"}`},
		{"webhook:gh", ``, "", `"handleWebhook","params":{"endpointKey":"gh","headers":{},"rawBody":"","requestId":"id-1"}`},
		{"paperclip:health", ``, "c", `"health","params":{}`},
		{"paperclip:configChanged", `{"config":{},"companyId":"c"}`, "", `"configChanged","params":{"config":{},"companyId":"c"}` + inCompany},
	} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		call := protocol.Call{Key: c.key, Scope: c.scope}
		if c.input != "" {
			call.Input = raw(c.input)
		}
		require.Equal(t, []string{`send {"id":1,"method":` + c.want + `}`}, r.invoke(1, call), c.key)
	}
}

func TestKinds_event(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Equal(t, []string{
		`send {"method":"onEvent","params":{"event":{"eventId":"id-1","eventType":"issue.created","companyId":"","occurredAt":"2026-01-02T03:04:05.006Z","actorType":"system","actorId":"airi-host","payload":null}}}`,
		"complete 1 ok",
	}, r.invoke(1, protocol.Call{Key: "event:issue.created"}))
	require.Equal(t, []string{
		"timer 15m0s",
		`send {"method":"onEvent","params":{"event":{"eventId":"id-2","eventType":"plugin.o.done","companyId":"c","occurredAt":"2026-01-02T03:04:05.006Z","actorType":"plugin","actorId":"other","payload":{"n":1}}},"paperclipInvocation":{"id":"id-3","scope":{"companyId":"c"}}}`,
		"complete 2 ok",
	}, r.invoke(2, protocol.Call{Key: "event:plugin.o.done", Input: raw(`{"n":1}`), Scope: "c", Caller: "other"}))
}

func TestKinds_takeTheDefaultCompany(t *testing.T) {
	r := newRig(t, Plugin{Company: " d "}, protocol.Settings{})
	require.Contains(t, r.invoke(1, protocol.Call{Key: "tool:x"})[0], `"companyId":"d","projectId"`)
	require.Contains(t, r.invoke(2, protocol.Call{Key: "tool:x", Scope: "c"})[0], `"companyId":"c","projectId"`)
}

func TestKinds_refuseWhatTheyDoNotTake(t *testing.T) {
	for _, c := range []struct{ key, input, want string }{
		{"tool:x", `{}`, "invalid: plugin lab: tool:x needs a company and has none: give the call a scope, or the host a default one"},
		{"tool:x", `[]`, "invalid: plugin lab: the input of tool:x: expected an object as its parameters"},
		{"action:x", `7`, "invalid: plugin lab: the input of action:x: expected an object {params?}"},
		{"action:x", `{"params":[]}`, "invalid: plugin lab: the input of action:x: expected an object as params"},
		{"data:x", `null`, "invalid: plugin lab: the input of data:x: expected an object as its params"},
		{"job:x", `{"trigger":"now"}`, `invalid: plugin lab: the input of job:x: trigger: expected "schedule", "manual" or "retry"`},
		{"job:x", `{"trigger":7}`, `invalid: plugin lab: the input of job:x: trigger: expected "schedule", "manual" or "retry"`},
		{"webhook:x", `{"rawBody":{}}`, "invalid: plugin lab: the input of webhook:x: rawBody: expected a string"},
		{"webhook:x", `{"headers":7}`, "invalid: plugin lab: the input of webhook:x: expected an object as headers"},
		{"model:x", `{}`, "not-found: plugin lab: model:x: expected a key of one of the kinds that Paperclip workers have: tool, action, data, job, webhook, http, event, environment"},
		{"greet", `{}`, "not-found: plugin lab: greet: expected a key of one of the kinds that Paperclip workers have: tool, action, data, job, webhook, http, event, environment"},
	} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		require.Equal(t, []string{"complete 1 error " + c.want}, r.invoke(1, protocol.Call{Key: c.key, Input: raw(c.input)}))
	}
}

func TestKinds_someHaveNoResult(t *testing.T) {
	for _, key := range []string{"job:x", "webhook:x"} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		r.invoke(1, protocol.Call{Key: key})
		require.Equal(t, []string{"complete 1 ok null"}, r.receive(`{"id":1,"result":{"more":"than said"}}`))
	}
}

func TestKinds_longInputsShareABuffer(t *testing.T) {
	d := newDriver(Dialect{}, protocol.Settings{Plugin: "lab"})
	send := func(id protocol.CallID, n int) json.RawMessage {
		input := raw(`{"x":"` + strings.Repeat("a", n) + `"}`)
		out := d.Step(now, protocol.Invoke{ID: id, Call: protocol.Call{Key: "data:echo", Input: input}}, nil)
		r, ok := out[0].(protocol.Send).Message.(Request)
		require.True(t, ok)
		require.Equal(t, `{"key":"echo","params":`+string(input)+`}`, string(r.Params))
		return r.Params
	}
	first, second := send(1, 64<<10), send(2, 64<<10)
	require.Same(t, &first[0], &second[0])
	send(3, 10)
	require.NotSame(t, &first[0], &send(4, keptParams)[0])
}
