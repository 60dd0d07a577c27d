package manifest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEliza_asksForItsPermissions(t *testing.T) {
	m := &Manifest{Dialect: DialectEliza, Host: HostFields{Invoke: []string{"tool:*"}}, Eliza: &Eliza{
		Permissions: ReadElizaPermissions(json.RawMessage(`{"host":{"tray":true,"storage":false},"bun":{"run":true,"read":true}}`)),
	}}
	require.Equal(t, []string{"host:tray", "bun:read", "bun:run", "invoke:tool:*"}, m.Grants())
}

func TestElizaPermissions_onlyWhatIsGiven(t *testing.T) {
	asked := ReadElizaPermissions(json.RawMessage(`{"host":{"tray":true,"storage":false},"bun":{"run":true,"read":true}}`))
	for _, c := range []struct {
		tags []string
		want string
	}{
		{[]string{"host:tray", "bun:read", "bun:run"}, `{"host":{"tray":true,"storage":false},"bun":{"run":true,"read":true},"isolation":"shared-worker"}`},
		{[]string{"bun:read", "bun:write"}, `{"host":{"tray":false,"storage":false},"bun":{"run":false,"read":true},"isolation":"shared-worker"}`},
		{nil, `{"host":{"tray":false,"storage":false},"bun":{"run":false,"read":false},"isolation":"shared-worker"}`},
	} {
		require.JSONEq(t, c.want, string(asked.Only(c.tags).JSON()))
	}
	require.True(t, asked.Has("bun:run"), "what was asked for is as it was")
}

func TestParseSettings_grantsOfElizaPlugins(t *testing.T) {
	require.Equal(t, []string{"bun:run", "host:tray"}, wantSettings(t, `{"plugins": {"p": {"grants": ["bun:run", "host:tray"]}}}`).Plugins["p"].Grants)
	_, problems := ParseSettings("airi-host.json", []byte(`{"plugins": {"p": {"grants": ["isolation:shared-worker"]}}}`), SettingsOptions{})
	require.Len(t, problems, 1)
}
