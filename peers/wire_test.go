package peers

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// said is one thing that both hosts say to a worker: this host when it is called for
// a key, Paperclip's own when it is told to send a method with these parameters.
// UUID and TIME stand for an id and a time that the hosts choose.
type said struct {
	key, input, scope string
	method, params    string
}

const (
	aUUID = "00000000-0000-4000-8000-000000000000"
	aTime = "2026-01-01T00:00:00.000Z"
)

// conversation is all that a kitchen can be asked, in Paperclip's order of members.
var conversation = []said{
	{"paperclip:health", ``, "", "health", `{}`},
	{
		"tool:add", `{"a":1,"b":2}`, "acme", "executeTool",
		`{"toolName":"add","parameters":{"a":1,"b":2},"runContext":{"agentId":"airi-host","runId":"airi-host","companyId":"acme","projectId":"airi-host"}}`,
	},
	{"data:echo", `{"text":"<&>é\ud800","n":1e-7}`, "acme", "getData", `{"key":"echo","companyId":"acme","params":{"text":"<&>é\ud800","n":1e-7}}`},
	{"data:echo", ``, "", "getData", `{"key":"echo","params":{}}`},
	{
		"action:who", `{"params":{"n":1}}`, " acme ", "performAction",
		`{"key":"who","companyId":"acme","params":{"n":1},"actorContext":{"type":"system","userId":null,"agentId":null,"runId":null,"companyId":"acme"}}`,
	},
	{"job:sync", `{"trigger":"retry"}`, "", "runJob", `{"job":{"jobKey":"sync","runId":"UUID","trigger":"retry","scheduledAt":"TIME"}}`},
	{
		"webhook:inbox", `{"headers":{"a":["1","2"]},"rawBody":"{}","parsedBody":{},"requestId":"q"}`, "", "handleWebhook",
		`{"endpointKey":"inbox","headers":{"a":["1","2"]},"rawBody":"{}","parsedBody":{},"requestId":"q"}`,
	},
	{
		"http:GET /things/:id", `{"params":{"id":"7"},"query":{"a":"b"},"headers":{"h":"1"}}`, "acme", "handleApiRequest",
		`{"routeKey":"thing.get","method":"GET","path":"/things/7","params":{"id":"7"},"query":{"a":"b"},"body":null,` +
			`"actor":{"actorType":"user","actorId":"airi-host","userId":"airi-host"},"companyId":"acme","headers":{"h":"1"}}`,
	},
	{
		"event:issue.created", `{"n":1}`, "acme", "onEvent",
		`{"event":{"eventId":"UUID","eventType":"issue.created","companyId":"acme","occurredAt":"TIME","actorType":"system","actorId":"airi-host","payload":{"n":1}}}`,
	},
	{"environment:shed.validateConfig", `{"config":{"a":1}}`, "", "environmentValidateConfig", `{"driverKey":"shed","config":{"a":1}}`},
	{
		"environment:shed.probe", `{"environmentId":"e","config":{}}`, "acme", "environmentProbe",
		`{"driverKey":"shed","companyId":"acme","environmentId":"e","config":{}}`,
	},
	{
		"environment:shed.acquireLease", `{"environmentId":"e","config":{},"runId":"r"}`, "acme", "environmentAcquireLease",
		`{"driverKey":"shed","companyId":"acme","environmentId":"e","config":{},"runId":"r"}`,
	},
	{
		"environment:shed.execute", `{"environmentId":"e","config":{},"lease":{"providerLeaseId":"l"},"command":"dig"}`, "acme", "environmentExecute",
		`{"driverKey":"shed","companyId":"acme","environmentId":"e","config":{},"lease":{"providerLeaseId":"l"},"command":"dig"}`,
	},
	// What the worker asks meanwhile is answered alike, also when it is refused.
	{"action:config", `{"params":{}}`, "acme", "performAction", acting("config", "acme", `{}`)},
	{"action:state.set", `{"params":` + atCompany("acme") + `}`, "acme", "performAction", acting("state.set", "acme", atCompany("acme"))},
	{"action:state.get", `{"params":` + atCompany("acme") + `}`, "acme", "performAction", acting("state.get", "acme", atCompany("acme"))},
	{"action:state.get", `{"params":` + atCompany("globex") + `}`, "acme", "performAction", acting("state.get", "acme", atCompany("globex"))},
	{"action:metric", `{"params":{"name":"x","value":1}}`, "acme", "performAction", acting("metric", "acme", `{"name":"x","value":1}`)},
	{"paperclip:configChanged", `{"config":{"greeting":"Hey"},"companyId":"acme"}`, "", "configChanged", `{"config":{"greeting":"Hey"},"companyId":"acme"}`},
	{"paperclip:validateConfig", `{"config":{"mode":"bad"}}`, "", "validateConfig", `{"config":{"mode":"bad"}}`},
	{"paperclip:noSuchMethod", `{}`, "", "noSuchMethod", `{}`},
}

