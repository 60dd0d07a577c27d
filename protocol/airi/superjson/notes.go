package superjson

import (
	"encoding/json"
	"fmt"
	"strings"
)

// note is one annotation: what the value at a path is.
type note struct {
	path []string
	kind string // "" for one that is unreadable
	of   string // the second part of a kind that has two, such as typed-array
}

// same tells that what is at one path is at others, too.
type same struct {
	path  []string
	other [][]string
}

// notes are the annotations of a frame, in the order in which they are applied.
type notes struct {
	values []note
	same   []same
}

// notes reads the annotations. Of what is no annotation at all there is none, as for superjson.
func (f Frame) notes() (notes, error) {
	var n notes
	if len(f.meta) == 0 {
		return n, nil
	}
	tree, err := parse(f.meta)
	if err != nil {
		return n, fmt.Errorf("meta: %w", err)
	}
	meta, ok := tree.(*Object)
	if !ok {
		return n, nil
	}
	r := reader{legacy: true}
	if v, _ := meta.Get("v"); v != nil {
		number, _ := v.(json.Number)
		at, err := number.Float64()
		r.legacy = err == nil && at < 1
	}
	values, _ := meta.Get("values")
	if err := r.walk(values, nil, &n); err != nil {
		return n, fmt.Errorf("meta.values: %w", err)
	}
	equal, _ := meta.Get("referentialEqualities")
	if err := r.equalities(equal, &n); err != nil {
		return n, fmt.Errorf("meta.referentialEqualities: %w", err)
	}
	return n, nil
}

// reader reads annotations. The versions before 1 had no escape for a backslash.
type reader struct{ legacy bool }

// walk reads a tree of annotations: objects lead on, by paths; an array is one annotation,
// with those of what is in it behind it, which come first.
func (r reader) walk(tree any, origin []string, n *notes) error {
	switch t := tree.(type) {
	case *Object:
		for _, m := range t.Members {
			path, err := r.path(m.Name)
			if err != nil {
				return err
			}
			if err := r.walk(m.Value, append(origin[:len(origin):len(origin)], path...), n); err != nil {
				return err
			}
		}
	case *Array:
		if len(t.Items) > 1 {
			if inner, ok := t.Items[1].(*Object); ok {
				if err := r.walk(inner, origin, n); err != nil {
					return err
				}
			}
		}
		if len(t.Items) > 0 {
			n.values = append(n.values, noteOf(t.Items[0], origin))
		}
	}
	return nil
}

func noteOf(kind any, path []string) note {
	switch k := kind.(type) {
	case string:
		return note{path: path, kind: k}
	case *Array:
		if len(k.Items) == 2 {
			first, _ := k.Items[0].(string)
			second, _ := k.Items[1].(string)
			return note{path: path, kind: first, of: second}
		}
	}
	return note{path: path}
}

// equalities reads {PATH: [PATHS]}, or [[PATHS]] and [[PATHS], {…}] where the value as a
// whole is in itself.
func (r reader) equalities(tree any, n *notes) error {
	if a, ok := tree.(*Array); ok {
		if len(a.Items) > 0 {
			if err := r.equal(nil, a.Items[0], n); err != nil {
				return err
			}
		}
		tree = nil
		if len(a.Items) > 1 {
			tree = a.Items[1]
		}
	}
	o, _ := tree.(*Object)
	if o == nil {
		return nil
	}
	for _, m := range o.Members {
		path, err := r.path(m.Name)
		if err != nil {
			return err
		}
		if err := r.equal(path, m.Value, n); err != nil {
			return err
		}
	}
	return nil
}

func (r reader) equal(path []string, others any, n *notes) error {
	a, _ := others.(*Array)
	if a == nil {
		return nil
	}
	s := same{path: path}
	for _, item := range a.Items {
		text, _ := item.(string)
		other, err := r.path(text)
		if err != nil {
			return err
		}
		s.other = append(s.other, other)
	}
	n.same = append(n.same, s)
	return nil
}

// maxPath is how many segments a path may have that is followed.
const maxPath = 64

// path splits a path at its dots.
func (r reader) path(text string) ([]string, error) {
	var path []string
	var segment strings.Builder
	add := func() error {
		switch s := segment.String(); s {
		case "__proto__", "constructor", "prototype":
			return ErrPollutes
		default:
			path = append(path, s)
		}
		segment.Reset()
		return nil
	}
	for i := 0; i < len(text); i++ {
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch c := text[i]; {
		case c == '\\' && (next == '.' || next == '\\' && !r.legacy):
			segment.WriteByte(next)
			i++
		case c == '\\' && !r.legacy:
			return nil, fmt.Errorf("the path %q has a backslash that escapes nothing", text)
		case c == '.':
			if err := add(); err != nil {
				return nil, err
			}
		default:
			segment.WriteByte(c)
		}
	}
	err := add()
	if err == nil && len(path) > maxPath {
		err = fmt.Errorf("the path %.60q… has more than %d segments", text, maxPath)
	}
	return path, err
}
