package peers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/manifest/evaluate"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/testdata/plugins/greeter"
	"github.com/airi-host/airi-host/transport/process"
)

// patience bounds every wait for this host in a test.
const patience = 30 * time.Second

// home is this host in a test, with real workers, wired as the command line wires it.
type home struct {
	*actors.Host
	modules  string
	settings *manifest.Settings
	journal  *journal
	metrics  *services.Metrics
	// routes are what its workers' routes have in common.
	routes *paperclip.Routes
	// told is what workers tell of themselves.
	told     telling
	node     bridge.Node
	evaluate evaluate.Node

	mu      sync.Mutex
	plugins map[string]*manifest.Manifest
}

// openHome makes a host by settings, as the file of them would say it, with the
// packages of a set for its workers. It ends with the test. more, if any, changes
// its options.
func openHome(t *testing.T, set, settings string, more func(*actors.Options)) *home {
	t.Helper()
	h := &home{modules: Install(t, set), journal: &journal{}, metrics: services.NewMetrics(0), told: newTelling(), routes: paperclip.NewRoutes(0), plugins: map[string]*manifest.Manifest{}}
	var problems manifest.Problems
	h.settings, problems = manifest.ParseSettings("airi-host.json", []byte(cmp.Or(settings, "{}")), manifest.SettingsOptions{})
	require.Empty(t, problems)
	opts := actors.Options{
		Version: "v", Log: h.journal.logger(), LogEvents: actors.KindLog | actors.KindDropped,
		Dialects: []protocol.Dialect{airi.Dialect{}, paperclip.Dialect{Plugin: h.plugin, Shared: h.routes}},
		Programs: map[string]protocol.Program{"greeter": greeter.Plugin()},
		Methods:  func(p protocol.Plugins) map[string]map[string]protocol.Service { return h.methods(t, p) },
		Launch: actors.Launchers(map[string]actors.Launcher{
			manifest.DialectAIRI: actors.CommandLauncher(h.node.Command),
			manifest.DialectPaperclip: actors.Runner{Command: runNode, Wire: process.Stdio, Env: func(m *manifest.Manifest) map[string]string {
				return paperclip.Environment(m.PluginName(), os.LookupEnv)
			}}.Launch,
		}),
		Restart: actors.RestartPolicy{First: 500 * time.Millisecond, Jitter: -1},
	}
	if more != nil {
		more(&opts)
	}
	var err error
	h.Host, err = actors.New(opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, errors.Join(h.Shutdown(ctx), h.node.Close()))
	})
	return h
}

func runNode(_ context.Context, file string) ([]string, error) { return []string{"node", file}, nil }

// plugin is what the host has decided about one: the settings say it.
func (h *home) plugin(far protocol.Settings) paperclip.Plugin {
	h.mu.Lock()
	m := h.plugins[far.Plugin]
	h.mu.Unlock()
	grants := m.Paperclip.Grants
	if given := h.settings.Plugins[far.Plugin].Grants; given != nil {
		grants = given
	}
	return paperclip.Plugin{
		Grants: grants, Company: cmp.Or(m.Host.Scope, h.settings.Scope), ValidateConfig: true,
		Proactive: func(company string) bool { return slices.Contains(h.settings.Companies, company) },
		Handles:   func(method string) bool { return h.HandlesMethod(manifest.DialectPaperclip, method) },
	}
}

// methods are the host's services, and one of the embedder's own.
func (h *home) methods(t *testing.T, p protocol.Plugins) map[string]map[string]protocol.Service {
	t.Helper()
	allowed, err := services.ParseAddresses(h.settings.HTTP.Allow)
	require.NoError(t, err)
	secrets := map[string]services.Secret{}
	for id, s := range h.settings.Secrets {
		secrets[id] = services.Secret{Env: s.Env, File: s.File, Plugins: s.Plugins, Companies: s.Companies}
	}
	own := services.Paperclip(p, services.Options{
		Config:  h.config,
		Metrics: h.metrics, Telemetry: h.told, Secrets: services.Secrets{Declared: secrets},
		HTTP: services.HTTP{Allowed: allowed, Timeout: h.settings.HTTP.Timeout},
	})
	maps.Copy(own, map[string]protocol.Service{"issues.list": protocol.ServiceFunc(issues)})
	return map[string]map[string]protocol.Service{manifest.DialectPaperclip: own}
}

