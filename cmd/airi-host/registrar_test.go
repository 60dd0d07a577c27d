package main

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// picky fails with a configuration that has "bad", and has each that it was given in seen.
type picky struct {
	*registrar
	seen []string
	m    *manifest.Manifest
}

func newPicky(t *testing.T) *picky {
	t.Helper()
	st, err := (&cli{stateGiven: t.TempDir(), settings: &settings{}}).openState(t.Context(), false)
	require.NoError(t, err)
	builtin := "builtin:picky"
	p := &picky{m: &manifest.Manifest{
		Dialect: manifest.DialectAIRI, Name: "picky", File: "picky/plugin.json", Entrypoints: manifest.Entrypoints{Go: &builtin},
	}}
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{
		"picky": plugin.Define("picky").OnSetup(func(_ context.Context, s *plugin.Session) error {
			var config map[string]any
			if err := s.Config(&config); err != nil {
				return err
			}
			text, _ := json.Marshal(config)
			p.seen = append(p.seen, string(text))
			if config["bad"] != nil {
				return errors.New("this is bad")
			}
			return nil
		}),
	}})
	require.NoError(t, err)
	h := &house{Host: host, configs: &st.configs, roster: newRoster([]*manifest.Manifest{p.m}, manifest.Options{})}
	p.registrar = newRegistrar(h, st.db)
	t.Cleanup(func() {
		require.NoError(t, host.Shutdown(context.Background()))
		require.NoError(t, st.close())
	})
	return p
}

func (p *picky) set(t *testing.T, value string) error {
	t.Helper()
	_, err := p.Configure(t.Context(), "picky", admin.ConfigurationChange{Value: json.RawMessage(value)})
	return err
}

// wantIs checks where the plugin stands, and what is in force.
func (p *picky) wantIs(t *testing.T, phase lifecycle.State, value string) {
	t.Helper()
	require.Equal(t, phase, p.newest("picky").Phase)
	one, err := p.Configuration(t.Context(), "picky", "")
	require.NoError(t, err)
	require.Equal(t, value, string(one.Value))
}

func TestRegistrar_aPluginThatFailsIsGivenBackWhatItHad(t *testing.T) {
	p := newPicky(t)
	_, err := p.Start(t.Context(), p.m, p.configs.start(p.m))
	require.NoError(t, err)
	require.ErrorContains(t, p.set(t, `{"bad":1}`), "this is bad")
	p.wantIs(t, lifecycle.Ready, `{}`)
	require.NoError(t, p.set(t, `{"a":1}`))
	require.ErrorContains(t, p.set(t, `{"bad":2}`), "this is bad")
	p.wantIs(t, lifecycle.Ready, `{"a":1}`)
	require.Equal(t, []string{`null`, `{"bad":1}`, `{}`, `{"a":1}`, `{"bad":2}`, `{"a":1}`}, p.seen)
	kept, err := p.ConfigurationHistory(t.Context(), "picky", "")
	require.NoError(t, err)
	require.Len(t, kept, 1, "what was refused was never kept")
}

func TestRegistrar_whatCannotBeKeptIsTakenBack(t *testing.T) {
	p := newPicky(t)
	_, err := p.Start(t.Context(), p.m, p.configs.start(p.m))
	require.NoError(t, err)
	require.NoError(t, p.set(t, `{"a":1}`))
	require.NoError(t, p.db.Close())
	require.ErrorContains(t, p.set(t, `{"a":2}`), "the store is closed")
	p.wantIs(t, lifecycle.Ready, `{"a":1}`)
	require.Equal(t, []string{`null`, `{"a":1}`, `{"a":2}`, `{"a":1}`}, p.seen)
}

func TestRegistrar_aPluginThatHasFailedIsStartedWithIt(t *testing.T) {
	p := newPicky(t)
	p.configs.settings.Plugins = map[string]manifest.PluginSettings{"picky": {Config: json.RawMessage(`{"bad":0}`)}}
	_, err := p.Start(t.Context(), p.m, p.configs.start(p.m))
	require.ErrorContains(t, err, "this is bad")
	require.ErrorContains(t, p.set(t, `{"bad":1}`), "this is bad")
	p.wantIs(t, lifecycle.Failed, `{"bad":0}`)
	require.NoError(t, p.set(t, `{"good":1}`))
	p.wantIs(t, lifecycle.Ready, `{"good":1}`)
}

func TestRegistrar_aPluginThatWaitsForItsConfigurationIsGivenIt(t *testing.T) {
	p := newPicky(t)
	p.m.Host.Configuration.Required = true
	_, err := p.Start(t.Context(), p.m, p.configs.start(p.m))
	require.NoError(t, err)
	p.wantIs(t, lifecycle.ConfigurationNeeded, `{}`)
	require.NoError(t, p.set(t, `{"a":1}`))
	p.wantIs(t, lifecycle.Ready, `{"a":1}`)
}

func TestRegistrar_whatIsForOthersIsCheckedByTheSchemaAlone(t *testing.T) {
	p := newPicky(t)
	p.m.Host.Configuration.Schema = json.RawMessage(`{"properties":{"a":{"type":"integer"}}}`)
	configure := func(value string) error {
		_, err := p.Configure(t.Context(), "picky", admin.ConfigurationChange{Company: "globex", Value: json.RawMessage(value)})
		return err
	}
	require.Equal(t, protocol.CodeConfiguration, protocol.CodeOf(configure(`{"a":"x"}`)))
	require.NoError(t, configure(`{"a":1}`), "the plugin is not up, and need not be")
	require.Equal(t, `{"a":1}`, string(p.configs.pluginConfig("picky", "globex")))
	require.Nil(t, p.configs.pluginConfig("picky", ""))
	require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(p.set(t, `{"a":1}`)))
	require.Empty(t, p.seen)
}

func TestRegistrar_whoWaitsForItsTurnMayGiveUp(t *testing.T) {
	p := newPicky(t)
	p.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Configure(ctx, "picky", admin.ConfigurationChange{Value: json.RawMessage(`{}`)})
	require.ErrorIs(t, err, context.Canceled)
	<-p.turn
}
