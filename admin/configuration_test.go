package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/protocol"
)

// ledgerOf keeps configurations as a host would.
type ledgerOf struct{ all []configuration.Configuration }

func (l *ledgerOf) Configuration(_ context.Context, plugin, company string) (configuration.Configuration, error) {
	if len(l.all) > 0 {
		return l.all[0], nil
	}
	return configuration.Configuration{Plugin: plugin, Company: company, Source: "none", Value: json.RawMessage(`{}`)}, nil
}

func (l *ledgerOf) Commit(_ context.Context, plugin string, c configuration.Change) (configuration.Configuration, error) {
	if c.Base != nil && *c.Base != int64(len(l.all)) {
		return configuration.Configuration{}, &protocol.Error{Code: protocol.CodeConflict, Message: "changed meanwhile"}
	}
	one := configuration.Configuration{Plugin: plugin, Company: c.Company, Revision: int64(len(l.all) + 1), Source: "stored", Value: c.Value}
	l.all = append([]configuration.Configuration{one}, l.all...)
	return one, nil
}

func (l *ledgerOf) Validate(_ context.Context, _ string, c configuration.Change) (v configuration.Validation, err error) {
	v.Status, v.Note = configuration.Valid, c.Company
	return v, nil
}

func (l *ledgerOf) Plan(_ context.Context, plugin string, c configuration.Change) (configuration.Plan, error) {
	return configuration.Plan{Plugin: plugin, Company: c.Company, Next: int64(len(l.all) + 1), Added: []string{"/a"}}, nil
}

func (l *ledgerOf) ConfigurationHistory(context.Context, string, string) ([]configuration.Configuration, error) {
	return l.all, nil
}

func TestServer_configures(t *testing.T) {
	r := start(t, Options{Configurations: &ledgerOf{}})
	ctx := t.Context()
	one, err := r.Configuration(ctx, "talker", "acme")
	require.NoError(t, err)
	require.Equal(t, configuration.Configuration{Plugin: "talker", Company: "acme", Source: "none", Value: json.RawMessage(`{}`)}, one)
	_, body := r.get(t, pathAPI+"/plugins/talker/config/history")
	require.JSONEq(t, `{"revisions":[]}`, body)

	base := int64(0)
	kept, err := r.Configure(ctx, "talker", configuration.Change{Company: "acme", Value: json.RawMessage(`{"a":1}`), Base: &base})
	require.NoError(t, err)
	require.Equal(t, int64(1), kept.Revision)
	_, err = r.Configure(ctx, "talker", configuration.Change{Value: json.RawMessage(`{}`), Base: &base})
	require.Equal(t, protocol.CodeConflict, protocol.CodeOf(err))
	all, err := r.ConfigurationHistory(ctx, "talker", "acme")
	require.NoError(t, err)
	require.Equal(t, []configuration.Configuration{kept}, all)
	v, err := r.ValidateConfiguration(ctx, "talker", configuration.Change{Company: "acme", Value: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Equal(t, configuration.Validation{Status: configuration.Valid, Validation: protocol.Validation{Note: "acme"}}, v)
	p, err := r.PlanConfiguration(ctx, "talker", configuration.Change{Company: "acme", Value: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Equal(t, configuration.Plan{Plugin: "talker", Company: "acme", Next: 2, Added: []string{"/a"}}, p)
}

func TestServer_configuresNobodyElse(t *testing.T) {
	none := start(t, Options{})
	stranger := start(t, Options{Plugins: []string{}, Configurations: &ledgerOf{}})
	known := start(t, Options{Configurations: &ledgerOf{}})
	for _, c := range []struct {
		r            *running
		plugin, want string
	}{
		{none, "talker", "plugin talker: this host keeps no configurations"},
		{stranger, "talker", "plugin talker is none of those that this host was told to run"},
		{known, "tolker", "no plugin and no session is called tolker; there are: talker"},
	} {
		_, err := c.r.Configuration(t.Context(), c.plugin, "")
		require.EqualError(t, err, c.want)
		_, err = c.r.ConfigurationHistory(t.Context(), c.plugin, "")
		require.EqualError(t, err, c.want)
		_, err = c.r.Configure(t.Context(), c.plugin, configuration.Change{})
		require.EqualError(t, err, c.want)
	}
	for _, path := range []string{"/config?plugin=x", "/config/history?lines=1"} {
		status, body := known.get(t, pathAPI+"/plugins/talker"+path)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, "there is no such parameter here; there are: company")
	}
	status, _ := known.send(t, http.MethodPut, pathAPI+"/plugins/talker/config", `{"value":{}}`)
	require.Equal(t, http.StatusBadRequest, status, "it has to be declared as JSON")
}
