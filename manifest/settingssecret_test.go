package manifest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecret_aPlainOneIsRefusedWithAHint(t *testing.T) {
	wantSettingsProblems(t, `{"secrets": {"api": "hunter2"}}`,
		"secrets.api: expected an object, found a string: "+whereSecrets)
	for _, name := range []string{"value", "secret", "plain", "key", "password", "token", "text"} {
		wantSettingsProblems(t, fmt.Sprintf(`{"secrets": {"api": {%q: "hunter2"}}}`, name),
			fmt.Sprintf("secrets.api.%s: unknown field: %s", name, whereSecrets))
	}
}

func TestSecret_aSlipIsNoSecret(t *testing.T) {
	wantSettingsProblems(t, `{"secrets": {"api": {"ENV": "A"}}}`, `secrets.api.ENV: unknown field: names are exact, write "env"`)
	wantSettingsProblems(t, `{"secrets": {"api": {"evn": "A"}}}`,
		`secrets.api.evn: unknown field: remove it (known are env, file, plugins, companies)`)
	wantSettingsProblems(t, `{"secrets": {"api": {"fil": "/a"}}}`, `secrets.api.fil: unknown field: did you mean "file"?`)
}

func TestSecret_isNeverShown(t *testing.T) {
	const secret = "hunter2 hunter2"
	for _, form := range []string{
		`{"secrets": {"a": %s}}`, `{"secrets": {"a": {"env": %s}}}`, `{"secrets": {"a": {"file": %s}}}`, `{"secrets": {"a": {"x": %s}}}`,
		`{"secrets": {"a": {"env": "A"}, "a": {"env": %s}}}`, `{"secrets": %s}`,
		`{"plugins": {"a": {"config": %s}}}`, `{"plugins": {"a": %s}}`, `{"plugins": %s}`,
		`{"plugins": {"a": {"companies": %s}}}`, `{"plugins": {"a": {"companies": {"b": %s}}}}`, `{"plugins": {"a": {"companies": {"b": {"config": %s}}}}}`,
	} {
		for _, value := range []string{`"` + secret + `"`, `["` + secret + `"]`} {
			_, problems := ParseSettings("airi-host.json", fmt.Appendf(nil, form, value), SettingsOptions{})
			require.NotEmpty(t, problems, form)
			require.NotContains(t, problems.Err().Error(), "hunter2")
		}
	}
}

func TestSecret_isNotReadWithTheSettings(t *testing.T) {
	s := wantSettings(t, `{"secrets": {"a": {"file": "/nowhere/at/all"}, "b": {"env": "NOBODY_HAS_SET_THIS"}}}`)
	require.Equal(t, map[string]Secret{"a": {File: "/nowhere/at/all"}, "b": {Env: "NOBODY_HAS_SET_THIS"}}, s.Secrets)
}
