package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShape_openIgnoresWhatItDoesNotKnow(t *testing.T) {
	m := wantManifest(t, `{`+head+`, "$schema": "x", "name": "hello", "Name": 5, "extra": {"a": 1},
		"entrypoints": {"go": "builtin:hello", "deno": 3}}`)
	require.Equal(t, "hello", m.Name)
}

func TestShape_namesAreExact(t *testing.T) {
	wantProblems(t, `{"APIVersion": "v1", "kind": "manifest.plugin.airi.moeru.ai", "Name": "hello",
		"entrypoints": {"Node": "./x.mjs", "go": "builtin:x"}, "airiHost": {}}`,
		`APIVersion: unknown field: names are exact, write "apiVersion"`,
		`Name: unknown field: names are exact, write "name"`,
		`entrypoints.Node: unknown field: names are exact, write "node"`,
		`airiHost: unknown field: names are exact, write "airi-host"`)
}

func TestShape_closedNamesTheNearest(t *testing.T) {
	wantProblems(t, `{`+head+`, "name": "hello", "entrypoints": {"go": "builtin:hello"}, "airi-host": {
		"require": [], "Offers": [], "tools": 1, "timeout": {}, "env": {}, "ENV": {}, "timeouts": {"int": 5, "stopp": 5}}}`,
		`airi-host.require: unknown field: did you mean "requires"?`,
		`airi-host.Offers: unknown field: names are exact, write "offers"`,
		`airi-host.tools: unknown field: remove it (known are requires, offers, command, configuration, invoke, env, timeouts, limits, scope, priority)`,
		`airi-host.timeout: unknown field: did you mean "timeouts"?`,
		`airi-host.ENV: unknown field: names are exact, write "env"`,
		`airi-host.timeouts.int: unknown field: did you mean "init"?`,
		`airi-host.timeouts.stopp: unknown field: did you mean "stop"?`)
}

func TestAlike(t *testing.T) {
	require.True(t, alike("airi_Host", "airi-host"))
	require.False(t, alike("airi host", "airi-host"))
	require.False(t, alike("airi-host"+strings.Repeat("-", maxQuoted), "airi-host"), "too long to be a slip")
}

func TestDistance(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"init", "init", 0},
		{"int", "init", 1},
		{"load", "lode", 2},
		{"kitten", "sitting", 3},
		{strings.Repeat("x", 1000), "init", 1000},
	} {
		require.Equal(t, row.want, distance(row.a, row.b), "%s %s", row.a, row.b)
	}
}
