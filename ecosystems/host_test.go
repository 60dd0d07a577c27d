package ecosystems

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/testdata/plugins/greeter"
	"github.com/airi-host/airi-host/transport/process"

	"github.com/airi-host/airi-host/internal/need"
)

var (
	plugins = filepath.Join("..", "testdata", "plugins")
	builtin = actors.Options{Programs: map[string]protocol.Program{"greeter": greeter.Plugin()}}
)

// open makes a host that ends with the test.
func open(t *testing.T, dirs []string, o Options) *Host {
	t.Helper()
	h, err := Open(dirs, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(t, h.Close(ctx))
	})
	return h
}

func wantCall(t *testing.T, h *Host, c protocol.Call, want string) {
	t.Helper()
	result, err := h.Invoke(t.Context(), c)
	require.NoError(t, err)
	require.JSONEq(t, want, string(result))
}

// worker is a Paperclip worker in JavaScript without an SDK, whose one tool says for
// which company it runs, and what its state holds.
func worker(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json": `{"name": "who", "paperclipPlugin": {"manifest": "./manifest.mjs", "worker": "./worker.mjs"}}`,
		"manifest.mjs": `export default {
			id: 'who', apiVersion: 1, version: '1.0.0', displayName: 'Who', description: 'Says who.', author: 'a',
			categories: ['automation'], capabilities: ['agent.tools.register', 'plugin.state.read'],
			entrypoints: { worker: './worker.mjs' },
			tools: [{ name: 'who', displayName: 'Who', description: 'Says who.', parametersSchema: { type: 'object' } }],
		}`,
		"worker.mjs": `import { createInterface } from 'node:readline'
			const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
			const asked = new Map()
			for await (const line of createInterface({ input: process.stdin })) {
				const { id, method, params, result, error, paperclipInvocation } = JSON.parse(line)
				if (method === 'initialize')
					send({ id, result: { ok: true, supportedMethods: [] } })
				else if (method === 'executeTool') {
					const scopeId = params.runContext.companyId
					asked.set('s', [id, scopeId])
					send({ id: 's', method: 'state.get', params: { scopeKind: 'company', scopeId, stateKey: 'k' }, paperclipInvocationId: paperclipInvocation.id })
				}
				else if (asked.has(id)) {
					const [call, company] = asked.get(id)
					send({ id: call, result: { content: company, data: error?.code ?? result } })
				}
				else if (method === 'shutdown') {
					send({ id, result: null })
					process.exit(0)
				}
			}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestOpen_runsThePluginsOfEveryEcosystem(t *testing.T) {
	need.Node(t)
	h := open(t, []string{filepath.Join(plugins, "greeter"), filepath.Join(plugins, "echo"), worker(t)}, Options{
		Host: builtin, Policy: Policy{Company: "acme"},
	})
	require.Empty(t, h.Found.Problems)
	for _, o := range h.StartAll(t.Context(), h.Found.Manifests, nil, nil) {
		require.NoError(t, o.Err, o.Info.Plugin)
	}
	wantCall(t, h, protocol.Call{Key: "tool:greet", Input: json.RawMessage(`{"name":"Ada"}`)}, `{"content":"Hello, Ada!"}`)
	wantCall(t, h, protocol.Call{Key: "tool:echo", Input: json.RawMessage(`{"text":"a"}`)}, `{"content":"a","data":{"text":"a"}}`)
	wantCall(t, h, protocol.Call{Key: "tool:who", Input: json.RawMessage(`{}`)}, `{"content":"acme","data":null}`)
	wantCall(t, h, protocol.Call{Key: "tool:who", Input: json.RawMessage(`{}`), Scope: "b"}, `{"content":"b","data":null}`)
}

// What a host is given in place of the usual is used.
func TestOpen_leavesWhatIsGiven(t *testing.T) {
	need.Node(t)
	o := Options{Host: builtin, Policy: Policy{Company: "acme"}}
	o.Host.Methods = func(protocol.Plugins) map[string]map[string]protocol.Service {
		state := protocol.ServiceFunc(func(context.Context, protocol.Call) (json.RawMessage, error) { return json.RawMessage(`"mine"`), nil })
		return map[string]map[string]protocol.Service{manifest.DialectPaperclip: {"state.get": state}}
	}
	node := &bridge.Node{}
	launched := 0
	usual := Launch(node, nil)
	o.Host.Launch = func(ctx context.Context, m *manifest.Manifest, e manifest.Entry) (process.Spec, error) {
		launched++
		return usual(ctx, m, e)
	}
	h := open(t, []string{worker(t)}, o)
	h.StartAll(t.Context(), h.Found.Manifests, nil, nil)
	wantCall(t, h, protocol.Call{Key: "tool:who", Input: json.RawMessage(`{}`)}, `{"content":"acme","data":"mine"}`)
	require.Equal(t, 1, launched)
	require.NoError(t, node.Close())
}

func TestOpen_tellsProblemsAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin.json"),
		[]byte(`{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":"gone","entrypoints":{"go":"builtin:gone"}}`), 0o600))
	h := open(t, []string{dir, filepath.Join(plugins, "greeter")}, Options{Host: builtin})
	require.Len(t, h.Found.Manifests, 1)
	require.ErrorContains(t, h.Found.Problems.Err(), "gone")
}

func TestOpen_failsWhereTheHostCannotBeMade(t *testing.T) {
	_, err := Open(nil, Options{Host: actors.Options{Dialects: []protocol.Dialect{airi.Dialect{}}}})
	require.ErrorContains(t, err, "airi")
}

func TestLaunch_saysThatNodeIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	launch := Launch(&bridge.Node{}, nil)
	for _, dialect := range []string{manifest.DialectAIRI, manifest.DialectPaperclip} {
		_, err := launch(t.Context(), &manifest.Manifest{Dialect: dialect}, manifest.Entry{Path: "x.mjs"})
		require.ErrorContains(t, err, "PATH: install version", dialect)
	}
}

