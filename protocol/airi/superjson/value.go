package superjson

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Value returns the event as values, as its annotations say. It fails on annotations that
// cannot be followed: of classes and the like, which only the programs know that wrote
// them, of kinds that are unknown, and of what is not of the kind that it should be. An
// annotation of what is not there says nothing.
func (f Frame) Value() (any, error) {
	root, err := parse(f.JSON)
	if err != nil {
		return nil, err
	}
	n, err := f.notes()
	if err != nil {
		return nil, err
	}
	for _, a := range n.values {
		if root, err = set(root, a.path, a.apply); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(a.path, "."), err)
		}
	}
	root = numbers(root)
	for _, s := range n.same {
		object, ok := get(root, s.path)
		if !ok {
			continue
		}
		for _, path := range s.other {
			root, _ = set(root, path, func(any) (any, error) { return object, nil })
		}
	}
	return root, nil
}

// apply makes of a stand-in what it stands for.
func (a note) apply(v any) (any, error) {
	switch a.kind {
	case "undefined":
		return Undefined{}, nil
	case "number":
		return number(v)
	case "map":
		return toMap(v)
	case "set":
		if items, ok := v.(*Array); ok {
			return &Set{Items: items.Items}, nil
		}
		return nil, wrong(a.kind, v)
	case "Error":
		return toError(v)
	case "typed-array":
		return toTyped(a.of, v)
	}
	text, ok := v.(string)
	if !ok {
		return nil, wrong(a.kind, v)
	}
	switch a.kind {
	case "Date":
		at, err := time.Parse(time.RFC3339Nano, text)
		return at, err
	case "bigint":
		return toBig(text)
	case "URL":
		return url.Parse(text)
	case "regexp":
		return toRegExp(text)
	}
	return nil, fmt.Errorf("the kind %q is unknown", a.kind)
}

func wrong(kind string, v any) error {
	switch kind {
	case "set", "Date", "bigint", "URL", "regexp":
		return fmt.Errorf("the value is no stand-in for a %s: %T", kind, v)
	}
	return fmt.Errorf("the kind %q is unknown", kind)
}

func number(v any) (any, error) {
	switch v {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	case "-0":
		return math.Copysign(0, -1), nil
	}
	return nil, fmt.Errorf("the value is no number: %v", v)
}

func toMap(v any) (any, error) {
	pairs, ok := v.(*Array)
	if !ok {
		return nil, fmt.Errorf("the value is no stand-in for a map: %T", v)
	}
	m := &Map{}
	for _, item := range pairs.Items {
		pair, ok := item.(*Array)
		if !ok || len(pair.Items) != 2 {
			return nil, fmt.Errorf("an entry of a map is no pair: %T", item)
		}
		m.Entries = append(m.Entries, [2]any{pair.Items[0], pair.Items[1]})
	}
	return m, nil
}

func toError(v any) (any, error) {
	o, ok := v.(*Object)
	if !ok {
		return nil, fmt.Errorf("the value is no stand-in for an Error: %T", v)
	}
	e := &Error{}
	name, _ := o.Get("name")
	message, _ := o.Get("message")
	e.Name, _ = name.(string)
	e.Message, _ = message.(string)
	e.Cause, e.HasCause = o.Get("cause")
	return e, nil
}

var typed = map[string]bool{
	"Int8Array": true, "Uint8Array": true, "Uint8ClampedArray": true, "Int16Array": true, "Uint16Array": true,
	"Int32Array": true, "Uint32Array": true, "Float32Array": true, "Float64Array": true,
}

func toTyped(kind string, v any) (any, error) {
	items, ok := v.(*Array)
	if !ok || !typed[kind] {
		return nil, fmt.Errorf("the value is no stand-in for a typed array %q: %T", kind, v)
	}
	t := &TypedArray{Kind: kind, Items: make([]float64, len(items.Items))}
	for i, item := range items.Items {
		n, ok := numbers(item).(float64)
		if !ok {
			return nil, fmt.Errorf("an item of a typed array is no number: %T", item)
		}
		t.Items[i] = n
	}
	return t, nil
}

// maxDigits bounds a bigint: to read one takes more than proportionally long.
const maxDigits = 10_000

func toBig(text string) (any, error) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
		return nil, fmt.Errorf("%.60q is no bigint of at most %d digits", text, maxDigits)
	}
	n, _ := new(big.Int).SetString(text, 10)
	return n, nil
}

func toRegExp(text string) (any, error) {
	end := strings.LastIndexByte(text, '/')
	if end < 1 || text[0] != '/' {
		return nil, fmt.Errorf("%.60q is no regular expression", text)
	}
	return &RegExp{Source: text[1:end], Flags: text[end+1:]}, nil
}

// numbers makes numbers of what is written as one, everywhere. JavaScript's are doubles.
func numbers(v any) any {
	switch t := v.(type) {
	case json.Number:
		n, _ := strconv.ParseFloat(string(t), 64) // what is too large is infinite
		return n
	case *Object:
		for i := range t.Members {
			t.Members[i].Value = numbers(t.Members[i].Value)
		}
	case *Array:
		each(t.Items)
	case *Set:
		each(t.Items)
	case *Map:
		for i := range t.Entries {
			each(t.Entries[i][:])
		}
	case *Error:
		t.Cause = numbers(t.Cause)
	}
	return v
}

func each(items []any) {
	for i := range items {
		items[i] = numbers(items[i])
	}
}

// place is where something stands; nil is nowhere.
type place *any

// step goes one segment of a path down, or two in a Map, and returns the rest of it.
func step(v any, path []string) (place, []string) {
	switch t := v.(type) {
	case *Object:
		if at := t.at(path[0]); at >= 0 {
			return &t.Members[at].Value, path[1:]
		}
	case *Array:
		return item(t.Items, path[0]), path[1:]
	case *Set:
		return item(t.Items, path[0]), path[1:]
	case *Error:
		if path[0] == "cause" && t.HasCause {
			return &t.Cause, path[1:]
		}
	case *Map:
		at, err := strconv.Atoi(path[0])
		if err == nil && at >= 0 && at < len(t.Entries) && len(path) > 1 {
			half := 1
			if path[1] == "0" {
				half = 0
			}
			return &t.Entries[at][half], path[2:]
		}
	}
	return nil, nil
}

func item(items []any, index string) place {
	at, err := strconv.Atoi(index)
	if err != nil || at < 0 || at >= len(items) {
		return nil
	}
	return &items[at]
}

// get follows a path.
func get(root any, path []string) (any, bool) {
	at := place(&root)
	for len(path) > 0 {
		if at, path = step(*at, path); at == nil {
			return nil, false
		}
	}
	return *at, true
}

// set changes what is at the end of a path, if that is there, and returns the root.
func set(root any, path []string, change func(any) (any, error)) (any, error) {
	at := place(&root)
	for len(path) > 0 {
		if at, path = step(*at, path); at == nil {
			return root, nil
		}
	}
	changed, err := change(*at)
	if err != nil {
		return root, err
	}
	*at = changed
	return root, nil
}
