package peers

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// The town is one host with a plugin of each ecosystem, which has its ecosystem's name, and
// one in Go in memory. They offer the same, as far as their wires have it: ECOSYSTEM-say of
// each kind answers "ECOSYSTEM: " and the text; -relay calls what it is told to; and so on.

// relayOf is the key of what relays calls, of one of the townsfolk.
func relayOf(who string) string {
	if who == "eliza" || who == "mute" {
		return "action:" + who + "-relay"
	}
	return "tool:" + who + "-relay"
}

// townsfolk are the plugins of the town, by their ecosystems.
var townsfolk = []string{"airi", "paperclip", "eliza", "go"}

// everybody is the townsfolk, and a module that comes over a websocket.
var everybody = append(slices.Clone(townsfolk), "websocket")

// order is what a relay is told to call.
type order struct {
	Key   string          `json:"key"`
	Input json.RawMessage `json:"input,omitempty"`
	// Plugin names the owner, where the caller's wire can.
	Plugin string `json:"plugin,omitempty"`
	// Ms is after which time the caller gives up, in milliseconds.
	Ms int `json:"ms,omitempty"`
	// Follow has the caller take what comes before the result, By use a method of its own.
	Follow bool   `json:"follow,omitempty"`
	By     string `json:"by,omitempty"`
}

// relayed is what a relay got: a result, the items before it, or a failure in the words of
// its ecosystem.
type relayed struct {
	Result json.RawMessage   `json:"result,omitempty"`
	Items  []json.RawMessage `json:"items,omitempty"`
	Failed *failed           `json:"failed,omitempty"`
}

type failed struct {
	Name    string          `json:"name,omitempty"`
	Message string          `json:"message,omitempty"`
	Code    json.RawMessage `json:"code,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (f *failed) code() string {
	if f == nil {
		return ""
	}
	return strings.Trim(string(f.Code), `"`)
}

// townsman is the plugin in Go.
type townsman struct {
	mu   sync.Mutex
	seen []string
}

func (m *townsman) saw(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, what)
}

func (m *townsman) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

type texted struct {
	Text string `json:"text"`
}

type news struct {
	From string `json:"from"`
}

func textOfMessage(in protocol.ProviderInput) string {
	var m struct{ Content texted }
	_ = json.Unmarshal(in.Message, &m)
	return m.Content.Text
}

func (m *townsman) plugin() *plugin.Definition {
	p := plugin.Define("go")
	said := func(_ context.Context, in texted) (string, error) { return "go: " + in.Text, nil }
	plugin.Tool(p, "go-say", func(_ context.Context, in texted) (plugin.Result, error) { return plugin.Text("go: " + in.Text), nil })
	plugin.Model(p, "go-say", said)
	plugin.Data(p, "go-say", said)
	plugin.Action(p, "go-say", func(_ context.Context, in plugin.Invocation[texted]) (any, error) {
		return map[string]any{"success": true, "text": "go: " + in.Params.Text}, nil
	})
	plugin.Job(p, "go-say", func(context.Context, plugin.Run) error { m.saw("job"); return nil })
	plugin.Webhook(p, "go-say", func(_ context.Context, d plugin.Delivery) error { m.saw("webhook " + d.RawBody); return nil })
	plugin.HTTP(p, "GET /go/say", func(context.Context, plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		return plugin.HTTPResponse{Status: 200, Headers: map[string]string{}, Body: json.RawMessage(`"go: hi"`)}, nil
	})
	plugin.On(p, "go-say", func(_ context.Context, in texted) error { m.saw("event " + in.Text); return nil })
	for key, answer := range map[string]func(in json.RawMessage) any{
		"service:go.say": func(in json.RawMessage) any {
			var args []string
			_ = json.Unmarshal(in, &args)
			return "go: " + args[0]
		},
		"provider:go-say": func(in json.RawMessage) any {
			var turn protocol.ProviderInput
			_ = json.Unmarshal(in, &turn)
			return texted{"go: " + textOfMessage(turn)}
		},
		"evaluator:go-say": func(in json.RawMessage) any {
			var turn protocol.ProviderInput
			_ = json.Unmarshal(in, &turn)
			return "go: " + textOfMessage(turn)
		},
		"environment:go.probe": func(json.RawMessage) any { return map[string]any{"ok": true, "summary": "go"} },
		"town:go": func(in json.RawMessage) any {
			var t texted
			_ = json.Unmarshal(in, &t)
			return "go: " + t.Text
		},
	} {
		plugin.Handle(p, key, func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return json.Marshal(answer(in)) })
	}
	m.more(p)
	return p
}

