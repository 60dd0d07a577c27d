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
	r := reader{legacy: true, room: 2 * len(f.meta)}
	if v, _ := meta.Get("v"); v != nil {
		number, _ := v.(json.Number)
		at, err := number.Float64()
		r.legacy = err == nil && at < 1
	}
	values, _ := meta.Get("values")
	if err := r.walk(values, nil); err != nil {
		return n, fmt.Errorf("meta.values: %w", err)
	}
	equal, _ := meta.Get("referentialEqualities")
	if err := r.equalities(equal); err != nil {
		return n, fmt.Errorf("meta.referentialEqualities: %w", err)
	}
	if r.wrong != nil {
		return n, fmt.Errorf("meta: %w", r.wrong)
	}
	return r.notes, nil
}

// reader reads annotations. Its methods fail with ErrPollutes only: behind anything else
// that is wrong there may be that still.
type reader struct {
	notes notes
	// legacy tells of the versions before 1, which had no escape for a backslash.
	legacy bool
	// room is how many segments all paths may still have together. Annotations within
	// annotations share what leads to them, so that there may be more than are written.
	room int
	// wrong is what is wrong first; nothing is kept from then on.
	wrong error
}

// walk reads a tree of annotations: objects lead on, by paths; an array is one annotation,
// with those of what is in it behind it, which come first.
func (r *reader) walk(tree any, origin []string) error {
	switch t := tree.(type) {
	case *Object:
		for _, m := range t.Members {
			path, err := r.path(origin, m.Name)
			if err != nil {
				return err
			}
			if err := r.walk(m.Value, path); err != nil {
				return err
			}
		}
	case *Array:
		if len(t.Items) > 1 {
			if inner, ok := t.Items[1].(*Object); ok {
				if err := r.walk(inner, origin); err != nil {
					return err
				}
			}
		}
		if len(t.Items) > 0 && r.wrong == nil {
			r.notes.values = append(r.notes.values, noteOf(t.Items[0], origin))
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
func (r *reader) equalities(tree any) error {
	if a, ok := tree.(*Array); ok {
		if len(a.Items) > 0 {
			if err := r.equal(nil, a.Items[0]); err != nil {
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
		path, err := r.path(nil, m.Name)
		if err != nil {
			return err
		}
		if err := r.equal(path, m.Value); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) equal(path []string, others any) error {
	a, _ := others.(*Array)
	if a == nil {
		return nil
	}
	s := same{path: path}
	for _, item := range a.Items {
		text, _ := item.(string)
		other, err := r.path(nil, text)
		if err != nil {
			return err
		}
		s.other = append(s.other, other)
	}
	r.notes.same = append(r.notes.same, s)
	return nil
}

// maxPath is how many segments a path may have that is followed.
const maxPath = 64

// path splits a path at its dots, behind that of what it is in.
func (r *reader) path(origin []string, text string) ([]string, error) {
	path := origin[:len(origin):len(origin)]
	r.room -= len(origin)
	var segment strings.Builder
	end := func() error {
		switch s := segment.String(); s {
		case "__proto__", "constructor", "prototype":
			return ErrPollutes
		default:
			path = r.below(path, s)
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
			r.fail("the path %.60q has a backslash that escapes nothing", text)
		case c == '.':
			if err := end(); err != nil {
				return nil, err
			}
		default:
			segment.WriteByte(c)
		}
	}
	err := end()
	return path, err
}

// below adds a segment to a path, within limits.
func (r *reader) below(path []string, segment string) []string {
	switch r.room--; {
	case len(path) >= maxPath:
		r.fail("the path %.60q… has more than %d segments", strings.Join(path, "."), maxPath)
	case r.room < 0:
		r.fail("the paths have together more than two segments a byte")
	}
	if r.wrong != nil {
		return nil
	}
	return append(path, segment)
}

func (r *reader) fail(format string, args ...any) {
	if r.wrong == nil {
		r.wrong = fmt.Errorf(format, args...)
	}
}
