package eliza

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// maxDepth is how deep arguments may nest that are signed. The reference's worker ends
// at 5,000 levels under Node and at 20,000 under Bun.
const maxDepth = 1000

var (
	errInfinite = errors.New("RPC MAC args must contain only finite numbers")
	errDeep     = fmt.Errorf("RPC MAC args must nest at most %d levels", maxDepth)
	errNoJSON   = errors.New("RPC MAC args must be JSON")
)

// Canonical appends the text of a call that its MAC is made of, byte for byte as the
// reference makes it in ECMAScript:
//
//	requestId LF surface LF target LF args
//
// The args are JSON with the members of objects in the order of their UTF-16 units, of
// two of one name the last, numbers as a double prints, and strings as JSON.stringify
// writes them. Absent args are null. It fails, and never worse than that, on numbers
// beyond a double, on what nests deeper than 1000 levels, and on what is no JSON; dst
// comes back as it was then.
func Canonical(dst []byte, r RPC) ([]byte, error) {
	c := canon{dst: dst}
	if err := c.call(r); err != nil {
		return dst, err
	}
	return c.dst, nil
}

// call writes the text of a call.
func (c *canon) call(r RPC) error {
	for _, part := range [...]json.RawMessage{r.RequestID, r.Surface, r.Target} {
		if err := c.word(part); err != nil {
			return err
		}
		c.dst = append(c.dst, '\n')
	}
	c.Scanner = protocol.Scanner{Data: r.Args}
	if r.Args == nil {
		c.Data = isNull
	}
	if err := c.value(0); err != nil {
		return err
	}
	if c.Space(); c.Pos < len(c.Data) {
		return errNoJSON
	}
	return nil
}

// word writes what String makes of a value. Nearly always that is what it says.
func (c *canon) word(value json.RawMessage) error {
	if isWholeDouble(value) {
		c.dst = append(c.dst, value...)
		return nil
	}
	if inner, ok := simpleText(value); ok {
		c.dst = append(c.dst, inner...)
		return nil
	}
	if s := (protocol.Scanner{Data: value}); value != nil && !s.Whole() {
		return errNoJSON
	}
	c.Scanner = protocol.Scanner{Data: value}
	return c.asText(0)
}

// simpleText is what a string says that is ASCII without escapes.
func simpleText(value []byte) (inner []byte, ok bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil, false
	}
	inner = value[1 : len(value)-1]
	for _, b := range inner {
		if b < ' ' || b >= utf8.RuneSelf || b == '"' || b == '\\' {
			return nil, false
		}
	}
	return inner, true
}

// canon reads a value once, finds out whether it is JSON, and writes it: the time that it
// takes must not depend on how the value nests.
type canon struct {
	protocol.Scanner
	dst, scratch []byte
}

// value writes the value at hand.
func (c *canon) value(depth int) error {
	c.Space()
	from := c.Pos
	switch c.Peek() {
	case '{', '[':
		if depth == maxDepth {
			return errDeep
		}
		if c.Peek() == '{' {
			return c.object(depth)
		}
		return c.array(depth)
	case '"':
		_, err := c.text()
		return err
	case 't', 'f', 'n':
		if !c.Value() {
			return errNoJSON
		}
		c.dst = append(c.dst, c.Data[from:c.Pos]...)
		return nil
	default:
		if !c.Number() {
			return errNoJSON
		}
		var err error
		c.dst, err = appendNumber(c.dst, c.Data[from:c.Pos])
		return err
	}
}

// name is a string literal; of one that is plain, ASCII without escapes, the bytes are in
// the order of its UTF-16 units.
type name struct {
	literal []byte
	plain   bool
}

// text writes the string literal at hand, and returns it as it came. Most are written as
// they came: without an escape there is nothing in one that JSON.stringify would escape.
func (c *canon) text() (n name, err error) {
	from := c.Pos
	c.High = false
	if c.Peek() != '"' || !c.Text() {
		return n, errNoJSON
	}
	n.literal = c.Data[from:c.Pos]
	escapes := bytes.IndexByte(n.literal, '\\') >= 0
	n.plain = !escapes && !c.High
	if n.plain || !escapes && utf8.Valid(n.literal) {
		c.dst = append(c.dst, n.literal...)
	} else {
		c.dst = appendUnits(c.dst, n.literal)
	}
	return n, nil
}

func (c *canon) array(depth int) error {
	c.Pos++
	c.dst = append(c.dst, '[')
	c.Space()
	more := !c.Skip(']')
	for more {
		err := c.value(depth + 1)
		if err == nil {
			more, err = c.more(']')
		}
		if err != nil {
			return err
		}
	}
	c.dst = append(c.dst, ']')
	return nil
}

// more tells whether another item follows in a container, and writes the comma; the byte
// that ends the container is only read.
func (c *canon) more(end byte) (more bool, err error) {
	c.Space()
	if c.Skip(',') {
		c.dst = append(c.dst, ',')
		return true, nil
	}
	if !c.Skip(end) {
		return false, errNoJSON
	}
	return false, nil
}

// written is a member that was written: its name, and where in dst it is.
type written struct {
	name
	from, to int
}

func (c *canon) object(depth int) error {
	var usual [12]written
	members := usual[:0]
	c.Pos++
	c.dst = append(c.dst, '{')
	begin, inOrder := len(c.dst), true
	c.Space()
	more := !c.Skip('}')
	for more {
		m, err := c.member(depth)
		if err == nil {
			more, err = c.more('}')
		}
		if err != nil {
			return err
		}
		if n := len(members); n > 0 && members[n-1].compare(m) >= 0 {
			inOrder = false
		}
		members = append(members, m)
	}
	if !inOrder {
		c.sort(begin, members)
	}
	c.dst = append(c.dst, '}')
	return nil
}

