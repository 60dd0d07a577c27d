package capability

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func anyOf(keys ...Key) Requirement { return Requirement{AnyOf: keys} }

func TestRequirements_string(t *testing.T) {
	q := Requirements{anyOf("tool:a"), anyOf("tool:b", "tool:c")}
	require.Equal(t, "tool:a, tool:b or tool:c", q.String())
	require.Equal(t, []string{"tool:a", "tool:b or tool:c"}, q.Strings())
	require.Equal(t, "a or b or c", anyOf("a", "b", "c").String())
	require.Empty(t, Requirements(nil).String())
}

func TestRequirements_validate(t *testing.T) {
	require.NoError(t, Requirements(nil).Validate())
	require.NoError(t, Requirements{anyOf("a", "b")}.Validate())
	require.EqualError(t, Requirements{anyOf("a"), anyOf()}.Validate(),
		"requirement 2 of 2: it names no capability: expected at least one key")
	require.EqualError(t, Requirements{anyOf("a", "tool:")}.Validate(),
		`requirement 1 of 1: capability key "tool:" has no name: expected one after "tool:"`)
}

func TestRequirements_unmet(t *testing.T) {
	r := New(Options{})
	hostReady(t, r, "ready")
	hostAnnounced(t, r, "announced")
	tests := []struct {
		name  string
		needs Requirements
		want  []Key
	}{
		{"nothing is needed", nil, nil},
		{"ready", Requirements{anyOf("ready")}, nil},
		{"one of two is ready", Requirements{anyOf("missing", "ready")}, nil},
		{"announced is not ready", Requirements{anyOf("announced")}, []Key{"announced"}},
		{"all are needed", Requirements{anyOf("ready"), anyOf("missing")}, []Key{"missing"}},
		{"each key once", Requirements{anyOf("a", "b"), anyOf("ready"), anyOf("b", "c")}, []Key{"a", "b", "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.needs.Unmet(r.Snapshot())) })
	}
}
