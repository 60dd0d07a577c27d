package airihost_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// side is what goes in or comes out of a kind, in all the forms that it has.
type side struct {
	kind, name string
	// typ is the Go type, nil where that is any JSON; example is on the page.
	typ     any
	example string
}

func (s side) schema() json.RawMessage {
	if s.name == "input" {
		return protocol.InputSchema(s.kind)
	}
	return protocol.ResultSchema(s.kind)
}

// check holds a value to the shape; the null of a whole is none.
func (s side) check(value json.RawMessage) error {
	var err error
	if s.name == "input" {
		_, err = protocol.InputOf(s.kind, s.kind+":x", value)
	} else {
		_, err = protocol.ResultOf(s.kind, s.kind+":x", "p", value)
	}
	return err
}

var sides = []side{
	{"tool", "input", protocol.Params{}, `{"name":"Ada"}`},
	{"tool", "result", protocol.ToolResult{}, `{"content":"Hello, Ada","data":{"length":10},"error":""}`},
	{"model", "input", nil, `{"prompt":"Hello"}`},
	{"model", "result", nil, `"Hello yourself"`},
	{"service", "input", protocol.Arguments{}, `["Europe/Paris"]`},
	{"service", "result", nil, `"12:00"`},
	{"action", "input", protocol.ActionInput[protocol.Params]{}, `{"params":{"name":"Ada"},"message":{"content":{"text":"hi"}},"state":{},"options":{},"responses":[]}`},
	{"action", "result", nil, `{"success":true}`},
	{"provider", "input", protocol.ProviderInput{}, `{"message":{"content":{"text":"hi"}},"state":{}}`},
	{"provider", "result", protocol.ProviderResult{}, `{"text":"It is noon.","values":{"time":"12:00"},"data":{"hour":12}}`},
	{"evaluator", "input", protocol.EvaluatorInput{}, `{"message":{},"state":{}}`},
	{"evaluator", "result", nil, `{"facts":[]}`},
	{"data", "input", protocol.Params{}, `{"since":"2026-01-01"}`},
	{"data", "result", nil, `[1,2,3]`},
	{"job", "input", protocol.JobInput{}, `{"trigger":"schedule"}`},
	{"job", "result", nil, `null`},
	{"webhook", "input", protocol.WebhookInput{}, `{"headers":{"x-event":["push"]},"rawBody":"{}","parsedBody":{},"requestId":"r-1"}`},
	{"webhook", "result", nil, `null`},
	{"http", "input", protocol.HTTPInput{}, `{"params":{"id":"7"},"query":{"q":["a","b"]},"headers":{"accept":["text/plain"]},"body":null}`},
	{"http", "result", protocol.HTTPResult{}, `{"status":200,"headers":{"content-type":"text/plain"},"body":"hello"}`},
	{"event", "input", nil, `{"n":1}`},
	{"event", "result", nil, `null`},
	{"environment", "input", protocol.Params{}, `{"config":{}}`},
	{"environment", "result", nil, `{"ok":true}`},
}

func (s side) String() string { return s.kind + " " + s.name }

// compiled is the side's schema, to be held to values.
func (s side) compiled(t *testing.T) *capability.Schema {
	t.Helper()
	schema, err := capability.CompileSchema(s.schema())
	require.NoError(t, err)
	return schema
}