func acting(key, company, params string) string {
	return `{"key":"` + key + `","companyId":"` + company + `","params":` + params +
		`,"actorContext":{"type":"system","userId":null,"agentId":null,"runId":null,"companyId":"` + company + `"}}`
}

func atCompany(company string) string {
	return `{"where":{"scopeKind":"company","scopeId":"` + company + `","stateKey":"k"},"value":{"n":1}}`
}

// raw is what a rogue writes onto the wire as it is: what no service answers, what it
// has no grant for, and what it may not ask for outside of a call.
const raw = `{"jsonrpc":"2.0","id":"1","method":"no.such","params":{}}
{"jsonrpc":"2.0","id":"2","method":"state.set","params":{"scopeKind":"instance","stateKey":"k","value":1}}
{"jsonrpc":"2.0","id":"3","method":"state.get","params":{"scopeKind":"company","scopeId":"acme","stateKey":"k"}}
{"jsonrpc":"2.0","id":"4","method":"state.get","params":{"scopeKind":"instance","stateKey":"k"},"paperclipInvocationId":"long-gone"}
{"jsonrpc":"2.0","id":"5","method":"config.get","params":{"companyId":"acme"},"paperclipInvocationId":"long-gone"}
`

// A worker cannot tell this host from Paperclip's by what it receives, byte by byte,
// but for ids, times and what the hosts say of themselves.
func TestHost_sendsWhatPaperclipSends(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip916, "", nil)
	m := lab{StartManager(t, h.modules, nil), h.modules}
	for name, run := range map[string]func(*testing.T, *home, lab, *pair){"kitchen": converse, "rogue": speakOutOfTurn} {
		t.Run(name, func(t *testing.T) {
			p := &pair{ours: Fixture(t, h.modules, name, Changes{Record: true}), theirs: Fixture(t, h.modules, name, Changes{Record: true})}
			h.startDir(t, p.ours)
			m.Do(t, "start", map[string]any{"dir": p.theirs}, nil)
			run(t, h, m, p)
			_, err := h.Stop(t.Context(), h.session(t, name).ID)
			require.NoError(t, err)
			m.stop(t, name)
			theirs, ours := heardBy(t, p.theirs), heardBy(t, p.ours)
			require.Equal(t, theirs.calls, ours.calls)
			require.Equal(t, theirs.answers, ours.answers)
		})
	}
}

// pair is one plugin under each host: their directories.
type pair struct{ ours, theirs string }

func converse(t *testing.T, h *home, m lab, _ *pair) {
	t.Helper()
	for _, s := range conversation {
		params := json.RawMessage(strings.NewReplacer("UUID", aUUID, "TIME", aTime).Replace(s.params))
		op := "call"
		if s.method == "onEvent" {
			op = "notify"
		}
		var theirs json.RawMessage
		theirErr := m.Try(t, op, map[string]any{"plugin": "kitchen", "method": s.method, "params": params}, &theirs)
		c := protocol.Call{Key: s.key, Scope: s.scope, Plugin: "kitchen"}
		if s.input != "" {
			c.Input = json.RawMessage(s.input)
		}
		ours, err := h.tries(t, c)
		require.Equal(t, theirErr == nil, err == nil, "%s: %v; theirs: %v", s.key, err, theirErr)
		if err != nil {
			require.Equal(t, theirErr.Error(), "call: "+err.Error())
		} else if strings.HasPrefix(s.key, "data:") {
			require.JSONEq(t, string(theirs), ours)
		}
	}
}

func speakOutOfTurn(t *testing.T, h *home, m lab, p *pair) {
	t.Helper()
	for line := range strings.Lines(raw) {
		input, err := json.Marshal(map[string]string{"text": line})
		require.NoError(t, err)
		require.NoError(t, m.rogue(t, "rogue", "say", string(input), false, nil))
		h.calls(t, protocol.Call{Key: "data:say", Plugin: "rogue", Input: input})
	}
	for _, dir := range []string{p.ours, p.theirs} {
		eventually(t, func() bool { return len(heardBy(t, dir).answers) == 5 }, dir)
	}
}

var (
	itself = regexp.MustCompile(`"instanceInfo":\{[^}]*\}`)
	uuids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	times  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
)

// heard is what a worker was sent: what it was called for, in order, and the answers
// to what it asked, by their ids, since a host works on several things at once.
type heard struct{ calls, answers []string }

func heardBy(t *testing.T, dir string) (all heard) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, Received))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		line = itself.ReplaceAllString(times.ReplaceAllString(uuids.ReplaceAllString(line, "UUID"), "TIME"), `"instanceInfo":{}`)
		var f frame
		require.NoError(t, json.Unmarshal([]byte(line), &f))
		if f.Method != "" {
			all.calls = append(all.calls, line)
		} else {
			all.answers = append(all.answers, line)
		}
	}
	slices.SortStableFunc(all.answers, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(idOf(a)), len(idOf(b))), cmp.Compare(idOf(a), idOf(b)))
	})
	return all
}

// idOf is the id of an answer, as it is written.
func idOf(line string) string {
	var f frame
	_ = json.Unmarshal([]byte(line), &f) // it was read before
	return string(f.ID)
}
