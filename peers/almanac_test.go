package peers

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin/ws"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
	"github.com/airi-host/airi-host/testdata/plugins/greeter"
	"github.com/airi-host/airi-host/testdata/workers/almanac/sky"
)

// buildAlmanac builds the almanac for as long as a test runs.
func buildAlmanac(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "almanac")
	said, err := exec.Command("go", "build", "-o", program, "../testdata/workers/almanac").CombinedOutput()
	require.NoError(t, err, "%s", said)
	return program
}

// almanacs are the directories of the almanac in each of its homes.
var almanacs = map[string]func(t *testing.T, program string) string{
	"memory": func(t *testing.T, _ string) string {
		t.Helper()
		return compiledIn(t, "almanac", `"scope":"acme"`)
	},
	"eliza": func(t *testing.T, program string) string {
		t.Helper()
		return written(t, map[string]string{
			"plugin.json": `{"id":"almanac","name":"x","version":"1","description":"x","mode":"background","permissions":{"bun":{"run":true,"read":true,"write":true}},
				"view":{"relativePath":"v.html","title":"x","width":1,"height":1},"worker":{"relativePath":"main.go"},
				"airi-host":{"command":[` + strconv.Quote(program) + `],"scope":"acme"}}`,
			"main.go": "package main\n",
		})
	},
	"paperclip": func(t *testing.T, program string) string {
		t.Helper()
		return written(t, map[string]string{
			"package.json": `{"name":"almanac","type":"module","paperclipPlugin":{"manifest":"./manifest.mjs","worker":"./main.go"}}`,
			"main.go":      "package main\n",
			"manifest.mjs": `export default { id: 'almanac', apiVersion: 1, version: '1.0.0', displayName: 'x', description: 'x', author: 'x',
				categories: ['automation'], entrypoints: { worker: './main.go' },
				capabilities: ['agent.tools.register', 'events.subscribe', 'jobs.schedule', 'webhooks.receive', 'api.routes.register'],
				tools: [{ name: 'look', displayName: 'x', description: 'x', parametersSchema: { type: 'object' } }],
				jobs: [{ jobKey: 'turn', displayName: 'x', schedule: '0 0 1 1 *' }],
				webhooks: [{ endpointKey: 'star', displayName: 'x' }],
				apiRoutes: [
					{ routeKey: 'day', method: 'GET', path: '/days/:n', auth: 'board', capability: 'api.routes.register' },
					{ routeKey: 'days', method: 'POST', path: '/days', auth: 'board', capability: 'api.routes.register' },
				],
				'airi-host': { command: [` + strconv.Quote(program) + `], scope: 'acme', invoke: ['*'] } }`,
		})
	},
}

// openAlmanac is a host with the almanac in one of its homes, ready and configured, and the
// greeter.
func openAlmanac(t *testing.T, program, where string, o ecosystems.Options) *ecosystems.Host {
	t.Helper()
	need.Node(t)
	o.Host.Programs = map[string]protocol.Program{"greeter": greeter.Plugin(), "almanac": sky.Plugin()}
	h := elizas(t, o, almanacs[where](t, program), compiledIn(t, "greeter", ``))
	configured := func(m *manifest.Manifest) actors.StartOptions {
		if m.PluginName() != "almanac" {
			return actors.StartOptions{}
		}
		return actors.StartOptions{Config: &protocol.Config{Full: json.RawMessage(`{"city":"Paris"}`)}}
	}
	for _, one := range h.StartAll(t.Context(), h.Found.Manifests, configured, nil) {
		require.NoError(t, one.Err, one.Info.Plugin)
	}
	return h
}

// row is one call of the almanac, which comes to the same in all homes that have its kind.
type row struct {
	what, key, input string
	// homes are those that have the kind; nil are all.
	homes []string
	// items are what comes before the result, where the home's wire has that.
	items         []string
	result, fails string
	// name and code are of the failure, where the home's wire has them.
	name, code string
}

var (
	conversational = []string{"memory", "eliza", "websocket"}
	industrious    = []string{"memory", "paperclip", "websocket"}
)

