package peers

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// elizaRuntimes are what elizaOS's workers run in.
var elizaRuntimes = []string{"bun", "node"}

// onlyIn has workers run in this runtime, the other one not being on PATH.
func onlyIn(t *testing.T, runtime string) {
	t.Helper()
	alone := t.TempDir()
	require.NoError(t, os.Symlink(need.Program(t, "node", "Node.js is not on PATH"), filepath.Join(alone, "node")))
	if runtime == "bun" {
		require.NoError(t, os.Symlink(filepath.Join(Bun(t), "bun"), filepath.Join(alone, "bun")))
	}
	t.Setenv("PATH", alone)
	found, _ := exec.LookPath("bun")
	require.Equal(t, runtime == "bun", found != "")
}

// elizaWorker is a directory with an elizaOS plugin whose worker is this text; a bootstrap
// is beside it.
func elizaWorker(t *testing.T, id, permissions, worker string) string {
	t.Helper()
	boot, err := os.ReadFile(filepath.Join("..", "testdata", "plugins", "sundial", "bootstrap.mjs"))
	require.NoError(t, err)
	return written(t, map[string]string{
		"plugin.json": `{"id":"` + id + `","name":"x","version":"1","description":"x","mode":"background","permissions":` + permissions + `,
			"view":{"relativePath":"v.html","title":"x","width":1,"height":1},"worker":{"relativePath":"worker.mjs"}}`,
		"worker.mjs": worker, "bootstrap.mjs": string(boot),
	})
}

// bootstrapped is a worker whose plugin is this text, an object in JavaScript.
func bootstrapped(plugin string) string {
	return "import { bootstrap } from './bootstrap.mjs'\nimport { appendFileSync, existsSync, readFileSync } from 'node:fs'\nawait bootstrap(" + plugin + ")\n"
}

func surfaces(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "eliza", "surfaces.mjs"))
	require.NoError(t, err)
	return string(text)
}

// elizas is a host with elizaOS plugins of these directories, which are not started.
func elizas(t *testing.T, o ecosystems.Options, dirs ...string) *ecosystems.Host {
	t.Helper()
	h, err := ecosystems.Open(dirs, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, h.Close(ctx))
	})
	require.Empty(t, h.Found.Problems)
	return h
}

// startElizas starts all of them, which have to become ready.
func startElizas(t *testing.T, o ecosystems.Options, dirs ...string) *ecosystems.Host {
	t.Helper()
	h := elizas(t, o, dirs...)
	for _, one := range h.StartAll(t.Context(), h.Found.Manifests, nil, nil) {
		require.NoError(t, one.Err, one.Info.Plugin)
	}
	return h
}

// says makes a call, and returns what came before the result, too.
func says(t *testing.T, h *ecosystems.Host, key, input string) (items []string, result string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	call := protocol.Call{Key: key, Progress: func(item json.RawMessage) error {
		items = append(items, string(item))
		return nil
	}}
	if input != "" {
		call.Input = json.RawMessage(input)
	}
	got, err := h.Invoke(ctx, call)
	return items, string(got), err
}

