package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxDepth is how deep arrays and objects may lie in each other. A manifest needs
// five levels and the JSON Schema of its configuration some more.
const maxDepth = 64

// kind is what a JSON value is, in the words of a message.
type kind string

const (
	null    kind = "null"
	boolean kind = "a boolean"
	number  kind = "a number"
	text    kind = "a string"
	array   kind = "an array"
	object  kind = "an object"
)

// value is a JSON value with what unmarshaling would lose: the exact names and the
// order of an object's members, and the text as it was written.
type value struct {
	kind kind
	// text is what a string says; for others it is unused.
	text    string
	members []member
	items   []value
	// raw is the value as written, a part of the file's bytes; start is where it
	// begins among them.
	raw   json.RawMessage
	start int
}

// member is one member of an object.
type member struct {
	name  string
	value value
	// start is where the name begins, in bytes of the text.
	start int
}

// found describes the value for a message: `the number 5`, `"v2"`, `an array`.
func (v value) found() string {
	switch v.kind {
	case text:
		return quote(v.text)
	case number, boolean:
		literal := string(v.raw)
		if len(literal) > maxQuoted {
			literal = literal[:maxQuoted] + "…"
		}
		return fmt.Sprintf("%s, %s", v.kind, literal)
	case null, array, object:
	}
	return string(v.kind)
}

// decode reads the one JSON value of a file. encoding/json judges the grammar, but
// takes a member twice or in another case in silence; so the tokens are walked a
// second time. A member that appears twice is reported to twice, with where the second
// one begins, and its first value is kept; what makes the whole text unreadable is the
// error, a *placeError where it has a place.
func decode(data []byte, twice func(at fieldPath, start int)) (value, error) {
	data, err := utf8Text(data)
	if err != nil {
		return value{}, err
	}
	if err := checkGrammar(data); err != nil {
		return value{}, err
	}
	w := &walker{data: data, dec: json.NewDecoder(bytes.NewReader(data)), twice: twice}
	w.dec.UseNumber()
	return w.value("", 1)
}

// byteOrderMark is what some editors put before a text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// utf8Text returns the file's text without a byte order mark, or says what other
// encoding it has.
func utf8Text(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if name := utf16Name(data); name != "" {
		return nil, fmt.Errorf("expected UTF-8, found %s: save the file as UTF-8", name)
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return nil, atPlace(data, i, "expected UTF-8, found the byte 0x%02x: save the file as UTF-8", data[i])
		}
		i += size
	}
	return data, nil
}

// utf16Name names the text's encoding when it is UTF-16, else returns "". JSON
// starts with an ASCII character, so without a byte order mark one of the first
// two bytes is zero.
func utf16Name(data []byte) string {
	switch {
	case len(data) < 2:
	case data[0] == 0xfe && data[1] == 0xff, data[0] == 0 && data[1] != 0:
		return "UTF-16 (big endian)"
	case data[0] == 0xff && data[1] == 0xfe, data[0] != 0 && data[1] == 0:
		return "UTF-16 (little endian)"
	}
	return ""
}

// checkGrammar tells whether data is one JSON value and nothing else, and where not.
func checkGrammar(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	err := dec.Decode(&raw)
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("expected a JSON object, found an empty file")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return atPlace(data, len(data), "the JSON ends in the middle: a closing bracket or quote is missing")
	case isSyntax:
		return atPlace(data, int(syntax.Offset)-1, "not valid JSON: %w", syntax)
	case err != nil:
		return fmt.Errorf("not valid JSON: %w", err)
	}
	end := int(dec.InputOffset())
	end += len(data[end:]) - len(bytes.TrimLeft(data[end:], " \t\r\n"))
	if end < len(data) {
		return atPlace(data, end, "expected the file to end behind its JSON object, found more: remove it")
	}
	return nil
}

// walker turns the tokens of a text that is known to be valid JSON into values.
type walker struct {
	data  []byte
	dec   *json.Decoder
	twice func(at fieldPath, start int)
}

// value reads the next value, which is the depth-th of those that enclose it.
func (w *walker) value(at fieldPath, depth int) (value, error) {
	start := w.next()
	token, err := w.dec.Token()
	if err != nil {
		return value{}, err
	}
	if depth > maxDepth {
		return value{}, atPlace(w.data, start, "nested deeper than %d levels: flatten it", maxDepth)
	}
	v, err := w.of(token, at, depth)
	v.raw, v.start = w.data[start:w.dec.InputOffset()], start
	return v, err
}

// next returns where the next token starts.
func (w *walker) next() int {
	from := w.dec.InputOffset()
	rest := w.data[from:]
	return int(from) + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

// of makes a value of its first token, and reads the rest of it.
func (w *walker) of(token json.Token, at fieldPath, depth int) (value, error) {
	switch token := token.(type) {
	case string:
		return value{kind: text, text: token}, nil
	case json.Number:
		return value{kind: number}, nil
	case bool:
		return value{kind: boolean}, nil
	case json.Delim:
		if token == '{' {
			return w.object(at, depth)
		}
		return w.array(at, depth)
	}
	return value{kind: null}, nil
}

// object reads the members and the closing bracket.
func (w *walker) object(at fieldPath, depth int) (value, error) {
	v := value{kind: object}
	names := map[string]bool{}
	for w.dec.More() {
		start := w.next()
		token, err := w.dec.Token()
		if err != nil {
			return v, err
		}
		name := token.(string) // a name is all that can stand here
		place := at.member(name)
		one, err := w.value(place, depth+1)
		if err != nil {
			return v, err
		}
		if names[name] {
			w.twice(place, start)
			continue
		}
		names[name] = true
		v.members = append(v.members, member{name, one, start})
	}
	_, err := w.dec.Token()
	return v, err
}

// array reads the items and the closing bracket.
func (w *walker) array(at fieldPath, depth int) (value, error) {
	v := value{kind: array}
	for w.dec.More() {
		one, err := w.value(at.item(len(v.items)), depth+1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, one)
	}
	_, err := w.dec.Token()
	return v, err
}
