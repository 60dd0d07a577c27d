package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
)

// Problem is one thing that is wrong with one manifest.
type Problem struct {
	// File is the path as it was given to Read or found by Discover.
	File string
	// Field is the path of the member inside the file, e.g. "entrypoints.node" or
	// "airi-host.requires[1]"; "" when it is about the whole file.
	Field string
	// Message says what was expected, what was found and what to do.
	Message string
	// Line and Column are where it stands in a file of settings, both counted from 1,
	// columns in characters. They are 0 for a manifest, which may be code, and where
	// there is no such place.
	Line, Column int
}

// String returns one line, "FILE: FIELD: what is wrong", without the parts that
// are empty. Where the place is known the file has it, as editors take it:
// "FILE:LINE:COLUMN".
func (p Problem) String() string {
	var parts []string
	for _, part := range []string{p.where(), p.Field, p.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// where is the file, with the place in it.
func (p Problem) where() string {
	file := printable(p.File)
	if file == "" || p.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
}

// Error returns the same line: one problem can be the error of a function.
func (p Problem) Error() string { return p.String() }

// Problems is everything that is wrong, in the order in which it was found.
type Problems []Problem

// Err returns all problems as one error, a line each, or nil when there are none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// printable returns a path as it is, or quoted when it would break a line.
func printable(path string) string {
	if strings.ContainsFunc(path, unicode.IsControl) {
		return strconv.Quote(path)
	}
	return path
}

// maxQuoted bounds, in bytes, what a message repeats of a file's text.
const maxQuoted = 60

// quote returns text for a message: quoted, on one line, cut when it is long.
func quote(text string) string {
	if len(text) <= maxQuoted {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:maxQuoted], "")) + "…"
}

// cause returns an operation's error without the path, which the problem names.
func cause(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "does not exist"
	}
	return fmt.Sprintf("cannot be read (%v)", err)
}

// fieldPath is a member's place in a file, as Problem.Field has it.
type fieldPath string

// member returns the path of a member of the object at p.
func (p fieldPath) member(name string) fieldPath {
	switch {
	case !isPlain(name):
		return p + fieldPath("["+quote(name)+"]")
	case p == "":
		return fieldPath(name)
	}
	return p + fieldPath("."+name)
}

// item returns the path of the i-th item of the array at p.
func (p fieldPath) item(i int) fieldPath {
	return p + fieldPath("["+strconv.Itoa(i)+"]")
}

// within tells whether p is the member named, or lies below it.
func (p fieldPath) within(name fieldPath) bool {
	rest, ok := strings.CutPrefix(string(p), string(name))
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// isPlain tells whether a name reads well behind a dot.
func isPlain(name string) bool {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_$", r)
	}
	return name != "" && len(name) <= maxQuoted && !strings.ContainsFunc(name, odd)
}
