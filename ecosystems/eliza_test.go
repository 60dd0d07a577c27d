package ecosystems

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
	"github.com/airi-host/airi-host/protocol/eliza"

	"github.com/airi-host/airi-host/internal/need"
)

// elizaPlugin is a directory with an elizaOS plugin whose worker is bootstrapped with what
// the text makes, an object in JavaScript.
func elizaPlugin(t *testing.T, id, permissions, plugin string) string {
	t.Helper()
	dir := t.TempDir()
	boot, err := filepath.Abs(filepath.Join(plugins, "sundial", "bootstrap.mjs"))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"plugin.json": `{"id":"` + id + `","name":"x","version":"1","description":"x","mode":"background","permissions":` + permissions + `,
			"view":{"relativePath":"v.html","title":"x","width":1,"height":1},"worker":{"relativePath":"worker.mjs"}}`,
		"worker.mjs": `import { bootstrap } from ` + strconv.Quote("file://"+boot) + `
			import { appendFileSync, existsSync, readFileSync } from 'node:fs'
			const message = { entityId: 'e', roomId: 'r', content: { text: 'hi' } }
			await bootstrap(` + plugin + `)`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// elizaHost runs what is found in directories: all of it is sound, and starts.
func elizaHost(t *testing.T, o Options, dirs ...string) *Host {
	t.Helper()
	need.Node(t)
	o.Host.Programs = builtin.Programs
	h := open(t, dirs, o)
	require.Empty(t, h.Found.Problems)
	for _, one := range h.StartAll(t.Context(), h.Found.Manifests, nil, nil) {
		require.NoError(t, one.Err, one.Info.Plugin)
	}
	return h
}

func TestOpen_anElizaWorkerUsesItsRuntime(t *testing.T) {
	dir := elizaPlugin(t, "user", `{"isolation":"isolated-process"}`, `{
		name: 'user',
		providers: [
			{ name: 'ONE', get: async (_r, m) => ({ text: 'one ' + m.content.text, values: { n: 1 } }) },
			{ name: 'MORE', dynamic: true, get: async () => ({ text: 'more' }) },
		],
		models: { SHOUT: async (_r, { prompt }) => { if (!prompt) throw Object.assign(new Error('no prompt'), { code: 'EMPTY' }); return prompt.toUpperCase() } },
		evaluators: [{ name: 'JUDGE', handler: async (_r, m) => ({ facts: [m.content.text] }), validate: async () => false }],
		events: { heard: [async payload => { globalThis.heard = payload }] },
		services: [class { static serviceType = 'kept'; static rpcMethods = ['get']; static async start() { if (!globalThis.tried) { globalThis.tried = true; throw new Error('not yet') } return { get: () => globalThis.heard ?? null } } }],
		actions: [{ name: 'TRY', handler: async (runtime, _m, _s, o, callback) => ({ success: true, data: { result: (await eval(o.run)) ?? null } }) }],
		init: async (_config, runtime) => { globalThis.atInit = await runtime.getSetting('city') },
	}`)
	o := Options{}
	o.Services.Config = func(string, string) json.RawMessage { return json.RawMessage(`{"city":"Paris"}`) }
	h := elizaHost(t, o, dir, filepath.Join(plugins, "greeter"))
	try := func(run string) (json.RawMessage, error) {
		return h.Invoke(t.Context(), protocol.Call{Key: "action:TRY", Input: json.RawMessage(`{"params":{"run":` + strconv.Quote(run) + `}}`)})
	}
	for _, c := range []struct{ run, want string }{
		{`globalThis.atInit`, `"Paris"`},
		{`runtime.useModel('SHOUT', { prompt: 'hi' })`, `"HI"`},
		{`runtime.useModel('SHOUT', {}).catch(e => [e.name, e.message, e.code, e.stack.includes('boundary')])`, `["Error","no prompt","EMPTY",true]`},
		{`runtime.useModel('NONE', {}).catch(e => e.code)`, `"not-found"`},
		{`runtime.getService('kept')`, `{"available":true}`},
		{`runtime.getService('none')`, `null`},
		{`runtime.invoke('service:kept.get', []).catch(e => e.message)`, `"not yet"`},
		{`runtime.emitEvent('heard', { n: 1 }).then(() => runtime.invoke('service:kept.get', []))`, `{"n":1}`},
		{`runtime.emitEvent('heard', null).catch(e => e.code)`, `"invalid"`},
		{`runtime.setSetting('city', 'Rome').then(() => runtime.getSetting('city'))`, `"Rome"`},
		{`runtime.createMemory(message).then(id => runtime.getMemory(id)).then(m => m.content)`, `{"text":"hi"}`},
		{`runtime.createMemory({ ...message, id: 'm' }, 'facts')`, `"m"`},
		{`runtime.updateMemory({ id: 'm', content: { text: 'new' } }).then(() => runtime.getMemory('m')).then(m => m.content)`, `{"text":"new"}`},
		{`runtime.composeState(message).then(s => s.text)`, `"one hi"`},
		{`runtime.composeState(message, { includeList: ['MORE'], onlyInclude: true }).then(s => s.text)`, `"more"`},
		{`runtime.invoke('tool:greet', { name: 'Ada' })`, `{"content":"Hello, Ada!"}`},
		{`runtime.invoke('evaluator:JUDGE', { message })`, `{"facts":["hi"]}`},
		{`runtime.invoke('evaluator:JUDGE.validate', { message })`, `false`},
		{`runtime.invoke('tool:greet', {}).catch(e => e.message)`, `"whom? give a name"`},
		{`runtime.actionCallback('none', {}).catch(e => e.code)`, `"not-found"`},
	} {
		result, err := try(c.run)
		require.NoError(t, err, c.run)
		require.JSONEq(t, `{"success":true,"data":{"result":`+c.want+`}}`, string(result), c.run)
	}
	_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:SHOUT", Input: json.RawMessage(`{}`)})
	var remote *eliza.RemoteError
	require.ErrorAs(t, err, &remote)
	require.Equal(t, "no prompt", remote.Error())
}

// A worker announces before it is ready, and is called by nobody before init-complete.
func TestOpen_anElizaWorkerIsNotCalledBeforeItIsReady(t *testing.T) {
	begin := filepath.Join(t.TempDir(), "go")
	dir := elizaPlugin(t, "slow", `{}`, `{
		name: 'slow',
		models: { M: async () => { appendFileSync(`+strconv.Quote(begin)+`+'.called', globalThis.ready ? 'r' : 'e'); return 1 } },
		init: async () => { while (!existsSync(`+strconv.Quote(begin)+`)) await new Promise(done => setTimeout(done, 10)); globalThis.ready = true },
	}`)
	need.Node(t)
	h := open(t, []string{dir}, Options{})
	require.Empty(t, h.Found.Problems)
	started := make(chan error, 1)
	go func() { started <- h.StartAll(context.Background(), h.Found.Manifests, nil, nil)[0].Err }()
	require.Eventually(t, func() bool {
		for _, c := range h.Capabilities() {
			if c.Key == "model:M" {
				require.EqualValues(t, "announced", c.State)
				return true
			}
		}
		return false
	}, time.Minute, 5*time.Millisecond)
	var err error
	need.Time(200*time.Millisecond, func(limit time.Duration) bool { // until it is announced, and that far
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "model:M", Deadline: time.Now().Add(limit)})
		return err == nil || strings.Contains(err.Error(), "configured")
	})
	require.ErrorContains(t, err, "configured")
	waits := make(chan error, 1)
	go func() {
		_, err := h.Invoke(context.Background(), protocol.Call{Key: "model:M", Deadline: time.Now().Add(time.Minute)})
		waits <- err
	}()
	require.NoError(t, os.WriteFile(begin, nil, 0o600))
	require.NoError(t, <-waits)
	require.NoError(t, <-started)
	called, err := os.ReadFile(begin + ".called")
	require.NoError(t, err)
	require.Equal(t, "r", string(called), "nothing came before it was ready")
}