var almanacRows = []row{
	{
		what: "an action that says something on the way", key: "action:TELL", input: `{"params":{"what":"moon"}}`,
		items: []string{`{"text":"looking up"}`, `{"text":"still looking"}`}, result: `{"success":true,"text":"the moon is up"}`,
	},
	{what: "whether it fits", key: "action:TELL.validate", input: `{"message":{"content":{"text":"the sky"}}}`, homes: conversational, result: `true`},
	{what: "whether it does not fit", key: "action:TELL.validate", input: `{"message":{}}`, homes: conversational, result: `false`},
	{what: "an action that was offered by a hook, with the configuration", key: "action:CITY", result: `{"success":true,"text":"Paris"}`},
	{what: "an action that fails", key: "action:FAIL", input: `{"params":{"what":"failure"}}`, fails: "the sky has fallen", name: "SkyError", code: `"FALLEN"`},
	{what: "a provider", key: "provider:SKY", input: `{"message":{"a":1}}`, homes: conversational, result: `{"text":"clear","values":{"asked":{"a":1}}}`},
	{what: "an evaluator", key: "evaluator:MOOD", input: `{"state":{"b":[2]}}`, homes: conversational, result: `{"b":[2]}`},
	{what: "whether an evaluator fits", key: "evaluator:MOOD.validate", input: `{}`, homes: conversational, result: `true`},
	{what: "a model", key: "model:UPPER", input: `{"what":"moon"}`, homes: conversational, result: `"MOON"`},
	{what: "a model that fails", key: "model:UPPER", input: `{"what":"failure"}`, homes: conversational, fails: "the sky has fallen", name: "SkyError", code: `"FALLEN"`},
	{what: "a model that streams", key: "model:WORDS", input: `{"what":"sun and moon"}`, homes: conversational, items: []string{`"sun"`, `"and"`, `"moon"`}, result: `null`},
	{
		what: "a model that fails while it streams", key: "model:WORDS", input: `{"what":"failure"}`, homes: conversational, items: []string{`"failure"`},
		fails: "the sky has fallen", name: "SkyError", code: `"FALLEN"`,
	},
	{what: "a service that fails to start", key: "service:calendar.openings", input: `[]`, homes: conversational, fails: "the service calendar: the calendar is locked"},
	{what: "it is started again, once", key: "service:calendar.openings", input: `[]`, homes: conversational, result: `2`},
	{what: "a method with one argument", key: "service:calendar.next", input: `[7]`, homes: conversational, result: `8`},
	{what: "a method with an argument that is not in an array", key: "service:calendar.next", input: `7`, homes: conversational, result: `8`},
	{what: "a method with many arguments", key: "service:calendar.sum", input: `[1,2,3]`, homes: conversational, result: `6`},
	{what: "too many arguments", key: "service:calendar.next", input: `[1,2]`, homes: conversational, fails: "the arguments: expected one at most, got 2"},
	{what: "an argument of another type", key: "service:calendar.next", input: `["x"]`, homes: conversational, fails: `the input's field "(the whole)": expected int, got string`},
	{what: "a method that is not offered", key: "service:calendar.lock", input: `[]`, homes: conversational, fails: "plugin almanac does not offer service:calendar.lock"},
	{what: "a tool", key: "tool:look", input: `{"what":"moon"}`, homes: industrious, result: `{"content":"the moon is up","data":{"what":"moon"}}`},
	{what: "a tool that fails", key: "tool:look", input: `{"what":"failure"}`, homes: industrious, fails: "the sky has fallen", name: "SkyError", code: `"FALLEN"`},
	{what: "data", key: "data:phase", input: `{"what":"moon"}`, homes: industrious, result: `"half moon"`},
	{what: "an endpoint", key: "http:GET /days/:n", input: `{"params":{"n":"7"},"query":{"of":"x"}}`, result: `{"status":200,"headers":{},"body":"day 7x"}`},
	{what: "an endpoint with a body", key: "http:POST /days", input: `{"body":{"n":[1]}}`, result: `{"status":201,"headers":{"x-sky":"clear"},"body":{"n":[1]}}`},
	{what: "a job", key: "job:turn", input: `{"trigger":"manual"}`, homes: industrious, result: `null`},
	{what: "a webhook", key: "webhook:star", input: `{"headers":{},"rawBody":"four"}`, homes: industrious, result: `null`},
	{what: "what it has heard so far", key: "action:HEARD", homes: industrious, result: `{"success":true,"data":{"heard":[6,4]}}`},
	{what: "what it has heard so far", key: "action:HEARD", homes: []string{"eliza"}, result: `{"success":true,"data":{"heard":[]}}`},
	{
		what: "a call of another plugin", key: "action:CALL", input: `{"params":{"key":"tool:greet","input":{"name":"Ada"}}}`,
		result: `{"success":true,"data":{"got":{"result":{"content":"Hello, Ada!"}}}}`,
	},
	{
		what: "a call of another plugin that fails", key: "action:CALL", input: `{"params":{"key":"tool:greet","input":{}}}`,
		result: `{"success":true,"data":{"got":{"failed":"whom? give a name"}}}`,
	},
	{
		what: "a call of its own model", key: "action:CALL", input: `{"params":{"key":"model:UPPER","input":{"what":"moon"}}}`, homes: conversational,
		result: `{"success":true,"data":{"got":{"result":"MOON"}}}`,
	},
	{
		what: "a call that it follows", key: "action:CALL", input: `{"params":{"key":"model:WORDS","input":{"what":"a b"},"follow":true}}`, homes: conversational,
		result: `{"success":true,"data":{"got":{"result":null,"items":["a","b"]}}}`,
	},
}

