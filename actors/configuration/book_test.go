package configuration

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBook_whatIsACompanysOwnGoesFirst(t *testing.T) {
	b := &Book{Defaults: func(plugin, company string) (json.RawMessage, bool) {
		switch {
		case plugin != "a":
			return nil, false
		case company == "globex":
			return json.RawMessage(`"globex in the settings"`), true
		}
		return json.RawMessage(`"settings"`), false
	}}
	require.Equal(t, "settings", b.Start("a", "acme").Config.Source)
	require.Nil(t, b.Start("b", "acme").Config)
	want := func(company, value string) {
		t.Helper()
		require.Equal(t, value, string(b.Value("a", company)))
		require.Equal(t, value, string(b.InForce("a", company).Value))
	}
	put := func(company string, revision int64, value string) {
		b.Put(Kept{Plugin: "a", Company: company, Revision: revision, Value: json.RawMessage(value)})
	}
	want("acme", `"settings"`)
	put("", 1, `"stored"`)
	want("", `"stored"`)
	want("acme", `"stored"`)
	want("globex", `"globex in the settings"`)
	put("globex", 1, `"globex"`)
	want("globex", `"globex"`)
	put("globex", 2, `null`)
	want("globex", `"globex in the settings"`)
	put("acme", 3, `"acme"`)
	require.Equal(t, int64(3), b.Start("a", "acme").Config.Revision)
	require.Equal(t, `"acme"`, string(b.Start("a", "acme").Config.Full))
	put("acme", 0, ``)
	want("acme", `"stored"`)
	require.Equal(t, map[string]int{"a": len(`"stored"`) + len(`null`)}, b.Sizes())
	b.Forget("a", "")
	require.Empty(t, b.Sizes())
	want("acme", `"settings"`)
	put("acme", 1, `"acme"`)
	b.Forget("", "acme")
	want("acme", `"settings"`)
}
