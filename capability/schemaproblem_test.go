package capability

import (
	"strings"
	"testing"
)

func TestCompileSchema_namesWhatIsWrong(t *testing.T) {
	const aType = `expected one of "array", "boolean", "integer", "null", "number", "object", "string", found "strin"`
	wantRefused(t, `{`, "it is not valid JSON: unexpected EOF")
	wantRefused(t, `[]`, "expected a boolean or an object, found an array")
	wantRefused(t, `5`, "expected a boolean or an object, found a number")
	wantRefused(t, `{"type": "strin"}`, "/type: "+aType)
	wantRefused(t, `{"properties": {"a/b": {"type": "strin"}}}`, "/properties/a~1b/type: "+aType)
	wantRefused(t, `{"$schema": "http://json-schema.org/draft-07/schema#", "items": {"required": true}}`, "/items/required: expected an array, found a boolean")
	wantRefused(t, `{"$defs": {"a": {"minLength": -1, "enum": {}, "multipleOf": 0, "pattern": 5}}}`,
		"/$defs/a/enum: expected an array, found an object; /$defs/a/minLength: expected at least 0; /$defs/a/multipleOf: expected more than 0")
	wantRefused(t, `{"$ref": "#/elsewhere", "elsewhere": {"not": {"type": 5}}}`, "/elsewhere/not/type: "+strings.Replace(aType, `"strin"`, "a number", 1))
	wantRefused(t, `{"$ref": "#/$defs/x"}`, `"$ref": there is nothing at "#/$defs/x"`)
	wantRefused(t, `{"$ref": "#x"}`, `"$ref": there is nothing at "#x"`)
	wantRefused(t, `{"$schema": "http://json-schema.org/draft-03/schema#"}`,
		`/$schema: expected a draft from draft-04 to 2020-12, found "http://json-schema.org/draft-03/schema#": name one, or leave it out for 2020-12`)
}

func TestSchema_tellsWhichAlternativeWasMeant(t *testing.T) {
	const aText, aNumber = `{"type": "object", "properties": {"kind": {"const": "text"}, "value": {"type": "string"}}, "required": ["value"]}`,
		`{"type": "object", "properties": {"kind": {"const": "number"}, "value": {"type": "number"}}, "required": ["value"]}`
	for _, word := range []string{"anyOf", "oneOf"} {
		schema := `{"properties": {"a": {"` + word + `": [{"type": "null"}, ` + aText + `, ` + aNumber + `]}}}`
		for input, want := range map[string]string{
			`5`:                                  "/a: expected null or an object, found a number",
			`{"kind": "number", "value": "x"}`:   "/a/value: expected a number, found a string",
			`{"kind": "text"}`:                   "/a/value: is missing",
			`{"kind": "another", "value": true}`: "/a: fits none of the 3 alternatives",
		} {
			wantInput(t, schema, `{"a": `+input+`}`, want)
		}
	}
	wantInput(t, `{"oneOf": [{"minimum": 1}, {"maximum": 5}]}`, `3`, "fits two of the alternatives: expected exactly one")
}
