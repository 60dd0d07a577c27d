package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHostFields_MayInvoke(t *testing.T) {
	h := HostFields{Invoke: []string{"tool:greet", "service:clock.*"}}
	require.True(t, h.MayInvoke("tool:greet"))
	require.True(t, h.MayInvoke("service:clock.now"))
	require.False(t, h.MayInvoke("tool:Greet"))
	require.False(t, HostFields{}.MayInvoke("tool:greet"), "nothing is allowed that is not said")
}

func TestMatches(t *testing.T) {
	for _, row := range []struct {
		pattern, key string
		want         bool
	}{
		{"tool:greet", "tool:greet", true},
		{"tool:greet", "tool:greeting", false},
		{"*", "anything:at/all", true},
		{"*", "", true},
		{"tool:*", "tool:", true},
		{"tool:*", "tool:a:b/c", true},
		{"tool:*", "mytool:a", false},
		{"*:greet", "action:greet", true},
		{"*:greet", "action:greet2", false},
		{"http:* /a/*", "http:GET /a/b", true},
		{"http:* /a/*", "http:GET /b/a", false},
		{"a*b*c", "abbc", true},
		{"a*b*c", "acbc", true},
		{"a*b*c", "acb", false},
		{"ab*ba", "aba", false}, // the two ends may not share a character
		{"a*bc*bc", "abc", false},
		{"a*bc*bc", "abcbc", true},
		{"**", "x", true},
		{"[a-z]?", "[a-z]?", true},
		{"[a-z]?", "ab", false},
		{"a.c", "abc", false},
	} {
		require.Equal(t, row.want, matches(row.pattern, row.key), "%s %s", row.pattern, row.key)
	}
}

func TestManifest_grantsAreWhatItAsksFor(t *testing.T) {
	for name, c := range map[string]struct {
		m    Manifest
		want []string
	}{
		"an AIRI module that lists nothing": {Manifest{Dialect: DialectAIRI}, []string{"invoke:*"}},
		"an AIRI module": {
			Manifest{Dialect: DialectAIRI, Host: HostFields{Invoke: []string{"tool:a", "b:*"}}},
			[]string{"invoke:tool:a", "invoke:b:*"},
		},
		"a Paperclip plugin that asks for nothing": {Manifest{Dialect: DialectPaperclip, Paperclip: &Paperclip{}}, nil},
		"a Paperclip plugin": {
			Manifest{Dialect: DialectPaperclip, Paperclip: &Paperclip{Grants: []string{"http.outbound"}}, Host: HostFields{Invoke: []string{"tool:*"}}},
			[]string{"http.outbound", "invoke:tool:*"},
		},
	} {
		require.Equal(t, c.want, c.m.Grants(), name)
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		grant, other string
		want         bool
	}{
		{"http.outbound", "http.outbound", true},
		{"http.outbound", "events.emit", false},
		{"invoke:*", "http.outbound", false},
		{"http.*", "http.outbound", false},
		{"invoke:*", "invoke:tool:*", true},
		{"invoke:tool:*", "invoke:*", false},
		{"invoke:tool:*", "invoke:tool:gr*", true},
		{"invoke:tool:gr*", "invoke:tool:*", false},
		{"invoke:tool:*a*", "invoke:tool:*", false},
		{"invoke:tool:a", "invoke:tool:a", true},
		{"invoke:tool:*:b", "invoke:tool:a*:b", true},
	} {
		require.Equal(t, c.want, Covers(c.grant, c.other), "%s covers %s", c.grant, c.other)
	}
}
