package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/services/store"
)

func TestMergePatch(t *testing.T) { // the cases of RFC 7396
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{``, `{"n":12345678901234567890}`, `{"n":12345678901234567890}`},
	} {
		require.JSONEq(t, c[2], string(mergePatch(json.RawMessage(c[0]), json.RawMessage(c[1]))), c)
	}
	require.Equal(t, `{"n":12345678901234567890}`, string(mergePatch(nil, json.RawMessage(`{"n":12345678901234567890}`))), "digits stay")
}

func TestConfigurations_whatIsACompanysOwnGoesFirst(t *testing.T) {
	s := &settings{}
	s.Scope = "acme"
	s.Plugins = map[string]manifest.PluginSettings{"a": {
		Config:    json.RawMessage(`"settings"`),
		Companies: map[string]json.RawMessage{"globex": json.RawMessage(`"globex in the settings"`)},
	}}
	k := &configurations{settings: s}
	m := &manifest.Manifest{Dialect: manifest.DialectAIRI, Name: "a"}
	require.Equal(t, "settings", k.start(m).Config.Source)
	want := func(company, value string) {
		t.Helper()
		require.Equal(t, value, string(k.pluginConfig("a", company)))
	}
	put := func(company string, revision int64, value string) {
		k.put(store.Configuration{Plugin: "a", Company: company, Revision: revision, Value: json.RawMessage(value)})
	}
	want("acme", `"settings"`)
	put("", 1, `"stored"`)
	want("", `"stored"`)
	want("acme", `"stored"`)
	want("globex", `"globex in the settings"`)
	put("globex", 1, `"globex"`)
	want("globex", `"globex"`)
	put("acme", 3, `"acme"`)
	require.Equal(t, int64(3), k.start(m).Config.Revision)
	require.Equal(t, `"acme"`, string(k.start(m).Config.Full))
	put("acme", 0, ``)
	want("acme", `"stored"`)
}
