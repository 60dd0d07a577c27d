package protocol

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// TextUnits is the length of the text of a string literal in UTF-16 units, as JavaScript
// counts. The literal is one that a codec has read already; nothing is decoded.
func TextUnits(literal []byte) int {
	if len(literal) < 2 {
		return 0
	}
	s := literal[1 : len(literal)-1]
	units := 0
	for i := 0; ; {
		at := slashAt(s, i)
		units += BytesUnits(s[i:at])
		switch {
		case at >= len(s):
			return units
		case at+1 < len(s) && s[at+1] == 'u':
			i = at + 6
		default:
			i = at + 2
		}
		units++
		i = min(i, len(s))
	}
}

// wordUnits counts the units of eight bytes: one for each that begins a character, and
// one more where that has four.
func wordUnits(w uint64) int {
	high := w & tops
	if high == 0 {
		return 8
	}
	begun := high & (w << 1)
	four := begun & (w << 2) & (w << 3)
	return 8 - bits.OnesCount64(high) + bits.OnesCount64(begun) + bits.OnesCount64(four)
}

// isASCII tells that eight words have no other character. It is one expression, which the
// compiler keeps in registers.
func isASCII(b *[8 * 8]byte) bool {
	le := binary.LittleEndian
	return (le.Uint64(b[0:8])|le.Uint64(b[8:16])|le.Uint64(b[16:24])|le.Uint64(b[24:32])|
		le.Uint64(b[32:40])|le.Uint64(b[40:48])|le.Uint64(b[48:56])|le.Uint64(b[56:64]))&tops == 0
}

func unitsOf(c byte) int {
	switch {
	case c < utf8.RuneSelf:
		return 1
	case c < 0xc0:
		return 0
	case c < 0xf0:
		return 1
	}
	return 2
}

// BytesUnits is the length of a text, which is valid UTF-8, in UTF-16 units.
func BytesUnits(text []byte) int {
	units := 0
	for ; len(text) >= 8*8; text = text[8*8:] {
		eight := (*[8 * 8]byte)(text)
		if isASCII(eight) {
			units += len(eight)
			continue
		}
		for i := 0; i < len(eight); i += 8 {
			units += wordUnits(binary.LittleEndian.Uint64(eight[i : i+8]))
		}
	}
	for ; len(text) >= 8; text = text[8:] {
		units += wordUnits(binary.LittleEndian.Uint64(text))
	}
	for _, c := range text {
		units += unitsOf(c)
	}
	return units
}

// DecodeText appends the text of a string literal that a codec has read already, in UTF-8.
// A lone surrogate becomes U+FFFD.
func DecodeText(dst, literal []byte) []byte {
	if len(literal) < 2 {
		return dst
	}
	s := literal[1 : len(literal)-1]
	for from := 0; ; {
		at := slashAt(s, from)
		dst = append(dst, s[from:at]...)
		if at+1 >= len(s) {
			return dst
		}
		dst, from = appendEscaped(dst, s, at)
	}
}

// slashAt is where the next backslash is; len(s) for nowhere.
func slashAt(s []byte, i int) int {
	if i >= len(s) {
		return len(s)
	}
	if at := bytes.IndexByte(s[i:], '\\'); at >= 0 {
		return i + at
	}
	return len(s)
}

// appendEscaped appends what the escape at an index stands for, and returns where it ends.
func appendEscaped(dst, s []byte, at int) (text []byte, end int) {
	switch c := s[at+1]; c {
	case 'b':
		return append(dst, '\b'), at + 2
	case 'f':
		return append(dst, '\f'), at + 2
	case 'n':
		return append(dst, '\n'), at + 2
	case 'r':
		return append(dst, '\r'), at + 2
	case 't':
		return append(dst, '\t'), at + 2
	case 'u':
		r, end := hexRune(s, at), at+6
		if utf16.IsSurrogate(r) {
			r = utf16.DecodeRune(r, hexRune(s, end))
			if r != utf8.RuneError {
				end += 6
			}
		}
		return utf8.AppendRune(dst, r), min(end, len(s))
	default:
		return append(dst, c), at + 2
	}
}

// hexRune reads the escape \uXXXX at an index; U+FFFD where there is none.
func hexRune(s []byte, at int) rune {
	if at+6 > len(s) || s[at] != '\\' || s[at+1] != 'u' {
		return utf8.RuneError
	}
	var r rune
	for _, c := range s[at+2 : at+6] {
		r = r<<4 | hexValue(c)
	}
	return r
}

func hexValue(c byte) rune {
	switch {
	case c >= 'a':
		return rune(c-'a') + 10
	case c >= 'A':
		return rune(c-'A') + 10
	}
	return rune(c - '0')
}

// Runes makes whole characters of a stream of bytes that is cut anywhere. The zero value
// works.
type Runes struct {
	part [utf8.UTFMax]byte
	held int
}

// Take returns the text that is whole with the bytes that came; what may still become a
// character is kept. The result is good until data changes.
func (r *Runes) Take(data []byte) []byte {
	if r.held > 0 {
		data = append(append(make([]byte, 0, r.held+len(data)), r.part[:r.held]...), data...)
	}
	whole := len(data) - partial(data)
	r.held = copy(r.part[:], data[whole:])
	return data[:whole]
}

// Rest takes what never became a character.
func (r *Runes) Rest() []byte {
	rest := append([]byte(nil), r.part[:r.held]...)
	r.held = 0
	return rest
}

// partial is how many bytes at the end of data begin a character and do not end it.
func partial(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if c := data[len(data)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(data[len(data)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}