// Whoever names a Node.js gets that one, whatever is on PATH.
func TestLaunch_takesTheNodeThatIsNamed(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("PATH", t.TempDir())
	node := &bridge.Node{Program: program}
	for _, dialect := range []string{manifest.DialectAIRI, manifest.DialectPaperclip} {
		spec, err := Launch(node, nil)(t.Context(), &manifest.Manifest{Dialect: dialect}, manifest.Entry{Path: "x.mjs"})
		require.NoError(t, err)
		require.Equal(t, program, spec.Path)
		_, err = Launch(&bridge.Node{Program: "/nowhere/node"}, nil)(t.Context(), &manifest.Manifest{Dialect: dialect}, manifest.Entry{Path: "x.mjs"})
		require.ErrorContains(t, err, "/nowhere/node", dialect)
	}
	require.NoError(t, node.Close())
}

func TestDialects_goByThePolicy(t *testing.T) {
	manifests := []*manifest.Manifest{
		{Name: "plain", Paperclip: &manifest.Paperclip{Grants: []string{"a", "b"}}},
		{Name: "own", Paperclip: &manifest.Paperclip{}, Host: manifest.HostFields{Scope: "own"}},
		{Name: "module"},
	}
	first := func(_ string, asked []string) []string { return asked[:min(1, len(asked))] }
	for _, c := range []struct {
		plugin  string
		policy  Policy
		company string
		grants  []string
	}{
		{plugin: "plain", grants: []string{"a", "b"}},
		{plugin: "plain", policy: Policy{Company: "acme", Grants: first}, company: "acme", grants: []string{"a"}},
		{plugin: "own", policy: Policy{Company: "acme"}, company: "own"},
		{plugin: "module", policy: Policy{Company: "acme"}},
		{plugin: "unknown", policy: Policy{Company: "acme"}},
	} {
		all := Dialects(Among(manifests), func() Policy { return c.policy }, func(string, string) bool { return true })
		require.Len(t, all, 3)
		far := all[1].(paperclip.Dialect).Plugin(protocol.Settings{Plugin: c.plugin})
		require.Equal(t, c.company, far.Company, c.plugin)
		require.Equal(t, c.grants, far.Grants, c.plugin)
	}
	now := Policy{Companies: []string{"acme"}}
	far := Dialects(Among(manifests), func() Policy { return now }, nil)[1].(paperclip.Dialect).Plugin(protocol.Settings{Plugin: "plain"})
	require.True(t, far.Proactive("acme"))
	require.False(t, far.Proactive("other"))
	now.Companies = []string{"other"}
	require.True(t, far.Proactive("other"), "it was decided otherwise meanwhile")
}