// fields are the members of a Go type as JSON has them, "" for one without.
func fields(v any) []string {
	var names []string
	if typ := reflect.TypeOf(v); typ != nil && typ.Kind() == reflect.Struct {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestKinds_typesHaveTheFieldsOfTheirSchemas(t *testing.T) {
	for _, s := range sides {
		t.Run(s.String(), func(t *testing.T) {
			var schema struct{ Properties map[string]json.RawMessage }
			require.NoError(t, json.Unmarshal(s.schema(), &schema))
			var names []string
			for name := range schema.Properties {
				names = append(names, name)
			}
			slices.Sort(names)
			require.Equal(t, names, fields(s.typ))
		})
	}
}

func TestKinds_examplesPassThroughTheirTypes(t *testing.T) {
	for _, s := range sides {
		t.Run(s.String(), func(t *testing.T) {
			schema := s.compiled(t)
			require.NoError(t, schema.Check(json.RawMessage(s.example)))
			require.NoError(t, s.check(json.RawMessage(s.example)))
			if s.typ == nil {
				return
			}
			value := reflect.New(reflect.TypeOf(s.typ))
			decode := json.NewDecoder(bytes.NewReader([]byte(s.example)))
			decode.DisallowUnknownFields()
			require.NoError(t, decode.Decode(value.Interface()))
			again, err := json.Marshal(value.Elem().Interface())
			require.NoError(t, err)
			require.NoError(t, schema.Check(again))
			require.NoError(t, s.check(again))
			if !strings.Contains(s.example, `"error":""`) {
				require.JSONEq(t, s.example, string(again))
			}
			zero, err := json.Marshal(s.typ)
			require.NoError(t, err)
			require.NoError(t, s.check(zero), "the zero value: %s", zero)
			require.NoError(t, schema.Check(zero), "the zero value: %s", zero)
		})
	}
}

// What is checked by hand is what the schema says, for values made at random out of
// the names that the shapes know.
func TestKinds_checksAgreeWithTheSchemas(t *testing.T) {
	for _, s := range sides {
		t.Run(s.String(), func(t *testing.T) {
			schema := s.compiled(t)
			if s.kind == "service" && s.name == "input" || s.name == "result" && (s.kind == "job" || s.kind == "webhook") {
				return // what is not of the shape is made so
			}
			r := rand.New(rand.NewPCG(1, uint64(len(s.kind)*10+len(s.name))))
			refused := 0
			for range 3000 {
				value := anyValue(r, 3)
				if string(value) == "null" {
					continue
				}
				want, have := schema.Check(value), s.check(value)
				require.Equal(t, want == nil, have == nil, "%s: by the schema %v, by hand %v", value, want, have)
				if want != nil {
					refused++
				}
			}
			if s.typ != nil {
				require.Greater(t, refused, 100, "of 3000")
			}
		})
	}
}

func anyValue(r *rand.Rand, depth int) json.RawMessage {
	names := []string{
		"params", "query", "headers", "body", "status", "message", "state", "options", "responses", "trigger", "rawBody",
		"requestId", "text", "values", "data", "content", "error", "other",
	}
	scalars := []string{`null`, `true`, `7`, `200`, `99`, `599`, `600`, `2e2`, `200.5`, `-1`, `"x"`, `"manual"`, `"ret\u0072y"`, `""`}
	kind := r.IntN(4)
	if depth == 3 && r.IntN(8) > 0 {
		kind = 0
	}
	switch {
	case kind == 0 && depth > 0:
		var parts []string
		for i := range r.IntN(4) {
			parts = append(parts, fmt.Sprintf(" %q :%s", names[(r.IntN(len(names))+i)%len(names)], anyValue(r, depth-1)))
		}
		slices.Sort(parts)
		parts = slices.CompactFunc(parts, func(a, b string) bool { return strings.Split(a, ":")[0] == strings.Split(b, ":")[0] })
		return json.RawMessage("{" + strings.Join(parts, ",") + "}")
	case kind == 1 && depth > 0:
		var parts []string
		for range r.IntN(3) {
			parts = append(parts, " "+string(anyValue(r, depth-1)))
		}
		return json.RawMessage("[" + strings.Join(parts, ",") + " ]")
	default:
		return json.RawMessage(scalars[r.IntN(len(scalars))])
	}
}

// `go test . -run TestDocs -update` writes the schemas anew.
func TestDocs_kindsAreThoseOfTheCode(t *testing.T) {
	wantDocument(t, "docs/kinds.schema.json", func(string) string { return string(protocol.KindsSchema()) })
	wantDocument(t, "docs/kinds.md", func(page string) string {
		const begin, end = "<!-- examples -->\n", "<!-- end -->\n"
		before, rest, found := strings.Cut(page, begin)
		require.True(t, found, "docs/kinds.md has lost its mark %s", begin)
		_, after, found := strings.Cut(rest, end)
		require.True(t, found, "docs/kinds.md has lost its mark %s", end)
		text := "| kind | input | result |\n| --- | --- | --- |\n"
		for i := 0; i < len(sides); i += 2 {
			text += fmt.Sprintf("| %s | `%s` | `%s` |\n", sides[i].kind, sides[i].example, strings.Replace(sides[i+1].example, `,"error":""`, "", 1))
		}
		return before + begin + "\n" + text + "\n" + end + after
	})
}

func TestDocs_kindsNameEveryKindAndField(t *testing.T) {
	text, err := os.ReadFile("docs/kinds.md")
	require.NoError(t, err)
	var rows []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, line)
		}
	}
	require.Len(t, rows, 2*(len(protocol.Kinds())+1), "a row for each kind and for all other keys, in both tables")
	for i, kind := range protocol.Kinds() {
		require.True(t, strings.HasPrefix(rows[i], "| `"+kind+":"), "row %d of the table is that of %s: %s", i+1, kind, rows[i])
		require.Equal(t, capability.Kind(kind), capability.Key(kind+":x").Kind(), "the registry does not know %s", kind)
		for _, s := range sides[2*i : 2*i+2] {
			require.Equal(t, kind, s.kind)
			for _, name := range fields(s.typ) {
				require.Contains(t, rows[i], name, "the row of %s", kind)
			}
		}
	}
	for _, link := range []string{"(kinds.schema.json)", "(rules.md)"} {
		require.Contains(t, string(text), link)
	}
}
