package capability

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// greeting is what most schemas of tools look like.
const greeting = `{
	"type": "object",
	"properties": {
		"name": {"type": "string", "minLength": 1, "description": "Whom to greet"},
		"times": {"type": "integer", "minimum": 1, "maximum": 10},
		"tone": {"enum": ["warm", "cold"]},
		"tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}}
	},
	"required": ["name"],
	"additionalProperties": false
}`

// compiled compiles a schema that is right.
func compiled(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := CompileSchema(json.RawMessage(schema))
	require.NoError(t, err)
	return s
}

// wantRefused checks what is said of a schema that is wrong.
func wantRefused(t *testing.T, schema, want string) {
	t.Helper()
	_, err := CompileSchema(json.RawMessage(schema))
	require.EqualError(t, err, "schema: "+want)
}

// wantInput checks what is said of an input; "" is nothing.
func wantInput(t *testing.T, schema, input, want string) {
	t.Helper()
	err := compiled(t, schema).Check(json.RawMessage(input))
	if want == "" {
		require.NoError(t, err)
		return
	}
	require.EqualError(t, err, want)
	wrong := &InputError{}
	require.ErrorAs(t, err, &wrong)
	require.NotEmpty(t, wrong.Problems)
	require.LessOrEqual(t, len(wrong.Problems), maxProblems)
}

func TestCompileSchema_acceptsAnythingWhereNothingIsAsked(t *testing.T) {
	var none *Schema
	require.NoError(t, none.Check(json.RawMessage(`{"a":`)))
	require.Empty(t, none.Unchecked())
	for _, schema := range []string{"", " \n", "null", "true", "{}", " { } "} {
		s, input := compiled(t, schema), json.RawMessage(`what is not even looked at`)
		require.Zero(t, testing.AllocsPerRun(10, func() {
			if s.Check(input) != nil {
				t.Error("refused")
			}
		}))
	}
}

func TestCompileSchema_takesEveryDraft(t *testing.T) {
	for draft, rest := range map[string]string{
		"http://json-schema.org/draft-04/schema#":       `"minimum": 5, "exclusiveMinimum": true`,
		"http://json-schema.org/draft-06/schema#":       `"exclusiveMinimum": 5`,
		"http://json-schema.org/draft-07/schema#":       `"if": true, "then": {"exclusiveMinimum": 5}`,
		"https://json-schema.org/draft/2019-09/schema":  `"$defs": {"a": {"exclusiveMinimum": 5}}, "$ref": "#/$defs/a", "type": "number"`,
		"https://json-schema.org/draft/2020-12/schema":  `"exclusiveMinimum": 5`,
		"https://json-schema.org/draft/2020-12/schema#": `"exclusiveMinimum": 5`,
	} {
		schema := `{"$schema": "` + draft + `", ` + rest + `}`
		wantInput(t, schema, `5.0000000000000000000001`, "")
		wantInput(t, schema, `5`, "expected more than 5")
	}
}

func TestCompileSchema_takes2020WhereNoDraftIsNamed(t *testing.T) {
	wantInput(t, `{"prefixItems": [{"type": "string"}]}`, `[1]`, "/0: expected a string, found a number")
	wantInput(t, `{"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [{"type": "string"}]}`, `[1]`, "")
}

func TestCompileSchema_readsNothingButTheSchema(t *testing.T) {
	const outside = `: nothing outside of the schema is read: put it into "$defs"`
	wantRefused(t, `{"$ref": "https://example.com/a.json#/x"}`, `"$ref" to "https://example.com/a.json"`+outside)
	wantRefused(t, `{"items": {"$ref": "file:///etc/passwd"}}`, `"$ref" to "file:///etc/passwd"`+outside)
	wantRefused(t, `{"$ref": "other.json"}`, `"$ref" to "other.json"`+outside)
	wantRefused(t, `{"$ref": "../other.json"}`, `"$ref" to "other.json"`+outside)
	wantRefused(t, `{"$id": "https://example.com/a.json", "$ref": "b.json"}`, `"$ref" to "https://example.com/b.json"`+outside)
}

func TestCompileSchema_followsWhatIsInside(t *testing.T) {
	for _, schema := range []string{
		`{"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}`,
		`{"$ref": "#/definitions/a%20b", "definitions": {"a b": {"type": "string"}}}`,
		`{"$ref": "#here", "$defs": {"a": {"$anchor": "here", "type": "string"}}}`,
		`{"$ref": "A", "$defs": {"a": {"$id": "A", "type": "string"}}}`,
		`{"$id": "https://example.com/a.json", "$ref": "a.json#/$defs/a", "$defs": {"a": {"type": "string"}}}`,
		`{"$ref": "#/elsewhere", "elsewhere": {"type": "string"}}`,
		`{"$dynamicRef": "#here", "$defs": {"a": {"$dynamicAnchor": "here", "type": "string"}}}`,
		`{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"$id": "#here", "type": "string"}}, "$ref": "#/definitions/a"}`,
	} {
		wantInput(t, schema, `"x"`, "")
		wantInput(t, schema, `5`, "expected a string, found a number")
	}
	meta := `{"$ref": "http://json-schema.org/draft-07/schema#"}`
	wantInput(t, meta, `{"type": "string"}`, "")
	wantInput(t, meta, `{"properties": 5}`, "/properties: expected an object, found a number")
}

