package capability

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSchema_patternsThatGoCannotReadAreNotChecked(t *testing.T) {
	s := compiled(t, `{
		"properties": {"a/b": {"pattern": "^(?!x)"}, "c": {"pattern": "^y"}, "d": {"pattern": "^.{1,5000}$"}},
		"patternProperties": {"^(?=z)": {"type": "string"}}
	}`)
	require.Equal(t, []string{
		"/patternProperties/^(?=z)", "/properties/a~1b/pattern", "/properties/d/pattern",
	}, s.Unchecked())
	require.NoError(t, s.Check(json.RawMessage(`{"a/b": "x", "d": "", "zz": 5}`)))
	require.EqualError(t, s.Check(json.RawMessage(`{"c": "x"}`)), `/c: expected a string that matches "^y"`)
	require.Empty(t, compiled(t, greeting).Unchecked())
}

func TestSchema_anUnreadNameRefusesNoOther(t *testing.T) {
	for _, rest := range []string{`"additionalProperties": false`, `"unevaluatedProperties": false`} {
		wantInput(t, `{"patternProperties": {"^(?!x)": {"type": "string"}}, `+rest+`}`, `{"a": "b"}`, "")
	}
}

func TestCompileSchema_boundsPatterns(t *testing.T) {
	const large = "its regular expressions are too large: shorten them, and count to less in their braces"
	pattern := func(text string) string { return `{"pattern": "` + text + `"}` }
	compiled(t, pattern(strings.Repeat("x", maxPattern)))
	wantRefused(t, pattern(strings.Repeat("x", maxPattern+1)), large)
	wantRefused(t, pattern(strings.Repeat(".{1000}", 100)), large)
	all := func(n int) string {
		return `{"allOf": [` + many(n, func(i int) string { return pattern(fmt.Sprintf("%d.{1000}", i)) }) + `]}`
	}
	compiled(t, all(40))
	wantRefused(t, all(60), large)
	wantRefused(t, `{"$schema": "http://json-schema.org/draft-07/schema#", "items": `+all(60)+`}`, large)
}