// more is what the plugin has beside what it says.
func (m *townsman) more(p *plugin.Definition) {
	plugin.Tool(p, "go-seen", func(context.Context, any) (plugin.Result, error) { return plugin.Result{Data: m.all()}, nil })
	plugin.Tool(p, "go-fail", func(context.Context, any) (plugin.Result, error) {
		return plugin.Result{}, &protocol.PeerError{Name: "RangeError", Message: "burnt", Code: json.RawMessage(`7`), Data: json.RawMessage(`{"tray":3}`)}
	})
	plugin.Tool(p, "go-hang", func(ctx context.Context, _ any) (plugin.Result, error) {
		<-ctx.Done()
		m.saw("told")
		return plugin.Result{}, ctx.Err()
	})
	plugin.Stream(p, "model:go-count", func(_ context.Context, in struct{ To int }, emit func(int) error) error {
		for n := 1; n <= in.To; n++ {
			if err := emit(n); err != nil {
				return err
			}
		}
		return nil
	})
	for _, name := range []string{"town.news", "plugin.paperclip.news"} {
		plugin.On(p, name, func(_ context.Context, in news) error { m.saw("news " + in.From); return nil })
	}
	plugin.Tool(p, "go-tell", func(ctx context.Context, _ any) (plugin.Result, error) {
		return plugin.Result{}, plugin.From(ctx).Call(ctx, "event:town.news", news{"go"}, nil)
	})
	plugin.Tool(p, "go-relay", func(ctx context.Context, in order) (plugin.Result, error) {
		return plugin.Result{Data: goRelay(ctx, in)}, nil
	})
}

func goRelay(ctx context.Context, in order) (got relayed) {
	opts := []plugin.CallOption{plugin.Of(in.Plugin)}
	if in.Follow {
		opts = append(opts, plugin.Follow(func(item json.RawMessage) error { got.Items = append(got.Items, slices.Clone(item)); return nil }))
	}
	if in.Ms > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(in.Ms)*time.Millisecond)
		defer cancel()
	}
	err := plugin.From(ctx).Call(ctx, in.Key, in.Input, &got.Result, opts...)
	if theirs, ok := errors.AsType[*protocol.PeerError](err); ok {
		got.Failed = &failed{theirs.Name, theirs.Message, theirs.Code, theirs.Data}
	} else if err != nil {
		code, _ := json.Marshal(protocol.CodeOf(err))
		got.Failed = &failed{Message: err.Error(), Code: code}
	}
	return got
}

// sloth is a plugin in Go that never answers, and may take no longer than 200 ms for it.
func sloth() *plugin.Definition {
	p := plugin.Define("sloth")
	plugin.Tool(p, "sloth-hang", func(ctx context.Context, _ any) (plugin.Result, error) {
		<-ctx.Done()
		return plugin.Result{}, ctx.Err()
	})
	return p
}

// written writes the files of a plugin.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func readText(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(text)
}

// airiModule is the directory of an AIRI module whose code is given; host are members of its
// manifest for this host.
func airiModule(t *testing.T, name, code, host string) string {
	t.Helper()
	return written(t, map[string]string{
		"plugin.json": `{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":"` + name + `","entrypoints":{"node":"./main.mjs"},"airi-host":{` + host + `}}`,
		"main.mjs":    code,
	})
}

func elizaPlugin(t *testing.T, name, code, host string) string {
	t.Helper()
	boot := readText(t, "..", "testdata", "plugins", "sundial", "bootstrap.mjs")
	if name == "mute" { // as the reference's, which does not tell for whose sake it asks
		const told = ", within: serving.getStore() ?? null"
		require.Contains(t, boot, told)
		boot = strings.Replace(boot, told, "", 1)
	}
	return written(t, map[string]string{
		"plugin.json": `{"id":"` + name + `","name":"x","version":"1","description":"x","mode":"background","permissions":{"bun":{"run":true}},
			"view":{"relativePath":"v.html","title":"x","width":1,"height":1},"worker":{"relativePath":"worker.mjs"},"airi-host":{` + host + `}}`,
		"worker.mjs":    code,
		"bootstrap.mjs": boot,
	})
}

