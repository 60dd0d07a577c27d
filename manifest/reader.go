package manifest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxProblems bounds the problems that are reported of one file.
const maxProblems = 1000

// reader reads one file and collects its problems.
type reader struct {
	file     string
	opts     Options
	problems Problems
	// dropped counts the problems beyond maxProblems.
	dropped int
	notes   []Note
	// name is where the plugin's name stands: a file and a field.
	name Problem
}

// add notes a problem with the member at a path, or with the whole file at "".
func (r *reader) add(at fieldPath, format string, args ...any) {
	if len(r.problems) == maxProblems {
		r.dropped++
		return
	}
	r.problems = append(r.problems, Problem{File: r.file, Field: string(at), Message: fmt.Sprintf(format, args...)})
}

// locateLast gives the problem that was noted last its place.
func (r *reader) locateLast(at place) {
	if last := len(r.problems) - 1; r.dropped == 0 {
		r.problems[last].Line, r.problems[last].Column = at.line, at.column
	}
}

// take takes over what was found in another file of the same plugin.
func (r *reader) take(other *reader) {
	r.problems = append(r.problems, other.all()...)
}

// all returns the problems, and how many were dropped.
func (r *reader) all() Problems {
	if r.dropped == 0 {
		return r.problems
	}
	rest := Problem{File: r.file, Message: fmt.Sprintf("%d more problems: correct these first", r.dropped)}
	return append(r.problems, rest)
}

// blames tells whether a problem was found with the member at a path or below it.
func (r *reader) blames(at fieldPath) bool {
	for _, p := range r.problems {
		if fieldPath(p.Field).within(at) {
			return true
		}
	}
	return false
}

// expect tells whether v is of the kind wanted, and notes when it is not. what
// says in a message what should be there.
func (r *reader) expect(at fieldPath, v value, want kind, what string) bool {
	if v.kind != want {
		r.add(at, "expected %s, found %s", what, v.found())
		return false
	}
	return true
}

// literal reads a string that can say one thing only.
func literal[T any](to func(*T) *string, want string) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		if v.kind != text || v.text != want {
			r.add(at, "expected %q, found %s", want, v.found())
			return
		}
		*to(into) = want
	}
}

// integer reads a whole number between low and high.
func integer[T any](to func(*T) *int, low, high int) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		n, ok := whole(v)
		if !ok || n < int64(low) || n > int64(high) {
			r.add(at, "expected a whole number from %d to %d, found %s", low, high, v.found())
			return
		}
		*to(into) = int(n)
	}
}

// whole returns the number that v is, when it is a whole one. JSON has one type of
// numbers: 5, 5.0 and 5e0 are the same.
func whole(v value) (int64, bool) {
	if v.kind != number {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v.raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v.raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// timeout reads a duration: text as Go writes it ("1m30s"), or milliseconds.
func timeout[T any](to func(*T) *time.Duration) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		d, ok := duration(v)
		if !ok || d <= 0 || d > MaxTimeout {
			r.add(at, `expected a time above 0 and up to 1h, as text ("5s") or in whole milliseconds (5000), found %s`, v.found())
			return
		}
		*to(into) = d
	}
}

// duration returns the time that v is, when it is one. Milliseconds beyond every
// limit stay beyond it, whatever the multiplication would make of them.
func duration(v value) (time.Duration, bool) {
	if v.kind == text {
		d, err := time.ParseDuration(v.text)
		return d, err == nil
	}
	ms, ok := whole(v)
	ms = min(ms, 2*MaxTimeout.Milliseconds())
	return time.Duration(max(ms, 0)) * time.Millisecond, ok
}

// truth reads true or false.
func truth[T any](to func(*T) *bool) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		if r.expect(at, v, boolean, "true or false") {
			*to(into) = string(v.raw) == "true"
		}
	}
}

// rawObject reads an object that is passed on as it is.
func rawObject[T any](to func(*T) *json.RawMessage, what string) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		if r.expect(at, v, object, what) {
			*to(into) = v.raw
		}
	}
}

// list reads an array whose items are read by one.
func list[T, E any](to func(*T) *[]E, what string, one func(*reader, fieldPath, value) (E, bool)) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		if !r.expect(at, v, array, what) {
			return
		}
		for i, item := range v.items {
			if e, ok := one(r, at.item(i), item); ok {
				*to(into) = append(*to(into), e)
			}
		}
	}
}

// nonBlank reads a string that says something.
func nonBlank(what string) func(*reader, fieldPath, value) (string, bool) {
	return func(r *reader, at fieldPath, v value) (string, bool) {
		if v.kind != text || strings.TrimFunc(v.text, isBlank) == "" || strings.ContainsFunc(v.text, unicode.IsControl) {
			r.add(at, "expected %s, found %s", what, v.found())
			return "", false
		}
		return v.text, true
	}
}
