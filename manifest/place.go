package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// place is where something stands in a text, as editors count: from 1, columns in
// characters. The zero value is nowhere.
type place struct{ line, column int }

// placeOf returns the place of a byte.
func placeOf(data []byte, offset int) place {
	before := data[:min(max(offset, 0), len(data))]
	return place{
		line:   1 + bytes.Count(before, []byte("\n")),
		column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]),
	}
}

// placeError is what is wrong at a place of a text.
type placeError struct {
	place
	err error
}

// atPlace makes the error of a place.
func atPlace(data []byte, offset int, format string, args ...any) error {
	return &placeError{placeOf(data, offset), fmt.Errorf(format, args...)}
}

// Error names the place in words.
func (e *placeError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.line, e.column, e.err)
}

// Unwrap returns what is wrong there.
func (e *placeError) Unwrap() error { return e.err }

// placed makes an error of decode a problem that has its place, if there is one.
func placed(file string, err error) Problem {
	if at, ok := errors.AsType[*placeError](err); ok {
		return Problem{File: file, Message: at.err.Error(), Line: at.line, Column: at.column}
	}
	return Problem{File: file, Message: err.Error()}
}

// locate gives problems that have no place the one of their members, or of what should
// have them. data is the text that root was read from.
func locate(problems Problems, data []byte, root value) {
	for i, p := range problems {
		if p.Line == 0 && p.Field != "" {
			at := placeOf(data, root.startOf("", fieldPath(p.Field)))
			problems[i].Line, problems[i].Column = at.line, at.column
		}
	}
}

// startOf returns where the member named begins, or what is nearest above it; v is the
// value of the member at.
func (v value) startOf(at, named fieldPath) int {
	for _, m := range v.members {
		if one := at.member(m.name); named.within(one) {
			return m.value.below(one, named, m.start)
		}
	}
	for i, item := range v.items {
		if one := at.item(i); named.within(one) {
			return item.below(one, named, item.start)
		}
	}
	return v.start
}

// below is start for the member at itself, and for what it has not got.
func (v value) below(at, named fieldPath, start int) int {
	if inside := v.startOf(at, named); inside != v.start {
		return inside
	}
	return start
}