func TestOpen_anElizaWorkerWhoseInitFails(t *testing.T) {
	need.Node(t)
	dir := elizaPlugin(t, "broken", `{}`, `{ name: 'broken', models: { M: async () => 1 }, init: async () => { throw new Error('no key for the sky') } }`)
	h := open(t, []string{dir}, Options{})
	out := h.StartAll(t.Context(), h.Found.Manifests, nil, nil)
	require.ErrorContains(t, out[0].Err, "no key for the sky")
	_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:M"})
	require.Error(t, err)
	for _, c := range h.Capabilities() {
		require.NotEqual(t, "model:M", string(c.Key), "it is withdrawn, or never was")
	}
}

// What a plugin's grants do not have is neither called of it nor by it, and is told.
func TestOpen_anElizaWorkerHoldsToItsGrants(t *testing.T) {
	dir := elizaPlugin(t, "reader", `{"bun":{"read":true,"write":true,"run":true}}`, `{
		name: 'reader',
		models: { SET: async runtime => runtime.setSetting('a', 1).catch(e => [e.name, e.code]), GET: async runtime => runtime.getSetting('a') },
		actions: [{ name: 'RUN', handler: async () => null }],
	}`)
	var denied atomic.Pointer[eliza.Denial]
	o := Options{Policy: Policy{
		Grants: func(string, []string) []string { return []string{"bun:read"} },
		Denied: func(d eliza.Denial) { denied.Store(&d) },
	}}
	h := elizaHost(t, o, dir)
	wantCall(t, h, protocol.Call{Key: "model:GET"}, `null`)
	wantCall(t, h, protocol.Call{Key: "model:SET"}, `["PermissionDeniedError","PERMISSION_DENIED"]`)
	require.Equal(t, eliza.Denial{Plugin: "reader", Surface: "runtime", Target: "setSetting", Permission: "bun:write | host:*"}, *denied.Load())
	_, err := h.Invoke(t.Context(), protocol.Call{Key: "action:RUN"})
	require.Equal(t, protocol.CodeDenied, protocol.CodeOf(err), err)
	require.Equal(t, "action", denied.Load().Surface)
}