func compiledIn(t *testing.T, name, host string) string {
	t.Helper()
	return written(t, map[string]string{
		"plugin.json": `{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":"` + name + `","entrypoints":{"go":"builtin:` + name + `"},"airi-host":{` + host + `}}`,
	})
}

// town is the host, with a company by default.
type town struct {
	*ecosystems.Host
	// here is the plugin in Go.
	here *townsman
}

// townWith is the town with more plugins, of which none has started.
func townWith(t *testing.T, programs map[string]protocol.Program, more ...string) *town {
	t.Helper()
	here := &townsman{}
	modules := Install(t, Paperclip)
	dirs := append([]string{
		airiModule(t, "airi", readText(t, "testdata", "town", "airi.mjs"), ``),
		Fixture(t, modules, "baker", Changes{Host: map[string]any{"invoke": []string{"*"}}}),
		elizaPlugin(t, "eliza", readText(t, "testdata", "town", "eliza.mjs"), ``),
		compiledIn(t, "go", ``),
	}, more...)
	with := map[string]protocol.Program{"go": here.plugin()}
	for name, p := range programs {
		with[name] = p
	}
	h, err := ecosystems.Open(dirs, ecosystems.Options{
		Host: actors.Options{Programs: with}, Policy: ecosystems.Policy{Company: "acme"},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, h.Close(ctx))
	})
	require.Empty(t, h.Found.Problems)
	return &town{h, here}
}

// openTown is the town with more plugins, all of which are ready.
func openTown(t *testing.T, programs map[string]protocol.Program, more ...string) *town {
	t.Helper()
	h := townWith(t, programs, more...)
	for _, one := range h.StartAll(t.Context(), h.Found.Manifests, nil, nil) {
		require.NoError(t, one.Err, one.Info.Plugin)
	}
	return h
}

// openWideTown is openTown with a gateway, through which the one on a websocket has come.
func openWideTown(t *testing.T, programs map[string]protocol.Program, more ...string) *gate {
	t.Helper()
	g := openTown(t, programs, more...).opened(t, gateway.Options{})
	dir := written(t, map[string]string{
		"module.mjs":    strings.ReplaceAll(readText(t, "testdata", "town", "airi.mjs"), "airi", "websocket"),
		"websocket.mjs": strings.ReplaceAll(readText(t, "testdata", "town", "websocket.mjs"), "./airi.mjs", "./module.mjs"),
	})
	startScript(t, dir, []string{EventaB14}, "websocket.mjs", g.url)
	g.wantPhase(t, "websocket", lifecycle.Ready)
	return g
}

// does has one of the townsfolk do something, a tool or an action of its; the result's data.
func (h *town) does(t *testing.T, who, what, scope string, in any) json.RawMessage {
	t.Helper()
	input, err := json.Marshal(in)
	require.NoError(t, err)
	call := protocol.Call{Key: "tool:" + who + "-" + what, Scope: scope, Input: input}
	if who == "eliza" {
		call.Key, call.Input = "action:eliza-"+what, json.RawMessage(`{"params":`+string(input)+`}`)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	raw, err := h.Invoke(ctx, call)
	require.NoError(t, err, "%s of %s", what, who)
	var got struct{ Data json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &got), "%s", raw)
	return got.Data
}

// relays has one of the townsfolk call something.
func (h *town) relays(t *testing.T, from, scope string, o order) (got relayed) {
	t.Helper()
	raw := h.does(t, from, "relay", scope, o)
	require.NoError(t, json.Unmarshal(raw, &got), "%s", raw)
	return got
}

// seenBy is what one of the townsfolk has seen so far.
func (h *town) seenBy(t *testing.T, who string) (seen []string) {
	t.Helper()
	raw := h.does(t, who, "seen", "", struct{}{})
	if who == "eliza" {
		var data struct{ Seen json.RawMessage }
		require.NoError(t, json.Unmarshal(raw, &data))
		raw = data.Seen
	}
	require.NoError(t, json.Unmarshal(raw, &seen), "%s", raw)
	return seen
}

// wantSeen waits until one of the townsfolk has seen something so many times.
func (h *town) wantSeen(t *testing.T, who, what string, times int) {
	t.Helper()
	var seen []string
	count := func() (n int) {
		seen = h.seenBy(t, who)
		for _, one := range seen {
			if one == what {
				n++
			}
		}
		return n
	}
	eventually(t, func() bool { return count() >= times }, who+" has not seen "+what)
	require.Equal(t, times, count(), "%s has seen %q", who, seen)
}
