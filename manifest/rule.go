package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// rule says what a value must be, in the words that a table of members is written in.
type rule struct {
	// what stands behind "expected" in a message.
	what  string
	check func(r *reader, at fieldPath, v value)
}

// is makes a rule of a question.
func is(what string, holds func(value) bool) rule {
	return rule{what, func(r *reader, at fieldPath, v value) {
		if !holds(v) {
			r.add(at, "expected %s, found %s", what, v.found())
		}
	}}
}

var (
	anyBoolean = is("true or false", func(v value) bool { return v.kind == boolean })
	anyObject  = is("an object", func(v value) bool { return v.kind == object })
)

// chars is a string of least to most characters; most is 0 when there is no limit.
// Characters are code points, as in the ecosystem's newer releases; the older ones
// count UTF-16 units and so take less.
func chars(least, most int) rule {
	what := "a string"
	switch {
	case least > 0 && most > 0:
		what = fmt.Sprintf("a string of %d to %d characters", least, most)
	case least > 0:
		what = "a string that is not empty"
	case most > 0:
		what = fmt.Sprintf("a string of at most %d characters", most)
	}
	return rule{what, func(r *reader, at fieldPath, v value) {
		n := utf8.RuneCountInString(v.text)
		switch {
		case v.kind != text, n < least:
			r.add(at, "expected %s, found %s", what, v.found())
		case most > 0 && n > most:
			r.add(at, "expected at most %d characters, found %d: shorten it", most, n)
		}
	}}
}

// like is a string of a form, of at most so many characters; 0 is no limit.
func like(what, expression string, most int) rule {
	form, length := regexp.MustCompile(expression), chars(0, most)
	return rule{what, func(r *reader, at fieldPath, v value) {
		if v.kind != text || !form.MatchString(v.text) {
			r.add(at, "expected %s, found %s", what, v.found())
			return
		}
		length.check(r, at, v)
	}}
}

// but is the rule, and more that is asked of a string which satisfies it.
func (x rule) but(what string, holds func(s string) bool) rule {
	return rule{x.what, func(r *reader, at fieldPath, v value) {
		before := len(r.problems)
		x.check(r, at, v)
		if len(r.problems) == before && !holds(v.text) {
			r.add(at, "expected %s, found %s", what, v.found())
		}
	}}
}

// trimmed is the rule for a string without the blanks around it.
func (x rule) trimmed() rule {
	return rule{x.what, func(r *reader, at fieldPath, v value) {
		v.text = strings.TrimFunc(v.text, isBlank)
		x.check(r, at, v)
	}}
}

// orNull is the rule for a value that may be null as well.
func (x rule) orNull() rule {
	return rule{x.what, func(r *reader, at fieldPath, v value) {
		if v.kind != null {
			x.check(r, at, v)
		}
	}}
}

// oneOf is one of a few words.
func oneOf(words ...string) rule {
	what := fmt.Sprintf("%q", words[0])
	if len(words) > 1 {
		what = "one of " + quoted(words)
	}
	return is(what, func(v value) bool { return v.kind == text && slices.Contains(words, v.text) })
}

// oneOfMany is one of more words than a message should repeat.
func oneOfMany(what string, words []string) rule {
	return rule{what, func(r *reader, at fieldPath, v value) {
		if v.kind == text && slices.Contains(words, v.text) {
			return
		}
		if near := Nearest(v.text, words); near != "" {
			r.add(at, "expected %s, found %s: did you mean %q?", what, v.found(), near)
			return
		}
		r.add(at, "expected %s, found %s: remove it", what, v.found())
	}}
}

// wholeNumber is a number of JavaScript's without a fraction.
func wholeNumber(low, high int64) rule {
	what := fmt.Sprintf("a whole number from %d to %d", low, high)
	return is(what, func(v value) bool {
		n, ok := whole(v)
		return ok && n >= low && n <= high
	})
}