// Every surface of an elizaOS plugin does the same in Bun and in Node.js.
func TestElizaWorker_everySurface(t *testing.T) {
	const said = `{"message":{"content":{"text":"hi"}},"state":{"s":1}}`
	for _, runtime := range elizaRuntimes {
		t.Run(runtime, func(t *testing.T) {
			onlyIn(t, runtime)
			h := startElizas(t, ecosystems.Options{}, elizaWorker(t, "surfaces", `{}`, surfaces(t)))
			for _, c := range []struct {
				what, key, input string
				items            []string
				result, fails    string
			}{
				{what: "which runtime", key: "model:RUNTIME", result: `"` + runtime + `"`},
				{what: "nothing before init-complete", key: "model:EARLY", result: `[]`},
				{
					what: "an action with callbacks", key: "action:GREET", input: `{"params":{"text":"hello","n":1},"state":{"s":1},"responses":[1]}`,
					items:  []string{`{"text":"one"}`, `{"text":"two"}`},
					result: `{"success":true,"text":"hello","data":{"state":{"s":1},"options":{"text":"hello","n":1},"responses":[1]}}`,
				},
				{what: "its validate, which it fits", key: "action:GREET.validate", input: said, result: `true`},
				{what: "its validate, which it does not fit", key: "action:GREET.validate", input: `{"params":{"text":"no"}}`, result: `false`},
				{what: "a provider", key: "provider:TIME", input: said, result: `{"text":"noon","values":{"asked":"hi","state":{"s":1}}}`},
				{what: "an evaluator", key: "evaluator:JUDGE", input: said, result: `["hi"]`},
				{what: "its validate", key: "evaluator:JUDGE.validate", input: said, result: `false`},
				{what: "a model", key: "model:ECHO", input: `{"a":[1.5,"\u2028ü"],"b":null}`, result: `{"a":[1.5,"\u2028ü"],"b":null}`},
				{what: "a model that streams", key: "model:WORDS", input: `{"count":2}`, items: []string{`"word 0"`, `"word 1"`}, result: `2`},
				{what: "a service whose start fails", key: "service:vault.open", input: `[1]`, fails: "the vault is locked"},
				{what: "its start, tried again", key: "service:vault.open", input: `[1,"two"]`, result: `{"what":[1,"two"],"starts":2}`},
				{what: "a method that is not its", key: "service:vault.none", input: `[]`, fails: "vault.none is not a function"},
				{what: "a method that is not listed", key: "service:vault.secret", input: `[]`, fails: "nobody offers service:vault.secret"},
				{what: "an event", key: "event:rang", input: `{"n":1}`},
				{what: "its handlers, one of them added", key: "model:TOLD", result: `[["first",{"n":1}],["second",{"n":1}],["third",{"n":1}]]`},
				{
					what: "an endpoint", key: "http:POST /items", input: `{"body":{"a":1},"query":{"q":"1"}}`,
					result: `{"status":201,"headers":{"x-a":"b"},"body":{"got":{"a":1},"q":{"q":"1"}}}`,
				},
				{what: "an endpoint without a handler", key: "http:GET /told", fails: "nobody offers http:GET /told"},
				{what: "a model that was added", key: "model:LATER", result: `"came later"`},
				{what: "an action that was added", key: "action:LATER", result: `null`},
			} {
				items, result, err := says(t, h, c.key, c.input)
				require.Equal(t, c.items, items, c.what)
				if c.fails != "" {
					require.ErrorContains(t, err, c.fails, c.what)
					continue
				}
				require.NoError(t, err, c.what)
				if c.result == "" {
					require.Empty(t, result, c.what)
					continue
				}
				require.JSONEq(t, c.result, result, c.what)
			}
			about := map[string]capability.Offer{}
			for _, o := range h.Offers() {
				about[string(o.Key)] = o
			}
			require.JSONEq(t, `{"similes":["HELLO","WELCOME"],"validate":"action:GREET.validate"}`, string(about["action:GREET"].Metadata))
			require.Equal(t, "greets", about["action:GREET"].Description)
			require.Equal(t, "keeps things", about["service:vault.open"].Description)
			require.JSONEq(t, `{"position":1}`, string(about["provider:TIME"].Metadata))

			_, _, err := says(t, h, "model:FAIL", "")
			var remote *eliza.RemoteError
			require.ErrorAs(t, err, &remote)
			require.Equal(t, "TypeError", remote.Name())
			code, _ := remote.Code()
			require.Equal(t, "E_OUTER", code)
			require.Contains(t, remote.Stack(), "worker.mjs:")
			require.EqualError(t, remote.Unwrap()[1], "inner")
		})
	}
}

// Starts that fail tell why, and leave nothing to be called.
func TestElizaWorker_startsThatFail(t *testing.T) {
	for name, c := range map[string]struct{ plugin, why string }{
		"init fails": {`{ name: 'p', models: { M: async () => 1 }, init: async () => { throw new Error('no key for the sky') } }`, "no key for the sky"},
		"one id twice": {
			`(plugin => (plugin.init = async () => { plugin.actions.push({ name: 'A', handler: async () => 2 }) }, plugin))({ name: 'p', actions: [{ name: 'A', handler: async () => 1 }] })`,
			"the handler action:A:1 was announced for action:A and again by init",
		},
		"no name": {`{ models: { M: async () => 1 } }`, "worker-announce-plugin descriptor missing name"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, runtime := range elizaRuntimes {
				t.Run(runtime, func(t *testing.T) {
					onlyIn(t, runtime)
					h := elizas(t, ecosystems.Options{}, elizaWorker(t, "broken", `{}`, bootstrapped(c.plugin)))
					require.ErrorContains(t, h.StartAll(t.Context(), h.Found.Manifests, nil, nil)[0].Err, c.why)
					for _, o := range h.Offers() {
						require.NotEqual(t, "broken", o.Owner.Plugin, "%s is withdrawn", o.Key)
					}
					_, _, err := says(t, h, "model:M", "")
					require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err), err)
				})
			}
		})
	}
}
