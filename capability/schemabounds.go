package capability

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// What a [Schema] may hold.
const (
	// MaxSchema is how long one may be, in bytes.
	MaxSchema = 1 << 20
	// MaxSubschemas is how many schemas there may be in one, itself included. Every
	// object and boolean counts, as any can be a schema that is referred to.
	MaxSubschemas = 3000
)

const (
	// maxPointers bounds all subschemas' places, written as JSON pointers: long
	// names of what is deeply nested cost more than their bytes.
	maxPointers    = 2 << 20
	maxSchemaDepth = 128
	maxInputDepth  = 1000
	// maxDigits bounds a number's text and its exponent: work with all digits of
	// 1e999999 takes milliseconds.
	maxDigits = 1000
)

// decodeJSON decodes one JSON value, numbers as json.Number.
func decodeJSON(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is not valid JSON: there is more behind its end")
	}
	return v, nil
}

// boundInput refuses what would be expensive to check.
func boundInput(v any) error {
	w := walk{depth: maxInputDepth}
	return w.value(v)
}

// boundSchema refuses what would be expensive to compile. It returns the places of
// all that a "$dynamicRef" can lead to.
func boundSchema(doc any) (anchored []string, err error) {
	w := walk{depth: maxSchemaDepth, schema: true}
	err = w.value(doc)
	return w.anchored, err
}

// walk visits all values of a document.
type walk struct {
	// depth is how deep values may lie in each other.
	depth  int
	schema bool
	// path is the way to the value that is visited, length that of its pointer.
	path     []token
	length   int
	anchored []string
	// found counts what may be a schema, pointers the bytes of their places.
	found, pointers int
}

// token is one step on the way to a value: a member's name, or an item's number.
type token struct {
	name  string
	index int
}

func (t token) String() string {
	if t.index < 0 {
		return escapeToken(t.name)
	}
	return strconv.Itoa(t.index)
}

// at returns the JSON pointer to the value that is visited.
func (w *walk) at() string {
	var b strings.Builder
	for _, t := range w.path {
		b.WriteString("/" + t.String())
	}
	return b.String()
}

func (w *walk) value(v any) error {
	if len(w.path) >= w.depth {
		return fmt.Errorf("%sit is nested deeper than %d levels: flatten it", place(w.at()), w.depth)
	}
	if w.schema {
		if err := w.count(v); err != nil {
			return err
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			if err := w.below(token{name, -1}, one); err != nil {
				return err
			}
		}
	case []any:
		for i, one := range v {
			if err := w.below(token{"", i}, one); err != nil {
				return err
			}
		}
	case json.Number:
		if !isModest(v) {
			return fmt.Errorf("%sexpected a number of at most %d digits, and an exponent of at most %d", place(w.at()), maxDigits, maxDigits)
		}
	}
	return nil
}

// below visits a member or an item.
func (w *walk) below(t token, v any) error {
	w.path = append(w.path, t)
	w.length += 1 + len(t.name)
	err := w.value(v)
	w.length -= 1 + len(t.name)
	w.path = w.path[:len(w.path)-1]
	return err
}

// count notes one value of a schema.
func (w *walk) count(v any) error {
	switch v := v.(type) {
	case bool:
	case map[string]any:
		if name, ok := unfitCount(v); ok {
			return fmt.Errorf("%sexpected a number below %d: leave it out", place(w.at()+"/"+name), int64(1)<<31)
		}
		if _, ok := v["$dynamicAnchor"].(string); ok {
			w.anchored = append(w.anchored, w.at())
		}
	default:
		return nil
	}
	w.found++
	w.pointers += w.length
	switch {
	case w.found > MaxSubschemas:
		return fmt.Errorf("it holds more than %d schemas: simplify it", MaxSubschemas)
	case w.pointers > maxPointers:
		return errors.New("its names are too long for how deep it is: shorten them, or flatten it")
	}
	return nil
}

// counts are the keywords whose value the library keeps as an int, cut silently.
var counts = []string{
	"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
}

// unfitCount returns the keyword of a schema whose value is no int everywhere.
func unfitCount(schema map[string]any) (string, bool) {
	for _, name := range counts {
		if n, ok := schema[name].(json.Number); ok {
			if f, err := n.Float64(); err != nil || f >= 1<<31 {
				return name, true
			}
		}
	}
	return "", false
}

// isModest tells whether a number is cheap to compare with all its digits.
func isModest(n json.Number) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	if exponent == "" {
		return len(n) <= maxDigits
	}
	e, err := strconv.Atoi(exponent)
	return err == nil && len(n) <= maxDigits && -maxDigits <= e && e <= maxDigits
}

var tokenEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// escapeToken returns a name as a JSON pointer has it.
func escapeToken(name string) string { return tokenEscapes.Replace(name) }