// issues is a method of Paperclip's product, as a host that embeds this one has it.
func issues(_ context.Context, c protocol.Call) (json.RawMessage, error) {
	return json.Marshal([]map[string]string{{"id": "i", "companyId": c.Scope, "askedBy": c.Caller}})
}

func (h *home) config(plugin, company string) json.RawMessage {
	return h.settings.Plugins[plugin].ConfigFor(company)
}

// try starts the plugin of a directory, with the configuration that the settings have.
func (h *home) try(t *testing.T, dir string) (actors.SessionInfo, error) {
	t.Helper()
	found := manifest.Discover([]string{dir}, manifest.Options{Evaluate: h.evaluate.Evaluate, Builtins: []string{"greeter"}})
	require.Empty(t, found.Problems)
	require.Len(t, found.Manifests, 1)
	m := found.Manifests[0]
	h.mu.Lock()
	h.plugins[m.PluginName()] = m
	h.mu.Unlock()
	var opts actors.StartOptions
	if full := h.config(m.PluginName(), cmp.Or(m.Host.Scope, h.settings.Scope)); full != nil {
		opts.Config = &protocol.Config{ID: m.PluginName() + ":settings", Revision: 1, SchemaVersion: 1, Source: "settings", Full: full}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return h.Start(ctx, m, opts)
}

// start starts a fixture, which has to become ready, and returns its directory.
func (h *home) start(t *testing.T, name string, c Changes) string {
	t.Helper()
	dir := Fixture(t, h.modules, name, c)
	h.startDir(t, dir)
	return dir
}

func (h *home) startDir(t *testing.T, dir string) {
	t.Helper()
	info, err := h.try(t, dir)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, info.Phase, info.Reason)
}

// tries makes a call.
func (h *home) tries(t *testing.T, c protocol.Call) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := h.Invoke(ctx, c)
	return string(result), err
}

// calls makes a call that has to succeed.
func (h *home) calls(t *testing.T, c protocol.Call) string {
	t.Helper()
	result, err := h.tries(t, c)
	require.NoError(t, err)
	return result
}

// acts has a plugin do one of its actions for a company.
func (h *home) acts(t *testing.T, plugin, key, company, params string) (string, error) {
	t.Helper()
	return h.tries(t, protocol.Call{Key: "action:" + key, Plugin: plugin, Scope: company, Input: json.RawMessage(`{"params":` + params + `}`)})
}

// wantActs is acts with the result that it has to have.
func (h *home) wantActs(t *testing.T, want, plugin, key, company, params string) {
	t.Helper()
	result, err := h.acts(t, plugin, key, company, params)
	require.NoError(t, err)
	require.JSONEq(t, want, result)
}

// session is the newest one of a plugin.
func (h *home) session(t *testing.T, plugin string) actors.SessionInfo {
	t.Helper()
	is, err := h.Inspect(plugin)
	require.NoError(t, err)
	return is.SessionInfo
}

// wantPeerError checks that a call failed in the worker's own words, with its code.
func wantPeerError(t *testing.T, err error, code, text string) {
	t.Helper()
	var failed *protocol.PeerError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, text, failed.Message)
	require.Equal(t, code, string(failed.Code))
}

// wantCode checks that a call failed by this host's own doing.
func wantCode(t *testing.T, err error, code protocol.Code, text string) {
	t.Helper()
	require.EqualError(t, err, text)
	require.Equal(t, code, protocol.CodeOf(err))
}

// eventually waits for what the test cannot be told; else it shows what there is.
func eventually(t *testing.T, is func() bool, there any) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			require.FailNow(t, "it has not come", "there is %v", there)
		}
	}
}
