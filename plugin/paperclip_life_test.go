package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
)

func TestServePaperclip_runsTheHooks(t *testing.T) {
	var ran []string
	hook := func(name string) plugin.Hook {
		return func(_ context.Context, s *plugin.Session) error {
			var config struct{ Greeting string }
			err := s.Config(&config)
			ran = append(ran, name+" "+config.Greeting)
			return err
		}
	}
	p := plugin.Define("hooks").OnInit(hook("init")).OnSetup(hook("setup")).OnStop(hook("stop"))
	p.OnValidate(func(_ context.Context, _ *plugin.Session, config json.RawMessage) error {
		switch string(config) {
		case `null`:
			return nil
		case `{"one":1}`:
			return errors.New("one is none")
		}
		return errors.Join(errors.New("a"), errors.New("b"))
	})
	well := true
	p.OnHealth(func(context.Context, *plugin.Session) (plugin.Health, error) {
		if !well {
			return plugin.Health{}, errors.New("cannot tell")
		}
		return plugin.Health{Status: plugin.HealthDegraded, Message: "slow", Details: 1}, nil
	})
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{}).ready()
	require.Equal(t, []string{"validateConfig", "configChanged", "health", "shutdown"}, h.supported())
	h.want("paperclip:validateConfig", `{"config":{"one":1}}`, `{"ok":false,"errors":["one is none"]}`)
	h.want("paperclip:validateConfig", `{"config":{}}`, `{"ok":false,"errors":["a","b"]}`)
	h.want("paperclip:health", `{}`, `{"status":"degraded","message":"slow","details":1}`)
	well = false
	h.wantFailure("paperclip:health", `{}`, "cannot tell", "-32002")
	h.want("paperclip:validateConfig", `{"config":null}`, `{"ok":true}`)
	h.want("paperclip:configChanged", `{"config":{"greeting":"Hi"}}`, `null`)
	require.NoError(t, h.stop())
	require.Equal(t, []string{"init Hello", "setup Hello", "setup Hi", "stop Hi"}, ran)
}

// What a handler is offered for in a hook is there in time.
func TestServePaperclip_warnsOfWhatTheManifestDeclaresAndNothingAnswers(t *testing.T) {
	p := plugin.Define("part")
	plugin.Tool(p, "greet", func(context.Context, any) (plugin.Result, error) { return plugin.Text(""), nil })
	p.OnSetup(func(_ context.Context, s *plugin.Session) error {
		plugin.Job(s, "sync", func(context.Context, plugin.Run) error { return nil })
		return nil
	})
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{}).ready()
	for _, key := range []string{"http:POST /items/:id", "tool:late", "webhook:hook"} {
		line := h.wantLog("nothing answers this")
		require.Equal(t, slog.LevelWarn, line.Level)
		require.Contains(t, string(line.Meta), `"key":"`+key+`"`)
		require.Contains(t, string(line.Meta), "the manifest declares it, and the worker has no handler for it")
	}
	h.want("tool:greet", `{"parameters":{}}`, `{}`)
	require.NoError(t, h.stop())
	require.Empty(t, h.logs, "and of nothing else")
}

func TestServePaperclip_isInitializedAgainAfterAFailure(t *testing.T) {
	fail := errors.New("no database")
	p := plugin.Define("second").OnSetup(func(context.Context, *plugin.Session) error {
		defer func() { fail = nil }()
		return fail
	})
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{})
	require.ErrorContains(t, h.start(`{"manifest":{}}`), "no database")
	h.ready()
	h.wantFailure("paperclip:initialize", `{"manifest":{}}`, "Worker already initialized", "-32002")
	require.ErrorContains(t, newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{}).start(`{"manifest":[]}`),
		`the input's field "manifest": expected plugin.manifest, got array`)
}

func TestServePaperclip_keepsCompaniesApart(t *testing.T) {
	change := func(o plugin.PaperclipOptions) error {
		h := newHost(t).serve(t.Context(), plugin.Define("p"), o).ready()
		h.want("paperclip:configChanged", `{"config":{"a":1},"companyId":"one"}`, `null`)
		return (<-h.begin("paperclip:configChanged", `{"config":{"a":2},"companyId":"two"}`)).Err
	}
	require.ErrorContains(t, change(plugin.PaperclipOptions{}), "This plugin is single-tenant")
	require.NoError(t, change(plugin.PaperclipOptions{MultiCompany: true}))
}
