package capability

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompileDeclared_holdsASchemaToItsKind(t *testing.T) {
	const (
		object = `{"type":"object"}`
		action = `{"type":"object","properties":{"params":{"type":["object","null"]},"n":{"type":["integer","null"]}}}`
	)
	for _, c := range []struct{ kind, declared, want string }{
		{object, ``, ""},
		{object, `{}`, ""},
		{object, `true`, ""},
		{object, `{"properties":{"a":{"type":"string"}},"required":["a"]}`, ""},
		{object, `{"type":["null","object"]}`, ""},
		{object, `{"anyOf":[{"type":"string"},{"type":"object"}]}`, ""},
		{`{}`, `{"type":"string"}`, ""},
		{`{}`, `false`, ""},
		{action, `{"properties":{"params":{"type":"object","required":["x"]},"n":{"type":"number"},"more":{"type":"string"}}}`, ""},
		{object, `false`, "schema: expected one that admits an object, found one for nothing"},
		{object, `{"type":"string"}`, "schema: /type: expected one that admits an object, found one for a string"},
		{object, `{"type":["array","null"]}`, "schema: /type: expected one that admits an object, found one for an array"},
		{object, `{"allOf":[{},{"type":"array"}]}`, "schema: /allOf/1/type: expected one that admits an object, found one for an array"},
		{`{"type":"array"}`, object, "schema: /type: expected one that admits an array, found one for an object"},
		{action, `{"properties":{"params":{"type":"array"}}}`, "schema: /properties/params/type: expected one that admits an object, found one for an array"},
		{action, `{"properties":{"params":{"type":"null"}}}`, "schema: /properties/params/type: expected one that admits an object, found one for null"},
		{action, `{"properties":{"n":{"type":"string"}}}`, "schema: /properties/n/type: expected one that admits a whole number, found one for a string"},
	} {
		s, err := CompileDeclared(json.RawMessage(c.kind), json.RawMessage(c.declared))
		if c.want == "" {
			require.NoError(t, err, c.declared)
			require.NotNil(t, s)
			continue
		}
		var wrong *DeclarationError
		require.ErrorAs(t, err, &wrong, c.declared)
		require.EqualError(t, err, c.want)
	}
	_, err := CompileDeclared(json.RawMessage(object), json.RawMessage(`{"type":"objekt"}`))
	require.ErrorContains(t, err, "schema: /type")
}
