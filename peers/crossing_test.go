package peers

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// relayed is what a relay was told to call, and relay what it answers: the result of the
// call, or why it failed.
type relayed struct {
	Key   string          `json:"key"`
	Input json.RawMessage `json:"input"`
}

// gopher is the plugin in Go: it offers a tool and a model, relays calls, and hears an
// event.
func gopher(heard chan<- string) *plugin.Definition {
	p := plugin.Define("gopher")
	plugin.Tool(p, "go-say", func(_ context.Context, in struct{ Text string }) (plugin.Result, error) {
		if in.Text == "" {
			return plugin.Result{}, errors.New("go: say what?")
		}
		return plugin.Text("go: " + in.Text), nil
	})
	plugin.Model(p, "GO", func(_ context.Context, in map[string]string) (string, error) { return "go: " + in["prompt"], nil })
	plugin.Tool(p, "go-relay", func(ctx context.Context, in relayed) (plugin.Result, error) {
		var out json.RawMessage
		if err := plugin.From(ctx).Call(ctx, in.Key, in.Input, &out); err != nil {
			return plugin.Result{Data: map[string]string{"failed": err.Error()}}, nil
		}
		return plugin.Result{Data: map[string]json.RawMessage{"result": out}}, nil
	})
	plugin.On(p, "town.news", func(_ context.Context, in struct{ Text string }) error {
		heard <- in.Text
		return nil
	})
	return p
}

// townsman writes the files of a plugin.
func townsman(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func airiTownsman(t *testing.T) string {
	t.Helper()
	return townsman(t, map[string]string{
		"plugin.json": `{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":"airi","entrypoints":{"node":"./airi.mjs"},
			"airi-host":{"requires":["action:ELIZA_SAY","tool:add","tool:go-say"]}}`,
		"airi.mjs": `import { defineInvoke, defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
			export async function setupModules({ channels }) {
				const handle = (key, run) => defineInvokeHandler(channels.host, defineInvokeEventa(key), run)
				handle('tool:airi-say', ({ text }) => { if (!text) throw new Error('airi: say what?'); return { content: 'airi: ' + text } })
				handle('model:AIRI', ({ prompt }) => 'airi: ' + prompt)
				handle('tool:airi-relay', async ({ key, input }) => {
					try { return { data: { result: await defineInvoke(channels.host, defineInvokeEventa(key))(input) } } }
					catch (error) { return { data: { failed: error.message } } }
				})
			}`,
	})
}

func elizaTownsman(t *testing.T) string {
	t.Helper()
	boot, err := filepath.Abs(filepath.Join("..", "testdata", "plugins", "sundial", "bootstrap.mjs"))
	require.NoError(t, err)
	return townsman(t, map[string]string{
		"plugin.json": `{"id":"eliza","name":"x","version":"1","description":"x","mode":"background","permissions":{"bun":{"run":true}},
			"view":{"relativePath":"v.html","title":"x","width":1,"height":1},"worker":{"relativePath":"worker.mjs"}}`,
		"worker.mjs": `import { bootstrap } from ` + strconv.Quote("file://"+boot) + `
			const heard = []
			await bootstrap({
				name: 'eliza',
				actions: [
					{ name: 'ELIZA_SAY', handler: async (_r, m) => {
						if (!m.content.text) throw new Error('eliza: say what?')
						return { success: true, text: 'eliza: ' + m.content.text }
					} },
					{ name: 'ELIZA_RELAY', handler: async (runtime, _m, _s, { key, input }) => {
						const call = key.startsWith('model:') ? runtime.useModel(key.slice(6), input) : runtime.invoke(key, input)
						return call.then(result => ({ success: true, data: { result } }), error => ({ success: true, data: { failed: error.message } }))
					} },
					{ name: 'ELIZA_TELL', handler: async (runtime, m) => { await runtime.emitEvent('town.news', { text: m.content.text }); return null } },
				],
				models: { ELIZA: async (_r, { prompt }) => 'eliza: ' + prompt, HEARD: async () => heard },
				events: { 'plugin.kitchen.fresh': [async payload => { heard.push(payload) }] },
			})`,
	})
}

// town is one host with a plugin of each ecosystem and one in Go in memory.
func town(t *testing.T) (h *ecosystems.Host, heard <-chan string) {
	t.Helper()
	news := make(chan string, 8)
	modules := Install(t, Paperclip)
	dirs := []string{
		airiTownsman(t), elizaTownsman(t), Fixture(t, modules, "kitchen", Changes{Host: map[string]any{"invoke": []string{"*"}}}),
		townsman(t, map[string]string{
			"plugin.json": `{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":"gopher","entrypoints":{"go":"builtin:gopher"}}`,
		}),
	}
	h, err := ecosystems.Open(dirs, ecosystems.Options{
		Host: actors.Options{Programs: map[string]protocol.Program{"gopher": gopher(news)}}, Policy: ecosystems.Policy{Company: "acme"},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, h.Close(ctx))
	})
	require.Empty(t, h.Found.Problems)
	for _, one := range h.StartAll(t.Context(), h.Found.Manifests, nil, nil) {
		require.NoError(t, one.Err, one.Info.Plugin)
	}
	return h, news
}

