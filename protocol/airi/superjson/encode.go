package superjson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// ErrLong tells that what was to be written is longer than the limit.
var ErrLong = errors.New("the value is longer than the limit")

// Encode writes values in an envelope, as superjson does: an object that stands in several
// places is written there in full, and one that is within itself is null there. So that a
// small value with many shared parts does not become a huge text, it fails with ErrLong
// above limit bytes. It takes what [Frame.Value] returns, and int.
func Encode(v any, limit int) ([]byte, error) {
	w := writer{dst: []byte(`{"json":`), limit: limit, spans: map[any]span{}, open: map[any]bool{}, where: map[any]int{}}
	a, err := w.value(v, nil)
	if err != nil {
		return nil, err
	}
	w.meta(a)
	if len(w.dst) >= limit {
		return nil, ErrLong
	}
	return append(w.dst, '}'), nil
}

// annotation is what is said of a value: of itself, of what is in it, or nothing.
type annotation struct {
	kind  string // as JSON, or "" for none
	inner []entry
}

type entry struct {
	path string
	annotation
}

func (a annotation) none() bool { return a.kind == "" && len(a.inner) == 0 }

// span is where a value has been written, with what was said of it.
type span struct {
	from, to int
	said     annotation
}

type writer struct {
	dst   []byte
	limit int
	said  int // bytes of the paths of annotations, which shared values multiply
	spans map[any]span
	open  map[any]bool
	// where has the index in places of what has an identity.
	where  map[any]int
	places [][][]string
}

func (w *writer) value(v any, path []string) (annotation, error) {
	if len(w.dst) > w.limit {
		return annotation{}, ErrLong
	}
	if !hasIdentity(v) {
		return w.scalar(v)
	}
	w.note(v, path)
	if before, ok := w.spans[v]; ok {
		w.dst = append(w.dst, w.dst[before.from:before.to]...)
		return before.said, nil
	}
	if w.open[v] {
		w.dst = append(w.dst, "null"...)
		return annotation{}, nil
	}
	if len(w.open) > maxDepth {
		return annotation{}, ErrDeep
	}
	w.open[v] = true
	from := len(w.dst)
	a, err := w.container(v, path)
	slices.SortStableFunc(a.inner, func(x, y entry) int { return order(x.path, y.path) })
	delete(w.open, v)
	w.spans[v] = span{from, len(w.dst), a}
	return a, err
}

func hasIdentity(v any) bool {
	switch v.(type) {
	case *Object, *Array, *Map, *Set, *Error, *RegExp, *TypedArray, *url.URL:
		return true
	}
	return false
}

// note remembers that v stands at a path.
func (w *writer) note(v any, path []string) {
	at, known := w.where[v]
	if !known {
		at = len(w.places)
		w.where[v] = at
		w.places = append(w.places, nil)
	}
	w.places[at] = append(w.places[at], slices.Clone(path))
}

func (w *writer) text(s string) { w.dst = protocol.AppendText(w.dst, s) }

