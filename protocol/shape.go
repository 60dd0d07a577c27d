package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// shape is what a JSON value has to be. It is written as a JSON Schema by schema, and
// held to a value by check; the two agree on every value but null as a whole, which
// check takes for none.
type shape struct {
	// about says what the value is.
	about string
	// types are the names of JSON types, as schemas have them, any of which it may
	// be; none admits all.
	types []string
	// members of an object, in the order of the table; each may be absent or null.
	members []namedShape
	// each is the shape of the items of an array, and of all members of an object.
	each *shape
	// words are the strings that are allowed; none allows all.
	words []string
	// least and most bound an integer.
	least, most int
}

type namedShape struct {
	name string
	shape
}

const (
	isObject  = "object"
	isArray   = "array"
	isText    = "string"
	isInteger = "integer"
	isNull    = "null"
)

// typeWords are the types for people.
var typeWords = map[string]string{
	isObject: "an object", isArray: "an array", isText: "a string", isInteger: "a whole number",
	"number": "a number", "boolean": "a boolean", isNull: "null",
}

// misfit is what is wrong with a value.
type misfit struct {
	// at is the way from the whole to it, e.g. ".query.q[1]".
	at, text string
}

// within adds a step at the beginning of the way; of none it makes none.
func (m *misfit) within(step func() string) *misfit {
	if m != nil {
		m.at = step() + m.at
	}
	return m
}

// check says what is wrong with a value, nil for nothing. Of what is nested in members that
// the shape does not name nothing is looked at, and nothing is decoded: the value is
// JSON already.
func (s *shape) check(value []byte) *misfit {
	value = bytes.TrimSpace(value)
	found := typeOf(value)
	if found == isNull || len(s.types) == 0 {
		return nil
	}
	if found == "number" && slices.Contains(s.types, isInteger) {
		return s.checkInteger(value)
	}
	if !slices.Contains(s.types, found) {
		return &misfit{text: fmt.Sprintf("expected %s, got %s", s.wanted(), typeWords[found])}
	}
	switch found {
	case isText:
		return s.checkWord(value)
	case isObject:
		return s.checkMembers(value)
	case isArray:
		return s.checkItems(value)
	}
	return nil
}

func (s *shape) wanted() string {
	names := make([]string, len(s.types))
	for i, name := range s.types {
		names[i] = typeWords[name]
		if name == isArray && s.each != nil && len(s.each.types) == 1 && s.each.types[0] == isText {
			names[i] += " of strings"
		}
	}
	return strings.Join(names, " or ")
}

func (s *shape) checkInteger(value []byte) *misfit {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n != math.Trunc(n) || n < float64(s.least) || n > float64(s.most) {
		return &misfit{text: fmt.Sprintf("expected a whole number from %d to %d, got another number", s.least, s.most)}
	}
	return nil
}

func (s *shape) checkWord(value []byte) *misfit {
	if len(s.words) == 0 || slices.Contains(s.words, string(TextOf(value))) {
		return nil
	}
	return &misfit{text: "expected one of " + quoted(s.words) + ", got another string"}
}

func quoted(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = strconv.Quote(w)
	}
	return strings.Join(list, ", ")
}

// checkMembers looks at the members that the shape names, or at all if they have one
// shape. Of two with one name each is looked at, since readers differ in which counts.
func (s *shape) checkMembers(value []byte) (wrong *misfit) {
	if s.each == nil && len(s.members) == 0 {
		return nil
	}
	EachMember(value, func(key, v []byte) {
		step := func() string { return "." + clipName(string(key)) }
		for i := range s.members {
			if m := &s.members[i]; wrong == nil && m.name == string(key) {
				wrong = m.check(v).within(step)
			}
		}
		if s.each != nil && wrong == nil {
			wrong = s.each.check(v).within(step)
		}
	})
	return wrong
}

func (s *shape) checkItems(value []byte) (wrong *misfit) {
	if s.each == nil {
		return nil
	}
	i := 0
	EachItem(value, func(v []byte) {
		if wrong == nil {
			wrong = s.each.check(v).within(func() string { return "[" + strconv.Itoa(i) + "]" })
		}
		i++
	})
	return wrong
}

// clipName keeps the name of a member short in an error.
func clipName(name string) string {
	const most = 64
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

// typeOf is the type of a JSON value by its first byte.
func typeOf(value []byte) string {
	if len(value) == 0 {
		return isNull
	}
	switch value[0] {
	case '{':
		return isObject
	case '[':
		return isArray
	case '"':
		return isText
	case 't', 'f':
		return "boolean"
	case 'n':
		return isNull
	default:
		return "number"
	}
}

// jsonSchema is a shape as a JSON Schema; the order of its fields is that of the page.
type jsonSchema struct {
	Description string                 `json:"description,omitempty"`
	Type        any                    `json:"type,omitempty"`
	Enum        []any                  `json:"enum,omitempty"`
	Minimum     int                    `json:"minimum,omitempty"`
	Maximum     int                    `json:"maximum,omitempty"`
	Properties  map[string]*jsonSchema `json:"properties,omitempty"`
	Additional  *jsonSchema            `json:"additionalProperties,omitempty"`
	Items       *jsonSchema            `json:"items,omitempty"`
}

// schema writes the shape; inner values may be null.
func (s *shape) schema(inner bool) *jsonSchema {
	out := &jsonSchema{Description: s.about, Minimum: s.least, Maximum: s.most}
	types := slices.Clone(s.types)
	if inner && len(types) > 0 {
		types = append(types, isNull)
	}
	switch len(types) {
	case 0:
	case 1:
		out.Type = types[0]
	default:
		out.Type = types
	}
	for _, w := range s.words {
		out.Enum = append(out.Enum, w)
	}
	if len(s.words) > 0 && inner {
		out.Enum = append(out.Enum, nil)
	}
	for i := range s.members {
		if out.Properties == nil {
			out.Properties = map[string]*jsonSchema{}
		}
		out.Properties[s.members[i].name] = s.members[i].schema(true)
	}
	if s.each != nil {
		each := s.each.schema(true)
		if slices.Contains(s.types, isObject) {
			out.Additional = each
		}
		if slices.Contains(s.types, isArray) {
			out.Items = each
		}
	}
	return out
}

// encode writes a schema.
func (s *jsonSchema) encode() json.RawMessage {
	raw, _ := json.Marshal(s) // strings and numbers only
	return raw
}