// relays has a plugin call a capability, and returns what it got: the result, or a failure.
func relays(t *testing.T, h *ecosystems.Host, from, key, input string) (result json.RawMessage, failed string) {
	t.Helper()
	order, err := json.Marshal(relayed{key, json.RawMessage(input)})
	require.NoError(t, err)
	call := protocol.Call{Key: "tool:" + from + "-relay", Input: order}
	switch from {
	case "eliza":
		call.Key, call.Input = "action:ELIZA_RELAY", json.RawMessage(`{"params":`+string(order)+`}`)
	case "paperclip":
		init, err := json.Marshal(map[string]string{"method": "POST", "body": input})
		require.NoError(t, err)
		call.Key, call.Plugin = "action:fetch", "kitchen"
		call.Input = json.RawMessage(`{"params":{"url":"http://airi-host.invalid/invoke/` + key + `","init":` + string(init) + `}}`)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	raw, err := h.Invoke(ctx, call)
	require.NoError(t, err)
	var got struct {
		Status int
		Body   string
		Data   struct {
			Result json.RawMessage
			Failed string
		}
	}
	require.NoError(t, json.Unmarshal(raw, &got), "%s", raw)
	switch {
	case from == "paperclip" && got.Status == 200:
		return json.RawMessage(got.Body), ""
	case from == "paperclip":
		return nil, got.Body
	}
	return got.Data.Result, got.Data.Failed
}

// Each calls what each other offers, and itself: all sixteen ways, results and failures.
func TestCrossing_everyEcosystemCallsEveryOther(t *testing.T) {
	h, _ := town(t)
	targets := map[string][]struct{ key, input, want, failed string }{
		"airi": {
			{key: "tool:airi-say", input: `{"text":"hi"}`, want: `{"content":"airi: hi"}`},
			{key: "model:AIRI", input: `{"prompt":"hi"}`, want: `"airi: hi"`},
			{key: "tool:airi-say", input: `{}`, failed: "airi: say what?"},
		},
		"paperclip": {
			{key: "tool:add", input: `{"a":1,"b":2}`, want: `3`},
			{key: "tool:refuse", input: `{}`, failed: "the kitchen is closed"},
			{key: "tool:add", input: `{"a":"x"}`, failed: "the input of tool:add"},
		},
		"eliza": {
			{key: "action:ELIZA_SAY", input: `{"params":{"text":"hi"}}`, want: `{"success":true,"text":"eliza: hi"}`},
			{key: "model:ELIZA", input: `{"prompt":"hi"}`, want: `"eliza: hi"`},
			{key: "action:ELIZA_SAY", input: `{}`, failed: "eliza: say what?"},
		},
		"go": {
			{key: "tool:go-say", input: `{"text":"hi"}`, want: `{"content":"go: hi"}`},
			{key: "model:GO", input: `{"prompt":"hi"}`, want: `"go: hi"`},
			{key: "tool:go-say", input: `{}`, failed: "go: say what?"},
		},
	}
	ecosystem := []string{"airi", "paperclip", "eliza", "go"}
	for _, from := range ecosystem {
		for _, to := range ecosystem {
			t.Run(from+" calls "+to, func(t *testing.T) {
				for _, c := range targets[to] {
					result, failed := relays(t, h, from, c.key, c.input)
					switch {
					case c.failed != "":
						require.Contains(t, failed, c.failed, c.key)
					case c.key == "tool:add":
						var sum struct{ Data struct{ Sum json.RawMessage } }
						require.NoError(t, json.Unmarshal(result, &sum), failed)
						require.Equal(t, c.want, string(sum.Data.Sum))
					default:
						require.Empty(t, failed, c.key)
						require.JSONEq(t, c.want, string(result), c.key)
					}
				}
			})
		}
	}
}

// What one ecosystem's plugin tells is heard by those of others, under its own name.
func TestCrossing_eventsAreHeardByOthers(t *testing.T) {
	h, heard := town(t)
	_, err := h.Invoke(t.Context(), protocol.Call{Key: "action:ELIZA_TELL", Input: json.RawMessage(`{"params":{"text":"rain"}}`)})
	require.NoError(t, err)
	select {
	case text := <-heard:
		require.Equal(t, "rain", text)
	case <-time.After(patience):
		require.Fail(t, "the plugin in Go has not heard of it")
	}
	_, err = h.Invoke(t.Context(), protocol.Call{
		Key: "action:emit", Plugin: "kitchen", Input: json.RawMessage(`{"params":{"name":"fresh","companyId":"acme","payload":{"bread":1}}}`),
	})
	require.NoError(t, err)
	eventually(t, func() bool {
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "model:HEARD"})
		require.NoError(t, err)
		return strings.Contains(string(got), `"bread":1`)
	}, "nothing")
}
