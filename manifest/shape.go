package manifest

import "strings"

// shape says which members an object may have and how each is read into a T. The
// published schema has the same names (a test holds the two together).
type shape[T any] struct {
	fields []field[T]
	// open: unknown members are ignored, as the reference host does, unless they
	// look like a known one that is absent. Otherwise each is a problem.
	open bool
	// also notes what is wrong between members; nil when nothing can be.
	also func(r *reader, at fieldPath, v value)
}

// field is one member that an object may have.
type field[T any] struct {
	name string
	// required is what the member must be, for the problem that it is missing;
	// "" when it may be absent.
	required string
	read     func(r *reader, at fieldPath, v value, into *T)
}

// read reads the object v into a T, and every problem with it into r.
func (s shape[T]) read(r *reader, at fieldPath, v value, into *T) {
	if v.kind != object {
		r.add(at, "expected an object, found %s", v.found())
		return
	}
	for _, m := range v.members {
		if f := s.field(m.name); f != nil {
			f.read(r, at.member(m.name), m.value, into)
			continue
		}
		s.unknown(r, at, v, m.name)
	}
	for _, f := range s.fields {
		if f.required != "" && !v.has(f.name) && !v.hasAlike(f.name) {
			r.add(at.member(f.name), "is missing: expected %s", f.required)
		}
	}
	if s.also != nil {
		s.also(r, at, v)
	}
}

// field returns the field of exactly that name, or nil.
func (s shape[T]) field(name string) *field[T] {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

// unknown reports a member that no field has the name of, if it matters.
func (s shape[T]) unknown(r *reader, at fieldPath, v value, name string) {
	for _, f := range s.fields {
		if alike(name, f.name) && (!s.open || !v.has(f.name)) {
			r.add(at.member(name), "unknown field: names are exact, write %q", f.name)
			return
		}
	}
	if s.open {
		return
	}
	if near := Nearest(name, s.names()); near != "" {
		r.add(at.member(name), "unknown field: did you mean %q?", near)
		return
	}
	r.add(at.member(name), "unknown field: remove it (known are %s)", strings.Join(s.names(), ", "))
}

// Nearest returns the known name that is a slip away from name, or "".
func Nearest(name string, known []string) string {
	best, least := "", 3
	for _, one := range known {
		if d := distance(name, one); d < least && d*2 < len(one) {
			best, least = one, d
		}
	}
	return best
}

// names returns the names of all fields, in their order.
func (s shape[T]) names() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

// get returns the member of exactly that name.
func (v value) get(name string) (value, bool) {
	for _, m := range v.members {
		if m.name == name {
			return m.value, true
		}
	}
	return value{}, false
}

// has tells whether the object has a member of exactly that name.
func (v value) has(name string) bool {
	_, ok := v.get(name)
	return ok
}

// hasAlike tells whether a member of v seems to be meant for name.
func (v value) hasAlike(name string) bool {
	for _, m := range v.members {
		if alike(m.name, name) {
			return true
		}
	}
	return false
}

// withoutHyphens takes the "-" and "_" out of a name.
var withoutHyphens = strings.NewReplacer("-", "", "_", "")

// alike tells whether two names differ in case, "-" and "_" alone.
func alike(a, b string) bool {
	return len(a) <= maxQuoted && strings.EqualFold(withoutHyphens.Replace(a), withoutHyphens.Replace(b))
}

// distance counts the letters to insert, drop or change between a and b
// (Levenshtein's), or is far off when a is too long to be a slip.
func distance(a, b string) int {
	if len(a) > maxQuoted {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
