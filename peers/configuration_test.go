package peers

import (
	"cmp"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// unkept is a store that forgets.
type unkept struct{}

func (unkept) SetConfiguration(_ context.Context, base int64, k configuration.Kept) (configuration.Kept, error) {
	k.Revision = base + 1
	return k, nil
}

func (unkept) ConfigurationHistory(context.Context, string, string) ([]configuration.Kept, error) {
	return nil, nil
}

// configurator changes the configurations of the host's plugins.
func (h *home) configurator() *configuration.Configurator {
	book := &configuration.Book{Defaults: func(plugin, company string) (json.RawMessage, bool) {
		_, own := h.settings.Plugins[plugin].Companies[company]
		return h.config(plugin, company), own
	}}
	return configuration.New(configuration.Options{
		Host: h.Host, Store: unkept{}, Book: book,
		Manifest: func(plugin string) *manifest.Manifest {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.plugins[plugin]
		},
		Company: func(m *manifest.Manifest) string { return cmp.Or(m.Host.Scope, h.settings.Scope) },
	})
}

func TestHost_changesWorkersConfigurations(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip916, `{"scope":"acme","plugins":{"kitchen":{"config":{"greeting":"Moin"}}}}`, nil)
	h.start(t, "kitchen", Changes{})
	c := h.configurator()
	commit := func(company, value string) (configuration.Configuration, error) {
		return c.Commit(t.Context(), "kitchen", configuration.Change{Company: company, Value: json.RawMessage(value)})
	}

	v, err := c.Validate(t.Context(), "kitchen", configuration.Change{Value: json.RawMessage(`{"mode":"bad"}`)})
	require.NoError(t, err)
	require.Equal(t, protocol.Validation{Asked: true, Invalid: []protocol.ConfigProblem{{Reason: "mode is bad"}}}, v.Validation)
	_, err = commit("", `{"mode":"bad"}`)
	require.EqualError(t, err, "plugin kitchen refuses its configuration: mode is bad")
	done, err := commit("", `{"mode":"odd"}`)
	require.NoError(t, err)
	require.Len(t, done.Warnings, 1, "the plugin's own")
	require.Equal(t, lifecycle.Ready, h.session(t, "kitchen").Phase)
	require.Equal(t, []map[string]any{{"mode": "odd"}}, h.seen(t).Configs, "what was refused was never given")

	// A worker for one company alone does not take another one's for its own.
	done, err = commit("globex", `{"greeting":"Hey"}`)
	require.NoError(t, err)
	require.Len(t, done.Warnings, 1)
	require.Contains(t, done.Warnings[0], "the plugin did not take what it was told, and has it when it asks: configChanged: refusing to overwrite configuration for company \"acme\"")
	require.Equal(t, []map[string]any{{"mode": "odd"}, {"mode": "odd"}}, h.seen(t).Configs, "its own was told again")
	done, err = commit("globex", `{"mode":"odd"}`)
	require.NoError(t, err)
	require.Len(t, done.Warnings, 1, "the same is no other tenant's: only its own words are left")
	require.Len(t, h.seen(t).Configs, 4)
}