// maxSafe is the largest whole number that JavaScript has exactly.
const maxSafe = 1<<53 - 1

// each is an array of least to most items; most is 0 when there is no limit.
func each(item rule, least, most int) rule {
	return rule{"an array", func(r *reader, at fieldPath, v value) {
		switch {
		case !r.expect(at, v, array, "an array"):
			return
		case len(v.items) < least:
			r.add(at, "expected at least %d item, each %s, found none", least, item.what)
		case most > 0 && len(v.items) > most:
			r.add(at, "expected at most %d items, found %d: remove some", most, len(v.items))
		}
		for i, one := range v.items {
			item.check(r, at.item(i), one)
		}
	}}
}

// eachMember is an object with any members, all of one kind.
func eachMember(one rule) rule {
	return rule{"an object", func(r *reader, at fieldPath, v value) {
		if r.expect(at, v, object, "an object") {
			for _, m := range v.members {
				one.check(r, at.member(m.name), m.value)
			}
		}
	}}
}

// checked is the T of a shape that keeps nothing.
type checked = struct{}

// members is an object of a shape that keeps nothing.
func members(s shape[checked]) rule {
	return rule{"an object", func(r *reader, at fieldPath, v value) { s.read(r, at, v, &checked{}) }}
}

// must is a member that has to be there.
func must[T any](name string, x rule) field[T] {
	f := may[T](name, x)
	f.required = x.what
	return f
}

// may is a member that can be there.
func may[T any](name string, x rule) field[T] {
	return field[T]{name: name, read: func(r *reader, at fieldPath, v value, _ *T) { x.check(r, at, v) }}
}

// keep is the field, whose text is kept, right or wrong.
func (f field[T]) keep(to func(*T) *string) field[T] {
	check := f.read
	f.read = func(r *reader, at fieldPath, v value, into *T) {
		check(r, at, v, into)
		*to(into) = v.text
	}
	return f
}

// keepRaw is the field, whose value is kept as it was written.
func (f field[T]) keepRaw(to func(*T) *json.RawMessage) field[T] {
	check := f.read
	f.read = func(r *reader, at fieldPath, v value, into *T) {
		check(r, at, v, into)
		*to(into) = v.raw
	}
	return f
}

// mayHave is a member that can be there, an array of objects of a shape.
func mayHave[T, E any](name string, s shape[E], to func(*T) *[]E) field[T] {
	return field[T]{name: name, read: list(to, "an array", func(r *reader, at fieldPath, v value) (E, bool) {
		var one E
		s.read(r, at, v, &one)
		return one, v.kind == object
	})}
}

// unique notes a problem with every item of the list at a path whose member, or
// whose whole text for "", was there before.
func (r *reader) unique(at fieldPath, list value, member string) {
	r.uniqueBy(at, list, map[string]fieldPath{}, func(item value) string {
		if member == "" {
			return item.text
		}
		return item.word(member)
	})
}

// uniqueBy is unique for what a function makes of an item, "" being nothing. taken
// has what is taken, and where.
func (r *reader) uniqueBy(at fieldPath, list value, taken map[string]fieldPath, key func(value) string) {
	for i, item := range list.items {
		word := key(item)
		first, is := taken[word]
		switch {
		case word == "":
		case is:
			r.add(at.item(i), "%s is taken by %s: change one of them", quote(word), first)
		default:
			taken[word] = at.item(i)
		}
	}
}

// word returns a member's text, or "" when there is none.
func (v value) word(name string) string {
	m, _ := v.get(name)
	return m.text
}

// at returns a member's value, or a value of no kind.
func (v value) at(name string) value {
	m, _ := v.get(name)
	return m
}

// holds tells whether an array has a string in it.
func (v value) holds(word string) bool {
	return slices.ContainsFunc(v.items, func(item value) bool { return item.kind == text && item.text == word })
}

// quoted lists words for a message.
func quoted(words []string) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprintf("%q", words), `" "`, `", "`), "[]")
}
