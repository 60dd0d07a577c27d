package capability

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompileSchema_refusesACycleThatEatsNothing(t *testing.T) {
	const endless = "it refers to itself without end: break the cycle"
	wantRefused(t, `{"$ref": "#"}`, endless)
	wantRefused(t, `{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]}}}`, "/$defs/a: "+endless)
	wantRefused(t, `{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": {"$ref": "#"}}}`, endless)
	wantRefused(t, `{"$dynamicAnchor": "a", "$dynamicRef": "#a"}`, endless)
}

// Each of these would take hours, or the memory of the machine.
func TestSchema_boundsTheWork(t *testing.T) {
	const both = `"items": {"$ref": "#/$defs/a"}, "contains": {"$ref": "#/$defs/a"}`
	for name, c := range map[string]struct{ schema, input string }{
		"alternatives that double": {
			`{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{` + both + `}, {` + both + `}]}}}`, nested("[", 900, "]"),
		},
		"failures that double where none is told": {
			`{"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "array", ` + both + `}}}`, nested("[", 900, "]"),
		},
		"a dynamic anchor that nothing else leads to": {
			`{"not": {"$id": "in", "$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a"}}},
			  "$defs": {"b": {"$dynamicAnchor": "a", "type": "array", "items": {"$ref": "#/$defs/b"}, "contains": {"$ref": "#/$defs/b"}}}}`,
			nested("[", 900, "]"),
		},
		"steps that double": {
			`{"$ref": "#/$defs/s0", "$defs": {` + many(40, func(i int) string {
				return fmt.Sprintf(`"s%d": {"allOf": [{"$ref": "#/$defs/s%d"}, {"$ref": "#/$defs/s%d"}]}`, i, i+1, i+1)
			}) + `, "s40": {"type": "null"}}}`, `5`,
		},
		"more items than are looked at": {
			`{"items": {"type": "string"}}`, `[` + many(maxSteps+1, func(int) string { return "1" }) + `]`,
		},
		"more members than are looked at": {
			`{"additionalProperties": {"type": "string"}}`, `{` + many(maxSteps+1, func(i int) string { return fmt.Sprintf(`"%d":1`, i) }) + `}`,
		},
		"long lists of numbers": {
			`{"items": {"enum": [` + many(50_000, func(i int) string { return fmt.Sprint(i) }) + `]}}`, `[` + many(60, func(int) string { return "-1" }) + `]`,
		},
		"items that all differ": {
			`{"uniqueItems": true}`, `[` + many(20_000, func(i int) string { return fmt.Sprint(i) }) + `]`,
		},
		"an expression on a long string": {
			`{"pattern": "^(.?){1000}$"}`, `"` + strings.Repeat("x", 100_000) + `"`,
		},
		"a long string again and again": {
			`{"allOf": [` + many(1000, func(int) string { return `{"minLength": 5}` }) + `]}`, `"` + strings.Repeat("x", 1_000_000) + `"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := compiled(t, c.schema)
			err := s.Check(json.RawMessage(c.input))
			require.EqualError(t, err, errSteps.Error())
			require.Equal(t, err, s.Check(json.RawMessage(c.input)), "the same checker, again")
		})
	}
}

func TestSchema_theNextCheckHasAllSteps(t *testing.T) {
	s := compiled(t, `{"items": {"type": "number"}}`)
	half := json.RawMessage(`[` + many(maxSteps*2/3, func(int) string { return "1" }) + `]`)
	require.NoError(t, s.Check(half))
	require.NoError(t, s.Check(half))
}