// One source does the same wherever it lives, as far as the home's wire has a word for it.
func TestAlmanac_doesTheSameInAllItsHomes(t *testing.T) {
	program := buildAlmanac(t)
	for where := range almanacs {
		t.Run(where, func(t *testing.T) {
			doesTheSame(t, openAlmanac(t, program, where, ecosystems.Options{Policy: ecosystems.Policy{Company: "acme"}}), where)
		})
	}
	t.Run("websocket", func(t *testing.T) { doesTheSame(t, openAlmanacModule(t), "websocket") })
	t.Run("eliza, signed", func(t *testing.T) {
		state, refused := t.TempDir(), atomic.Int64{}
		h := openAlmanac(t, program, "eliza", ecosystems.Options{
			Policy:   ecosystems.Policy{Company: "acme", Denied: func(eliza.Denial) { refused.Add(1) }},
			StateDir: func(string) (string, error) { return state, nil }, Signs: func(string) bool { return true },
		})
		require.FileExists(t, filepath.Join(state, ecosystems.KeyFile))
		doesTheSame(t, h, "eliza")
		require.Zero(t, refused.Load())
	})
}

// openAlmanacModule is a host with the greeter, and with the almanac as a module on a websocket.
func openAlmanacModule(t *testing.T) *ecosystems.Host {
	t.Helper()
	need.Node(t)
	o := ecosystems.Options{Policy: ecosystems.Policy{Company: "acme"}}
	o.Host.Programs = map[string]protocol.Program{"greeter": greeter.Plugin()}
	h := startElizas(t, o, compiledIn(t, "greeter", ``))
	g := gateway.New(gateway.Options{Host: h.Host})
	web := httptest.NewServer(g)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() {
		done <- ws.Serve(ctx, sky.Plugin(), ws.Options{
			URL: "ws" + strings.TrimPrefix(web.URL, "http") + "/ws", NeedsConfig: true, Log: slog.NewTextHandler(t.Output(), nil),
		})
	}()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
		require.NoError(t, g.Shutdown(context.WithoutCancel(t.Context())))
		web.Close()
	})
	is := func(want lifecycle.State) (session string) {
		eventually(t, func() bool {
			info, err := h.Inspect("almanac")
			session = info.ID
			return err == nil && info.Phase == want
		}, &session)
		return session
	}
	config := protocol.Config{ID: "almanac:test", Revision: 1, Full: json.RawMessage(`{"city":"Paris"}`)}
	_, err := h.CommitConfiguration(t.Context(), is(lifecycle.ConfigurationNeeded), config)
	require.NoError(t, err)
	is(lifecycle.Ready)
	return h
}

