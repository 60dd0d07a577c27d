package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChangedSettings_namesEachField(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":            {`{"drain": "5s"}`, "\ufeff{\n\"drain\":\"5s\" }", nil},
		"no file":            {``, ``, nil},
		"a file":             {``, `{"drain": "5s", "log": {"level": "info"}}`, []string{"drain", "log.level"}},
		"no file any more":   {`{"drain": "5s", "log": {"level": "info"}}`, ``, []string{"drain", "log.level"}},
		"an empty object":    {`{}`, `{"log": {}, "plugins": {"a": {}}}`, nil},
		"another value":      {`{"limits": {"facts": 1, "events": 2}}`, `{"limits": {"events": 3, "facts": 1}}`, []string{"limits.events"}},
		"another kind":       {`{"drain": "5s"}`, `{"drain": 5000}`, []string{"drain"}},
		"another order":      {`{"plugins": {"a": {"config": {"x": 1, "y": [2]}}}}`, `{"plugins": {"a": {"config": {"y": [2], "x": 1}}}}`, nil},
		"a list":             {`{"companies": ["a"]}`, `{"companies": ["a", "b"]}`, []string{"companies"}},
		"a config":           {`{"plugins": {"@a/b": {"config": {"x": 1}}}}`, `{"plugins": {"@a/b": {"config": {"x": 2, "y": 3}}}}`, []string{`plugins["@a/b"].config`}},
		"a company's config": {`{"plugins": {"a": {"companies": {"b": {"config": {}}}}}}`, `{}`, []string{"plugins.a.companies.b.config"}},
		"an empty config":    {`{}`, `{"plugins": {"a": {"config": {}}}}`, []string{"plugins.a.config"}},
		"a secret":           {`{"secrets": {"a": {"env": "A"}}}`, `{"secrets": {"a": {"file": "/a"}, "b": {"env": "A"}}}`, []string{"secrets.a", "secrets.b"}},
		"a plugin's config's own name": {
			`{"plugins": {"config": {"limits": {"processes": 1}}}}`, `{"plugins": {"config": {"limits": {"processes": 2}}}}`,
			[]string{"plugins.config.limits.processes"},
		},
	} {
		var got []string
		for _, one := range ChangedSettings([]byte(c.before), []byte(c.after)) {
			got = append(got, one.Field)
		}
		require.Equal(t, c.want, got, name)
	}
	require.Equal(t, `plugins["@a/b"].config`, FieldOf("plugins", "@a/b", "config"))
	require.Equal(t, []SettingsChange{{Field: `plugins["@a/b"].grants`, Path: []string{"plugins", "@a/b", "grants"}}},
		ChangedSettings(nil, []byte(`{"plugins": {"@a/b": {"grants": []}}}`)))
}
