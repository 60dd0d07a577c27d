package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// ledgerOf keeps configurations as a host would.
type ledgerOf struct{ all []Configuration }

func (l *ledgerOf) Configuration(_ context.Context, plugin, company string) (Configuration, error) {
	if len(l.all) > 0 {
		return l.all[0], nil
	}
	return Configuration{Plugin: plugin, Company: company, Source: "none", Value: json.RawMessage(`{}`)}, nil
}

func (l *ledgerOf) Configure(_ context.Context, plugin string, c ConfigurationChange) (Configuration, error) {
	if c.Base != nil && *c.Base != int64(len(l.all)) {
		return Configuration{}, &protocol.Error{Code: CodeConflict, Message: "changed meanwhile"}
	}
	one := Configuration{Plugin: plugin, Company: c.Company, Revision: int64(len(l.all) + 1), Source: "stored", Value: c.Value}
	l.all = append([]Configuration{one}, l.all...)
	return one, nil
}

func (l *ledgerOf) ConfigurationHistory(context.Context, string, string) ([]Configuration, error) {
	return l.all, nil
}

func TestServer_configures(t *testing.T) {
	r := start(t, Options{Configurations: &ledgerOf{}})
	ctx := t.Context()
	one, err := r.Configuration(ctx, "talker", "acme")
	require.NoError(t, err)
	require.Equal(t, Configuration{Plugin: "talker", Company: "acme", Source: "none", Value: json.RawMessage(`{}`)}, one)
	_, body := r.get(t, pathAPI+"/plugins/talker/config/history")
	require.JSONEq(t, `{"revisions":[]}`, body)

	base := int64(0)
	kept, err := r.Configure(ctx, "talker", ConfigurationChange{Company: "acme", Value: json.RawMessage(`{"a":1}`), Base: &base})
	require.NoError(t, err)
	require.Equal(t, int64(1), kept.Revision)
	_, err = r.Configure(ctx, "talker", ConfigurationChange{Value: json.RawMessage(`{}`), Base: &base})
	require.Equal(t, CodeConflict, protocol.CodeOf(err))
	all, err := r.ConfigurationHistory(ctx, "talker", "acme")
	require.NoError(t, err)
	require.Equal(t, []Configuration{kept}, all)
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
		_, err = c.r.Configure(t.Context(), c.plugin, ConfigurationChange{})
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