// member writes a name, a colon and a value.
func (c *canon) member(depth int) (m written, err error) {
	c.Space()
	m.from = len(c.dst)
	if m.name, err = c.text(); err != nil {
		return m, err
	}
	c.dst = append(c.dst, ':')
	if c.Space(); !c.Skip(':') {
		return m, errNoJSON
	}
	err = c.value(depth + 1)
	m.to = len(c.dst)
	return m, err
}

// sort puts members that are written from begin on in order; the last of one name stays.
func (c *canon) sort(begin int, members []written) {
	slices.SortStableFunc(members, written.compare)
	c.scratch = c.scratch[:0]
	for i, m := range members {
		if i+1 < len(members) && m.compare(members[i+1]) == 0 {
			continue
		}
		if len(c.scratch) > 0 {
			c.scratch = append(c.scratch, ',')
		}
		c.scratch = append(c.scratch, c.dst[m.from:m.to]...)
	}
	c.dst = append(c.dst[:begin], c.scratch...)
}

// compare orders members by the UTF-16 units of what their names say.
func (m written) compare(other written) int {
	a, b := m.literal, other.literal
	if m.plain && other.plain {
		return bytes.Compare(a[1:len(a)-1], b[1:len(b)-1])
	}
	return slices.Compare(unitsOf(a), unitsOf(b))
}

// unitsOf are the UTF-16 units of a literal, lone surrogates among them.
func unitsOf(literal []byte) []uint16 {
	inner := literal[1 : len(literal)-1]
	units := make([]uint16, 0, len(inner))
	for i := 0; i < len(inner); {
		if inner[i] != '\\' {
			r, size := utf8.DecodeRune(inner[i:])
			units = utf16.AppendRune(units, r)
			i += size
			continue
		}
		if inner[i+1] == 'u' {
			n, _ := strconv.ParseUint(string(inner[i+2:i+6]), 16, 16)
			units = append(units, uint16(n))
			i += 6
			continue
		}
		units = append(units, uint16(unescaped(inner[i+1])))
		i += 2
	}
	return units
}

// unescaped is what a short escape stands for.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// appendUnits appends a string literal as JSON.stringify writes what it says.
func appendUnits(dst, literal []byte) []byte {
	units := unitsOf(literal)
	dst = append(dst, '"')
	for i := 0; i < len(units); i++ {
		u := rune(units[i])
		switch {
		case u < ' ' || u == '"' || u == '\\':
			dst = protocol.AppendEscape(dst, u)
		case !utf16.IsSurrogate(u):
			dst = utf8.AppendRune(dst, u)
		case i+1 < len(units) && utf16.DecodeRune(u, rune(units[i+1])) != utf8.RuneError:
			dst = utf8.AppendRune(dst, utf16.DecodeRune(u, rune(units[i+1])))
			i++
		default:
			dst = protocol.AppendEscape(dst, u)
		}
	}
	return append(dst, '"')
}

// appendNumber appends a number as ECMAScript prints the double that it is.
func appendNumber(dst, literal []byte) ([]byte, error) {
	if isWholeDouble(literal) {
		return append(dst, literal...), nil
	}
	f, _ := strconv.ParseFloat(string(literal), 64)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return dst, errInfinite
	}
	return appendDouble(dst, f), nil
}

// isWholeDouble tells whether a literal is a whole number above 0 that every double has.
func isWholeDouble(literal []byte) bool {
	if len(literal) == 0 || len(literal) > 15 || literal[0] == '0' {
		return false
	}
	for _, b := range literal {
		if b < '0' || b > '9' {
			return false
		}
	}
	return true
}

// appendDouble is Number.prototype.toString.
func appendDouble(dst []byte, f float64) []byte {
	switch size := math.Abs(f); {
	case f == 0:
		return append(dst, '0')
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-2] == '0' && dst[n-3] == '-' { // e-07 is e-7 there
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst
}

// asText writes what String makes of the value at hand, in UTF-8; of an absent one it is
// "undefined".
func (c *canon) asText(depth int) error {
	c.Space()
	from := c.Pos
	switch c.Peek() {
	case 0:
		c.dst = append(c.dst, "undefined"...)
	case '{':
		c.Value()
		c.dst = append(c.dst, "[object Object]"...)
	case '[':
		return c.joined(depth)
	case '"':
		c.Text()
		for _, r := range utf16.Decode(unitsOf(c.Data[from:c.Pos])) {
			c.dst = utf8.AppendRune(c.dst, r)
		}
	case 't', 'f', 'n':
		c.Value()
		c.dst = append(c.dst, c.Data[from:c.Pos]...)
	default:
		c.Number()
		f, _ := strconv.ParseFloat(string(c.Data[from:c.Pos]), 64) // beyond a double it is infinite
		c.dst = appendDouble(c.dst, f)
	}
	return nil
}

// joined is Array.prototype.join.
func (c *canon) joined(depth int) error {
	if depth == maxDepth {
		return errDeep
	}
	c.Skip('[')
	for c.Space(); !c.Skip(']'); c.Space() {
		if c.Skip(',') {
			c.dst = append(c.dst, ',')
			c.Space()
		}
		if c.Peek() == 'n' {
			c.Value()
			continue
		}
		if err := c.asText(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

// textOf is what String makes of a value.
func textOf(value json.RawMessage) string {
	if plain, ok := text(value); ok {
		return plain
	}
	c := canon{Scanner: protocol.Scanner{Data: value}}
	if s := c.Scanner; value != nil && !s.Whole() || c.asText(0) != nil {
		return excerpt(value)
	}
	return string(c.dst)
}
