package paperclip

import (
	"encoding/binary"
	"math/bits"
)

// scanner reads JSON text once: it checks it and finds where values end, so that
// payloads are handed on as they are and never read again.
//
// encoding/json does not do here: it checks a frame before it reads it, refuses
// what nests deeper than 10,000, and matches keys without regard to case.
type scanner struct {
	data []byte
	pos  int
	// high tells that a byte above ASCII may have been seen, and broken that a
	// line break stood between two tokens.
	high, broken bool
	nest         nest
}

// whole tells whether the data is one JSON value, with white space around it.
func (s *scanner) whole() bool {
	s.space()
	if !s.value() {
		return false
	}
	s.space()
	return s.pos == len(s.data)
}

// value moves behind the value at pos. It reports false where there is none.
func (s *scanner) value() bool {
	for s.nest.depth = 0; ; s.space() {
		opened, ok := s.begin()
		if !ok {
			return false
		}
		if opened {
			continue
		}
		if more, ok := s.end(); !ok || !more {
			return ok
		}
	}
}

// begin reads a scalar or an empty container whole, and opens any other container.
func (s *scanner) begin() (opened, ok bool) {
	switch c := s.peek(); c {
	case '"':
		return false, s.str()
	case '{':
		s.pos++
		s.space()
		if s.skip('}') {
			return false, true
		}
		s.nest.push(true)
		return true, s.key()
	case '[':
		s.pos++
		s.space()
		if s.skip(']') {
			return false, true
		}
		s.nest.push(false)
		return true, true
	case 't':
		return false, s.literal("true")
	case 'f':
		return false, s.literal("false")
	case 'n':
		return false, s.literal("null")
	default:
		return false, s.number()
	}
}

// end closes the containers that end behind a value; more tells that another
// value follows in the one that does not.
func (s *scanner) end() (more, ok bool) {
	for s.nest.depth > 0 {
		s.space()
		object := s.nest.top()
		switch {
		case s.skip(','):
			if object {
				s.space()
				return true, s.key()
			}
			return true, true
		case object && s.skip('}'), !object && s.skip(']'):
			s.nest.depth--
		default:
			return false, false
		}
	}
	return false, true
}

// key moves behind an object's key and its colon.
func (s *scanner) key() bool {
	if s.peek() != '"' || !s.str() {
		return false
	}
	s.space()
	return s.skip(':')
}

// str moves behind the string that begins at pos.
func (s *scanner) str() bool {
	for i := s.pos + 1; ; {
		i = s.plain(i)
		switch {
		case i >= len(s.data):
			return false
		case s.data[i] == '"':
			s.pos = i + 1
			return true
		case s.data[i] != '\\':
			return false // a control character
		}
		n := escapeLen(s.data[i:])
		if n == 0 {
			return false
		}
		i += n
	}
}

// Eight bytes are looked at together: lows has 1 in each, tops the highest bit.
const (
	lows = 0x0101010101010101
	tops = 0x8080808080808080
)

// plain returns where, from i on, the first quote, backslash or control character
// stands.
func (s *scanner) plain(i int) int {
	rest, seen := s.data[i:], uint64(0)
	for len(rest) >= 8 {
		w := binary.LittleEndian.Uint64(rest)
		seen |= w
		quote, slash := w^(lows*'"'), w^(lows*'\\')
		// A byte's top bit is set where it became 0, or was below a space. Only
		// the lowest one found is exact, and that is the one that is used.
		found := ((quote-lows)&^quote | (slash-lows)&^slash | (w-lows*' ')&^w) & tops
		if found != 0 {
			s.high = s.high || seen&tops != 0
			return len(s.data) - len(rest) + bits.TrailingZeros64(found)/8
		}
		rest = rest[8:]
	}
	for len(rest) > 0 && rest[0] != '"' && rest[0] != '\\' && rest[0] >= ' ' {
		seen |= uint64(rest[0])
		rest = rest[1:]
	}
	s.high = s.high || seen&tops != 0
	return len(s.data) - len(rest)
}

// escapeLen is the length of the escape that b starts with, or 0.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) && isHex(b[5]) {
			return 6
		}
	}
	return 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (s *scanner) number() bool {
	s.skip('-')
	if !s.skip('0') && !s.digits() {
		return false
	}
	if s.skip('.') && !s.digits() {
		return false
	}
	if !s.skip('e') && !s.skip('E') {
		return true
	}
	if !s.skip('+') {
		s.skip('-')
	}
	return s.digits()
}

func (s *scanner) digits() bool {
	from := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > from
}

func (s *scanner) literal(word string) bool {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		return false
	}
	s.pos += len(word)
	return true
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '\n', '\r':
			s.broken = true
		case ' ', '\t':
		default:
			return
		}
		s.pos++
	}
}

// peek returns the byte at pos, or 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) skip(c byte) bool {
	if s.peek() != c || s.pos >= len(s.data) {
		return false
	}
	s.pos++
	return true
}

// nest remembers which of the open containers are objects, a bit each, so that
// depth costs next to nothing.
type nest struct {
	depth int
	// first holds the outer 64, so that usual payloads allocate nothing; more
	// holds the others.
	first uint64
	more  []uint64
}

func (n *nest) push(object bool) {
	word, bit := n.word(n.depth), uint64(1)<<(n.depth%64)
	*word &^= bit
	if object {
		*word |= bit
	}
	n.depth++
}

func (n *nest) top() bool {
	at := n.depth - 1
	return *n.word(at)&(1<<(at%64)) != 0
}

func (n *nest) word(depth int) *uint64 {
	at := depth/64 - 1
	if at < 0 {
		return &n.first
	}
	if at == len(n.more) {
		n.more = append(n.more, 0)
	}
	return &n.more[at]
}
