package manifest_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/manifest"
)

func TestManifest_declaredIsWhatAPaperclipManifestNames(t *testing.T) {
	m := manifest.Manifest{Paperclip: &manifest.Paperclip{
		Tools:    []manifest.PaperclipTool{{Name: "sum", DisplayName: "Sum", Description: "adds", ParametersSchema: json.RawMessage(`{"type":"object"}`)}},
		Jobs:     []manifest.PaperclipJob{{Key: "sync", DisplayName: "Sync", Schedule: "* * * * *"}},
		Webhooks: []manifest.PaperclipWebhook{{Key: "hook"}},
		APIRoutes: []manifest.PaperclipAPIRoute{
			{Key: "items", Method: "GET", Path: "/items/:id", Auth: "board"},
			{Key: "in", Method: "POST", Path: "/in", Auth: "webhook", CompanyResolution: json.RawMessage(`{"from":"query","key":"c"}`)},
		},
	}}
	require.Equal(t, []capability.Offer{
		{
			Key: "tool:sum", Invocable: true, Description: "adds",
			InputSchema: json.RawMessage(`{"type":"object"}`), Metadata: json.RawMessage(`{"displayName":"Sum"}`),
		},
		{Key: "job:sync", Invocable: true, Metadata: json.RawMessage(`{"displayName":"Sync","schedule":"* * * * *"}`)},
		{Key: "webhook:hook", Invocable: true},
		{Key: "http:GET /items/:id", Invocable: true, Metadata: json.RawMessage(`{"endpoint":"items","auth":"board"}`)},
		{Key: "http:POST /in", Invocable: true, Metadata: json.RawMessage(
			`{"endpoint":"in","auth":"webhook","company":{"from":"query","key":"c"},"public":true}`)},
	}, m.Declared())
}

func TestManifest_declaredIsNothingElsewhere(t *testing.T) {
	require.Empty(t, (&manifest.Manifest{}).Declared())
	require.Empty(t, (&manifest.Manifest{Paperclip: &manifest.Paperclip{}}).Declared())
}

func TestManifest_mayInvokeByEcosystem(t *testing.T) {
	list := manifest.HostFields{Invoke: []string{"tool:*"}}
	for _, row := range []struct {
		dialect string
		host    manifest.HostFields
		want    bool
	}{
		{dialect: manifest.DialectAIRI, want: true},
		{dialect: manifest.DialectPaperclip, want: false},
		{dialect: manifest.DialectAIRI, host: list, want: true},
		{dialect: manifest.DialectPaperclip, host: list, want: true},
	} {
		m := manifest.Manifest{Dialect: row.dialect, Host: row.host}
		require.Equal(t, row.want, m.MayInvoke("tool:x"), row.dialect)
		require.Equal(t, row.want && len(row.host.Invoke) == 0, m.MayInvoke("data:x"), row.dialect)
	}
}