func doesTheSame(t *testing.T, h *ecosystems.Host, where string) {
	t.Helper()
	for _, r := range almanacRows {
		if r.homes == nil || slices.Contains(r.homes, where) {
			r.want(t, h, where)
		}
	}
	_, err := asks(t, h, "event:sky.turned", `{"by":9}`)
	require.NoError(t, err)
	_, err = asks(t, h, "action:CALL", `{"params":{"key":"event:sky.turned","input":{"by":8}}}`)
	require.NoError(t, err)
	var result string
	eventually(t, func() bool {
		result, err = asks(t, h, "action:HEARD", `{}`)
		return err == nil && strings.HasSuffix(result, `9,8]}}`)
	}, &result)
}

// As it is in its directory, with the command that builds it.
func TestAlmanac_runsAsItIs(t *testing.T) {
	h := startElizas(t, ecosystems.Options{}, "../testdata/workers/almanac")
	items, result, err := says(t, h, "action:TELL", `{"params":{"what":"moon"}}`)
	require.NoError(t, err)
	require.Equal(t, []string{`{"text":"looking up"}`, `{"text":"still looking"}`}, items)
	require.Equal(t, `{"success":true,"text":"the moon is up"}`, result)
	about := map[string]capability.Offer{}
	for _, o := range h.Offers() {
		about[string(o.Key)] = o
	}
	require.Equal(t, "tells what the sky does", about["action:TELL"].Description)
	require.JSONEq(t, `{"similes":["SKY","LOOK_UP"],"validate":"action:TELL.validate"}`, string(about["action:TELL"].Metadata))
	require.JSONEq(t, `{"position":3}`, string(about["provider:SKY"].Metadata))
	for _, none := range []string{"tool:look", "data:phase", "job:turn", "webhook:star"} {
		require.NotContains(t, about, none, "elizaOS has no such kind")
	}
}

// What the host does not grant, neither end does; what a worker says of its own is in its log.
func TestAlmanac_underAnElizaHostThatGrantsLittle(t *testing.T) {
	var denied atomic.Pointer[eliza.Denial]
	h := openAlmanac(t, buildAlmanac(t), "eliza", ecosystems.Options{Policy: ecosystems.Policy{
		Grants: func(string, []string) []string { return []string{"bun:read"} }, Denied: func(d eliza.Denial) { denied.Store(&d) },
	}})
	result, err := asks(t, h, "model:UPPER", `{"what":"moon"}`)
	require.NoError(t, err)
	require.Equal(t, `"MOON"`, result)
	_, err = asks(t, h, "action:TELL", `{}`)
	require.Equal(t, protocol.CodeDenied, protocol.CodeOf(err), err)
	require.Equal(t, "action", denied.Load().Surface)
}

// asks makes a call of the almanac.
func asks(t *testing.T, h *ecosystems.Host, key, input string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	call := protocol.Call{Key: key, Input: json.RawMessage(input)}
	if !strings.HasPrefix(key, "event:") {
		call.Plugin = "almanac"
	}
	result, err := h.Invoke(ctx, call)
	return string(result), err
}

// want makes the call and compares.
func (r row) want(t *testing.T, h *ecosystems.Host, where string) {
	t.Helper()
	var items []string
	call := protocol.Call{Key: r.key, Plugin: "almanac", Progress: func(item json.RawMessage) error {
		items = append(items, string(item))
		return nil
	}}
	if r.input != "" {
		call.Input = json.RawMessage(r.input)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := h.Invoke(ctx, call)
	if where != "paperclip" { // which has no word for it
		require.Equal(t, r.items, items, r.what)
	}
	if r.fails == "" {
		require.NoError(t, err, r.what)
		require.JSONEq(t, r.result, string(result), r.what)
		return
	}
	require.ErrorContains(t, err, r.fails, r.what)
	peer, told := errors.AsType[*protocol.PeerError](err)
	if r.name == "" {
		return
	}
	require.True(t, told, r.what)
	require.Equal(t, r.fails, err.Error(), "in its own words, and no others")
	if where != "paperclip" { // whose wire has numbers, and no names
		require.Equal(t, r.name, peer.Name, r.what)
		require.Equal(t, r.code, string(peer.Code), r.what)
	}
}
