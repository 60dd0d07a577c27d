package protocol

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Scanner reads JSON text once: it checks it and finds where values end, so that
// payloads are handed on as they are and never read again. It nests to any depth. Its
// methods move Pos, and tell whether what they want was there.
//
// encoding/json does not do here: it checks a frame before it reads it, refuses
// what nests deeper than 10,000, and matches keys without regard to case.
type Scanner struct {
	// Data is what is read, Pos how far that is done.
	Data []byte
	Pos  int
	// High tells that a byte above ASCII may have been seen, and Broken that a
	// line break stood between two tokens.
	High, Broken bool
	nest         nest
}

// Whole tells whether the data is one JSON value, with white space around it.
func (s *Scanner) Whole() bool {
	s.Space()
	if !s.Value() {
		return false
	}
	s.Space()
	return s.Pos == len(s.Data)
}

// Value moves behind the value at Pos. It reports false where there is none.
func (s *Scanner) Value() bool {
	for s.nest.depth = 0; ; s.Space() {
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
func (s *Scanner) begin() (opened, ok bool) {
	switch c := s.Peek(); c {
	case '"':
		return false, s.Text()
	case '{':
		s.Pos++
		s.Space()
		if s.Skip('}') {
			return false, true
		}
		s.nest.push(true)
		return true, s.Key()
	case '[':
		s.Pos++
		s.Space()
		if s.Skip(']') {
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
		return false, s.Number()
	}
}

// end closes the containers that end behind a value; more tells that another
// value follows in the one that does not.
func (s *Scanner) end() (more, ok bool) {
	for s.nest.depth > 0 {
		s.Space()
		object := s.nest.top()
		switch {
		case s.Skip(','):
			if object {
				s.Space()
				return true, s.Key()
			}
			return true, true
		case object && s.Skip('}'), !object && s.Skip(']'):
			s.nest.depth--
		default:
			return false, false
		}
	}
	return false, true
}

// Key moves behind an object's key and its colon.
func (s *Scanner) Key() bool {
	if s.Peek() != '"' || !s.Text() {
		return false
	}
	s.Space()
	return s.Skip(':')
}

// Text moves behind the string that begins at Pos.
func (s *Scanner) Text() bool {
	for i := s.Pos + 1; ; {
		var seen uint64
		i, seen = plain(s.Data, i)
		s.High = s.High || seen&tops != 0
		switch {
		case i >= len(s.Data):
			return false
		case s.Data[i] == '"':
			s.Pos = i + 1
			return true
		case s.Data[i] != '\\':
			return false // a control character
		}
		n := escapeLen(s.Data[i:])
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
// stands, and all bits that it has seen on the way and a little further.
func plain(data []byte, i int) (at int, seen uint64) {
	if i >= len(data) {
		return len(data), 0
	}
	rest := data[i:]
	for n := 0; len(rest) >= 8; n++ {
		if n == shortText && len(rest) >= window {
			var ends bool
			if rest, seen, ends = plainWindows(rest, seen); ends {
				return len(data) - len(rest), seen
			}
			continue
		}
		w := binary.LittleEndian.Uint64(rest)
		seen |= w
		quote, slash := w^(lows*'"'), w^(lows*'\\')
		// A byte's top bit is set where it became 0, or was below a space. Only
		// the lowest one found is exact, and that is the one that is used.
		found := ((quote-lows)&^quote | (slash-lows)&^slash | (w-lows*' ')&^w) & tops
		if found != 0 {
			return len(data) - len(rest) + bits.TrailingZeros64(found)/8, seen
		}
		rest = rest[8:]
	}
	for len(rest) > 0 && rest[0] != '"' && rest[0] != '\\' && rest[0] >= ' ' {
		seen |= uint64(rest[0])
		rest = rest[1:]
	}
	return len(data) - len(rest), seen
}

// Most texts end within so many words. What is longer is looked through in windows of so
// many bytes, which is several times as fast; that a quote or a backslash is looked for no
// further keeps a text of escapes one of linear time.
const (
	shortText = 8
	window    = 256
)

// plainWindows goes on as plain does, a window at a time, and tells whether it has found
// what plain looks for: rest begins with it then.
func plainWindows(rest []byte, before uint64) (left []byte, seen uint64, ends bool) {
	seen = before
	for len(rest) >= window {
		w := rest[:window]
		if at := bytes.IndexByte(w, '"'); at >= 0 {
			w = w[:at]
		}
		if at := bytes.IndexByte(w, '\\'); at >= 0 {
			w = w[:at]
		}
		at, high := control(w)
		seen |= high
		rest = rest[at:]
		if at < window {
			return rest, seen, true
		}
	}
	return rest, seen, false
}

// control returns where the first control character is, len(w) for nowhere, and all bits
// that it has seen.
func control(w []byte) (at int, seen uint64) {
	for ; len(w)-at >= 32; at += 32 { // most windows have none
		four := (*[32]byte)(w[at:])
		a, b := binary.LittleEndian.Uint64(four[0:8]), binary.LittleEndian.Uint64(four[8:16])
		c, d := binary.LittleEndian.Uint64(four[16:24]), binary.LittleEndian.Uint64(four[24:32])
		if ((a-lows*' ')&^a|(b-lows*' ')&^b|(c-lows*' ')&^c|(d-lows*' ')&^d)&tops != 0 {
			break
		}
		seen |= a | b | c | d
	}
	for ; len(w)-at >= 8; at += 8 {
		eight := binary.LittleEndian.Uint64(w[at:])
		seen |= eight
		if found := (eight - lows*' ') &^ eight & tops; found != 0 {
			return at + bits.TrailingZeros64(found)/8, seen
		}
	}
	for ; at < len(w) && w[at] >= ' '; at++ {
		seen |= uint64(w[at])
	}
	return at, seen
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

// Number moves behind the number that begins at Pos, as far as it is one.
func (s *Scanner) Number() bool {
	s.Skip('-')
	if !s.Skip('0') && !s.digits() {
		return false
	}
	if s.Skip('.') && !s.digits() {
		return false
	}
	if !s.Skip('e') && !s.Skip('E') {
		return true
	}
	if !s.Skip('+') {
		s.Skip('-')
	}
	return s.digits()
}

func (s *Scanner) digits() bool {
	from := s.Pos
	for s.Pos < len(s.Data) && '0' <= s.Data[s.Pos] && s.Data[s.Pos] <= '9' {
		s.Pos++
	}
	return s.Pos > from
}

func (s *Scanner) literal(word string) bool {
	if len(s.Data)-s.Pos < len(word) || string(s.Data[s.Pos:s.Pos+len(word)]) != word {
		return false
	}
	s.Pos += len(word)
	return true
}

// Space moves behind white space.
func (s *Scanner) Space() {
	for s.Pos < len(s.Data) {
		switch s.Data[s.Pos] {
		case '\n', '\r':
			s.Broken = true
		case ' ', '\t':
		default:
			return
		}
		s.Pos++
	}
}

// Peek returns the byte at Pos, or 0 at the end.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.Data) {
		return s.Data[s.Pos]
	}
	return 0
}

// Skip moves behind a byte, if that stands at Pos.
func (s *Scanner) Skip(c byte) bool {
	if s.Peek() != c || s.Pos >= len(s.Data) {
		return false
	}
	s.Pos++
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
