package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
)

// node is the part of a JSON Schema that the reader has to agree with.
type node struct {
	Ref        string          `json:"$ref"`
	Defs       map[string]node `json:"$defs"`
	Properties map[string]node `json:"properties"`
	Required   []string        `json:"required"`
	Additional *bool           `json:"additionalProperties"`
	Const      string          `json:"const"`
	Minimum    int             `json:"minimum"`
	Maximum    int             `json:"maximum"`
	MaxLength  int             `json:"maxLength"`
}

// published returns the schema that Schema returns.
func published(t *testing.T) node {
	t.Helper()
	var all struct {
		node
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Schema(), &all))
	all.node.Defs = map[string]node{}
	for name, raw := range all.Defs {
		var n node
		// "env" alone has a schema for its additional members; it is no shape.
		require.NoError(t, json.Unmarshal(withoutEnv(t, raw), &n), name)
		all.node.Defs[name] = n
	}
	return all.node
}

// withoutEnv empties the property "env" of a definition.
func withoutEnv(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var def map[string]any
	require.NoError(t, json.Unmarshal(raw, &def))
	if properties, ok := def["properties"].(map[string]any); ok && properties["env"] != nil {
		properties["env"] = map[string]any{}
	}
	data, err := json.Marshal(def)
	require.NoError(t, err)
	return data
}

// wantSame compares a shape of the reader with its definition in the schema.
func wantSame[T any](t *testing.T, s shape[T], n node) {
	t.Helper()
	require.ElementsMatch(t, s.names(), slices.Collect(maps.Keys(n.Properties)))
	var required []string
	for _, f := range s.fields {
		if f.required != "" {
			required = append(required, f.name)
		}
	}
	require.ElementsMatch(t, required, n.Required)
	require.Equal(t, s.open, n.Additional == nil, "are unknown members refused?")
}

func TestSchema_hasTheReadersNames(t *testing.T) {
	root := published(t)
	wantSame(t, airiShape, root)
	wantSame(t, entrypointsShape, root.Defs["entrypoints"])
	wantSame(t, hostShape, root.Defs["airi-host"])
	wantSame(t, requirementShape, root.Defs["requirement"])
	wantSame(t, configurationShape, root.Defs["configuration"])
	wantSame(t, timeoutsShape, root.Defs["timeouts"])
	wantSame(t, limitsShape, root.Defs["limits"])
}

func TestSchema_hasTheReadersLimits(t *testing.T) {
	root := published(t)
	require.Equal(t, APIVersionAIRI, root.Properties["apiVersion"].Const)
	require.Equal(t, KindAIRI, root.Properties["kind"].Const)
	require.Equal(t, maxName, root.Properties["name"].MaxLength)
	require.Equal(t, capability.MaxKey, root.Defs["key"].MaxLength)
	require.Equal(t, maxPriority, root.Defs["airi-host"].Properties["priority"].Maximum)
	require.Equal(t, -maxPriority, root.Defs["airi-host"].Properties["priority"].Minimum)
	limits := root.Defs["limits"].Properties
	require.Equal(t, MaxFrameBytes, limits["frameBytes"].Maximum)
	require.Equal(t, MaxPendingCalls, limits["pendingCalls"].Maximum)
	require.Equal(t, MaxLogLines, limits["logLines"].Maximum)
}

func TestSchema_isTheCallersOwn(t *testing.T) {
	Schema()[0] = 'x'
	require.True(t, json.Valid(Schema()))
}