func TestSchema_recursionEndsWithTheInput(t *testing.T) {
	const tree = `{"$id": "T0", "type": "object", "properties": {"left": {"$ref": "T0"}, "right": {"$ref": "T0"}}}`
	wantInput(t, tree, `{"left": {"right": {"left": {}}}}`, "")
	wantInput(t, tree, `{"left": {"right": {"left": null}}}`, "/left/right/left: expected an object, found null")
}

func TestSchema_formatsAreRemarks(t *testing.T) {
	for _, draft := range []string{"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"} {
		wantInput(t, `{"$schema": "`+draft+`", "format": "email", "contentEncoding": "base64"}`, `"?"`, "")
	}
}

func TestSchema_checksWhatWasDecodedAlone(t *testing.T) {
	for _, input := range []string{`{"name":"\ud800"}`, `{"name":"a","name":"b"}`, `{"name":"a","times":1.0}`} {
		raw := json.RawMessage(input)
		require.NoError(t, compiled(t, greeting).Check(raw))
		require.Equal(t, input, string(raw))
	}
	wantInput(t, `{"const": 9007199254740993}`, `9007199254740993`, "")
	wantInput(t, `{"const": 9007199254740993}`, `9007199254740992`, "expected 9007199254740993, found another number")
}

func TestSchema_anAbsentInputIsNull(t *testing.T) {
	wantInput(t, `{"type": ["object", "null"]}`, ``, "")
	wantInput(t, greeting, ``, "expected an object, found null")
}

func TestSchema_anInputThatIsNoJSON(t *testing.T) {
	wantInput(t, greeting, `{"name"`, "it is not valid JSON: unexpected EOF")
	wantInput(t, greeting, `{"name": "a"} {}`, "it is not valid JSON: there is more behind its end")
}

func TestSchema_manyCheckAtOnce(t *testing.T) {
	s := compiled(t, greeting)
	var group sync.WaitGroup
	for range 3 * maxIdle {
		group.Go(func() {
			for range 50 {
				if s.Check(json.RawMessage(`{"name":"a","tags":["b"]}`)) != nil || s.Check(json.RawMessage(`{"tags":["B"]}`)) == nil {
					t.Error("another answer than alone")
				}
			}
		})
	}
	group.Wait()
	require.LessOrEqual(t, len(s.idle), maxIdle)
}

func FuzzSchema(f *testing.F) {
	for schema, input := range map[string]string{
		greeting: `{"name": "a"}`,
		`{"$id":"x","$defs":{"a":{"$anchor":"q","$id":"y"}},"$ref":"#/$defs/a"}`:                                                               `1e5`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","$id":"#a","items":[{"$ref":"#b"}],"dependencies":{"a":["b"],"c":{}}}`:           `[{"a":1}]`,
		`{"$dynamicRef":"#n","$defs":{"n":{"$dynamicAnchor":"n","pattern":"(?!a)","patternProperties":{"(?=b)":{}}}}}`:                         `{}`,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":{"$recursiveRef":"#"}}`:                                             `[[null]]`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","id":"a","exclusiveMinimum":true,"minimum":5}`:                                   `5`,
		`{"anyOf":[{"const":1},{"enum":["a"]}],"not":{},"if":true,"then":false,"unevaluatedProperties":false,"propertyNames":{"maxLength":1}}`: `{"ab":1}`,
		`{"contains":{},"minContains":2,"uniqueItems":true,"multipleOf":0.1}`:                                                                  `[1,1.0]`,
		`{"$schema":"schema:///"}`: `0`,
	} {
		f.Add([]byte(schema), []byte(input))
	}
	f.Fuzz(func(t *testing.T, schema, input []byte) {
		s, err := CompileSchema(schema)
		if err != nil {
			require.Nil(t, s)
			require.True(t, strings.HasPrefix(err.Error(), "schema: "), err)
			require.LessOrEqual(t, len(err.Error()), 1000)
			return
		}
		first, second := s.Check(input), s.Check(input)
		require.Equal(t, first, second, "the same input, another answer")
		if first != nil {
			require.LessOrEqual(t, len(first.Error()), 1000)
			require.NotContains(t, first.Error(), "\n")
		}
	})
}

func BenchmarkSchema_Check(b *testing.B) {
	s := compiled(b, greeting)
	for name, input := range map[string]string{
		"right": `{"name": "Ada", "times": 3, "tone": "warm", "tags": ["a", "b"]}`,
		"wrong": `{"times": 30, "tone": "warm", "tags": ["a", "B"]}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Check(json.RawMessage(input)); (err == nil) != (name == "right") {
					b.Fatal(err)
				}
			}
		})
	}
}
