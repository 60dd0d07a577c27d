package capability

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSchema_namesWhatWasExpected(t *testing.T) {
	for _, c := range []struct{ schema, input, want string }{
		{`{"type": "string"}`, `5`, "expected a string, found a number"},
		{`{"type": ["integer", "null"]}`, `1.5`, "expected null or a whole number, found a number"},
		{`{"enum": ["a<b", 1, null]}`, `"c"`, `expected one of "a<b", 1, null, found another string`},
		{`{"enum": ["a"]}`, `[]`, `expected "a", found an array`},
		{`{"const": {"a": 1}}`, `{"a": 2}`, `expected {"a":1}, found another object`},
		{`{"const": true}`, `false`, `expected true, found another boolean`},
		{`{"const": []}`, `null`, `expected [], found null`},
		{`{"required": ["a", "b/c"]}`, `{}`, "/a: is missing; /b~1c: is missing"},
		{`{"additionalProperties": false}`, `{"b": 1, "a": 2}`, "/a: is not known: remove it; /b: is not known: remove it"},
		{`{"dependentRequired": {"a": ["b"]}}`, `{"a": 1}`, `/b: is missing: "a" requires it`},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}}`, `{"a": 1}`, `/b: is missing: "a" requires it`},
		{`{"propertyNames": {"pattern": "^a"}}`, `{"b\n": 1}`, `the name "b\n" is not allowed: change it`},
		{`{"properties": {"a": false}}`, `{"a": 1}`, "/a: is not allowed: remove it"},
		{`false`, `1`, "is not allowed: remove it"},
		{`{"not": {"type": "string"}}`, `""`, `is what "not" rules out`},
		{`{"uniqueItems": true}`, `[1, 2, 1.0]`, "items 0 and 2 are equal: expected all to differ"},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}], "additionalItems": false}`, `[1, 2, 3]`, "expected 2 fewer items"},
		{`{"contains": {"type": "string"}}`, `[1]`, `expected an item as "contains" has it`},
		{`{"contains": {"type": "string"}, "minContains": 2}`, `["a"]`, `expected at least 2 items as "contains" has them`},
		{`{"contains": {"type": "string"}, "maxContains": 1}`, `["a", "b"]`, `expected at most 1 items as "contains" has them`},
		{`{"minLength": 2}`, `"é"`, "expected at least 2 characters"},
		{`{"maxLength": 2}`, `"abc"`, "expected at most 2 characters"},
		{`{"pattern": "^\\d+$"}`, `"abc"`, `expected a string that matches "^\\d+$"`},
		{`{"minItems": 1}`, `[]`, "expected at least 1 items"},
		{`{"maxItems": 0}`, `[1]`, "expected at most 0 items"},
		{`{"minProperties": 1}`, `{}`, "expected at least 1 members"},
		{`{"maxProperties": 0}`, `{"a": 1}`, "expected at most 0 members"},
		{`{"minimum": 9007199254740993}`, `9007199254740992`, "expected at least 9007199254740993"},
		{`{"maximum": 0.1}`, `0.100000000000000000001`, "expected at most 0.1"},
		{`{"exclusiveMinimum": -5}`, `-5`, "expected more than -5"},
		{`{"exclusiveMaximum": 1e3}`, `1000`, "expected less than 1000"},
		{`{"multipleOf": 0.01}`, `0.015`, "expected a multiple of 0.01"},
		{`{"allOf": [{"minimum": 5}, {"multipleOf": 2}]}`, `3`, "expected a multiple of 2; expected at least 5"},
		{`{"items": {"type": "string"}}`, `[1, "a", 2, 3, 4, 5]`, "/0: expected a string, found a number; /2: expected a string, found a number; /3: expected a string, found a number; and 2 more"},
	} {
		wantInput(t, c.schema, c.input, c.want)
	}
}

func TestInputError_repeatsNoValueAndNothingLong(t *testing.T) {
	const secret = "hunter2"
	for _, schema := range []string{
		`{"type": "number"}`, `{"enum": ["a"]}`, `{"const": 5}`, `{"pattern": "^a"}`, `{"minLength": 50}`, `{"maxLength": 2}`,
		`{"not": {}}`, `{"anyOf": [{"const": 1}, {"pattern": "^b"}]}`, `{"format": "email", "maxLength": 1}`,
	} {
		err := compiled(t, `{"properties": {"a": `+schema+`}}`).Check(json.RawMessage(`{"a": "` + secret + `"}`))
		require.Error(t, err)
		require.NotContains(t, err.Error(), secret)
	}
	long := strings.Repeat("é", 300)
	wantInput(t, `{"additionalProperties": false}`, `{"`+long+`": 1}`, "/"+long[:98]+"…: is not known: remove it")
	wantInput(t, `{"enum": ["`+long+`", 1]}`, `2`, `expected one of "`+long[:98]+`…, found another number`)
	wantInput(t, `{"pattern": "^`+long+`"}`, `""`, `expected a string that matches "^`+long[:98]+`"…`)
	wantInput(t, `{"additionalProperties": false}`, `{"a\nb": 1}`, `/a\nb: is not known: remove it`)
}