// The handler of a call that is given up runs to its end once, and its answer is for nobody.
func TestOpen_anElizaWorkerIsNotAskedTwice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ran")
	dir := elizaPlugin(t, "late", `{}`, `{
		name: 'late',
		models: {
			WAIT: async () => { appendFileSync(`+strconv.Quote(file)+`, 'x'); await new Promise(done => { globalThis.done = done }); return 'late' },
			END: async () => { globalThis.done(); return 'newer' },
			DIE: async () => { appendFileSync(`+strconv.Quote(file)+`, 'd'); process.exit(3) },
			COUNT: async () => readFileSync(`+strconv.Quote(file)+`, 'utf8'),
		},
	}`)
	h := elizaHost(t, Options{}, dir)
	var err error
	need.Time(300*time.Millisecond, func(limit time.Duration) bool {
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "model:WAIT", Deadline: time.Now().Add(limit)})
		return err == nil || !strings.Contains(err.Error(), " was not called before the deadline ")
	})
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
	require.ErrorContains(t, err, "deadline")
	wantCall(t, h, protocol.Call{Key: "model:END"}, `"newer"`)
	wantCall(t, h, protocol.Call{Key: "model:COUNT"}, `"x"`)
	_, err = h.Invoke(t.Context(), protocol.Call{Key: "model:DIE"})
	require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
	wantCall(t, h, protocol.Call{Key: "model:COUNT", Wait: true}, `"xd"`)
}

func TestLaunch_elizaWorkersRunInBunOrNode(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	path := t.TempDir()
	t.Setenv("PATH", path)
	m := &manifest.Manifest{Name: "acme.clock", Dialect: manifest.DialectEliza, Eliza: &manifest.Eliza{}}
	state := func(plugin string) (string, error) { return filepath.Join("/state", plugin), nil }
	launch := Launch(&bridge.Node{}, NewHomes(state, nil))
	_, err = launch(t.Context(), m, manifest.Entry{Path: "w.mjs"})
	require.ErrorContains(t, err, "no Bun and no Node.js on PATH")
	_, err = launch(t.Context(), m, manifest.Entry{Path: "w.ts"})
	require.ErrorContains(t, err, "no Bun on PATH: install it to run workers in TypeScript")

	spec, err := Launch(&bridge.Node{Program: program}, nil)(t.Context(), m, manifest.Entry{Path: "w.mjs"})
	require.NoError(t, err)
	require.Equal(t, program, spec.Path)
	require.NotContains(t, strings.Join(spec.Env, " "), "STATE_DIR")

	require.NoError(t, os.WriteFile(filepath.Join(path, "bun"), nil, 0o700)) //nolint:gosec // it has to be executable
	spec, err = launch(t.Context(), m, manifest.Entry{Path: "w.ts"})
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(path, "bun"), "w.ts"}, append([]string{spec.Path}, spec.Args...))
	env := map[string]string{}
	for _, one := range spec.Env {
		name, value, _ := strings.Cut(one, "=")
		if strings.HasPrefix(name, "ELIZA_") {
			env[name] = value
		}
	}
	require.Equal(t, map[string]string{
		"ELIZA_REMOTE_PLUGIN_ID": "acme.clock", "ELIZA_REMOTE_PLUGIN_CHANNEL": "stdio", "ELIZA_REMOTE_PLUGIN_STATE_DIR": "/state/acme.clock",
	}, env)
	_, err = Launch(&bridge.Node{}, NewHomes(func(string) (string, error) { return "", os.ErrPermission }, nil))(t.Context(), m, manifest.Entry{Path: "w.ts"})
	require.ErrorContains(t, err, "plugin acme.clock: its state directory: permission denied")
}