func (w *writer) scalar(v any) (annotation, error) {
	kind := func(name, standIn string) (annotation, error) {
		w.text(standIn)
		return annotation{kind: name}, nil
	}
	switch t := v.(type) {
	case nil:
		w.dst = append(w.dst, "null"...)
	case bool:
		w.dst = strconv.AppendBool(w.dst, t)
	case string:
		w.text(t)
	case int:
		w.dst = strconv.AppendInt(w.dst, int64(t), 10)
	case float64:
		switch {
		case math.IsNaN(t):
			return kind(`"number"`, "NaN")
		case math.IsInf(t, 1):
			return kind(`"number"`, "Infinity")
		case math.IsInf(t, -1):
			return kind(`"number"`, "-Infinity")
		case t == 0 && math.Signbit(t):
			return kind(`"number"`, "-0")
		}
		number, err := json.Marshal(t)
		w.dst = append(w.dst, number...)
		return annotation{}, err
	case Undefined:
		w.dst = append(w.dst, "null"...)
		return annotation{kind: `"undefined"`}, nil
	case *big.Int:
		return kind(`"bigint"`, t.String())
	case time.Time:
		return kind(`"Date"`, t.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	default:
		return annotation{}, fmt.Errorf("superjson has no way to write a %T", v)
	}
	return annotation{}, nil
}

func (w *writer) container(v any, path []string) (annotation, error) {
	var a annotation
	switch t := v.(type) {
	case *Object:
		return a, w.members(&a, t.Members, path)
	case *Array:
		return a, w.items(&a, t.Items, path)
	case *Set:
		a.kind = `"set"`
		return a, w.items(&a, t.Items, path)
	case *Map:
		a.kind = `"map"`
		pairs := make([]any, len(t.Entries))
		for i, e := range t.Entries {
			pairs[i] = &Array{Items: e[:]}
		}
		return a, w.items(&a, pairs, path)
	case *Error:
		a.kind = `"Error"`
		members := []Member{{"name", t.Name}, {"message", t.Message}}
		if t.HasCause {
			members = append(members, Member{"cause", t.Cause})
		}
		return a, w.members(&a, members, path)
	case *TypedArray:
		a.kind = fmt.Sprintf(`["typed-array",%q]`, t.Kind)
		items := make([]any, len(t.Items))
		for i, n := range t.Items {
			items[i] = n
		}
		var said annotation // what superjson says of NaN in one, it does not read
		return a, w.items(&said, items, path)
	case *RegExp:
		w.text("/" + t.Source + "/" + t.Flags)
		a.kind = `"regexp"`
	case *url.URL:
		w.text(t.String())
		a.kind = `"URL"`
	}
	return a, nil
}

func (w *writer) members(a *annotation, members []Member, path []string) error {
	w.dst = append(w.dst, '{')
	for i, m := range members {
		switch m.Name {
		case "__proto__", "constructor", "prototype":
			return fmt.Errorf("a member has the name %s: %w", m.Name, ErrPollutes)
		}
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.text(m.Name)
		w.dst = append(w.dst, ':')
		if err := w.within(a, m.Name, m.Value, path); err != nil {
			return err
		}
	}
	w.dst = append(w.dst, '}')
	return nil
}

func (w *writer) items(a *annotation, items []any, path []string) error {
	w.dst = append(w.dst, '[')
	for i, v := range items {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		if err := w.within(a, strconv.Itoa(i), v, path); err != nil {
			return err
		}
	}
	w.dst = append(w.dst, ']')
	return nil
}

// within writes what is at a segment, and says of the whole what is said of that.
func (w *writer) within(a *annotation, segment string, v any, path []string) error {
	said, err := w.value(v, append(path[:len(path):len(path)], segment))
	switch at := escape(segment); {
	case err != nil:
		return err
	case said.kind != "":
		a.inner = append(a.inner, entry{at, said})
	default:
		for _, e := range said.inner {
			if w.said += len(at) + len(e.path); w.said > w.limit {
				return ErrLong
			}
			a.inner = append(a.inner, entry{at + "." + e.path, e.annotation})
		}
	}
	return nil
}

// order is that of the keys of an object in JavaScript: those that are indices come first,
// by size; all others stand as they came.
func order(a, b string) int {
	x, isX := index(a)
	y, isY := index(b)
	switch {
	case isX && isY:
		return cmp.Compare(x, y)
	case isX:
		return -1
	case isY:
		return 1
	}
	return 0
}

func index(key string) (uint64, bool) {
	n, err := strconv.ParseUint(key, 10, 32)
	return n, err == nil && n < math.MaxUint32 && strconv.FormatUint(n, 10) == key
}

var escaper = strings.NewReplacer(`\`, `\\`, `.`, `\.`)

func escape(segment string) string { return escaper.Replace(segment) }

// meta writes the annotations, if there are any.
func (w *writer) meta(a annotation) {
	rest := len(w.dst)
	w.dst = append(w.dst, `,"meta":{`...)
	if !a.none() {
		w.dst = append(w.dst, `"values":`...)
		w.annotation(a)
		w.dst = append(w.dst, ',')
	}
	equal := w.equalities()
	switch {
	case a.none() && !equal:
		w.dst = w.dst[:rest]
	default:
		w.dst = append(w.dst, `"v":1}`...)
	}
}

func (w *writer) annotation(a annotation) {
	if a.kind == "" {
		w.entries(a.inner)
		return
	}
	w.dst = append(append(w.dst, '['), a.kind...)
	if len(a.inner) > 0 {
		w.dst = append(w.dst, ',')
		w.entries(a.inner)
	}
	w.dst = append(w.dst, ']')
}

func (w *writer) entries(all []entry) {
	w.dst = append(w.dst, '{')
	for i, e := range all {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.text(e.path)
		w.dst = append(w.dst, ':')
		w.annotation(e.annotation)
	}
	w.dst = append(w.dst, '}')
}

// equalities writes what stands in several places, the shortest path first.
func (w *writer) equalities() bool {
	var root []string
	var others [][]string
	for _, paths := range w.places {
		if len(paths) < 2 {
			continue
		}
		slices.SortStableFunc(paths, func(a, b []string) int { return len(a) - len(b) })
		texts := make([]string, len(paths))
		for i, path := range paths {
			segments := make([]string, len(path))
			for k, segment := range path {
				segments[k] = escape(segment)
			}
			texts[i] = strings.Join(segments, ".")
		}
		if len(paths[0]) == 0 {
			root = texts[1:]
			continue
		}
		others = append(others, texts)
	}
	slices.SortStableFunc(others, func(a, b []string) int { return order(a[0], b[0]) })
	if root == nil && others == nil {
		return false
	}
	w.dst = append(w.dst, `"referentialEqualities":`...)
	switch {
	case root == nil:
		w.others(others)
	case others == nil:
		w.dst = fmt.Appendf(w.dst, "[%s]", list(root))
	default:
		w.dst = fmt.Appendf(w.dst, "[%s,", list(root))
		w.others(others)
		w.dst = append(w.dst, ']')
	}
	w.dst = append(w.dst, ',')
	return true
}

func (w *writer) others(all [][]string) {
	w.dst = append(w.dst, '{')
	for i, texts := range all {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.text(texts[0])
		w.dst = append(append(w.dst, ':'), list(texts[1:])...)
	}
	w.dst = append(w.dst, '}')
}

func list(texts []string) []byte {
	dst := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = protocol.AppendText(dst, text)
	}
	return append(dst, ']')
}
