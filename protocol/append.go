package protocol

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// AppendValue appends a JSON value as it is, but on one line and in UTF-8: line breaks
// between tokens go, with all other white space there, and what is no UTF-8 becomes
// U+FFFD. It fails on what is no JSON value, and appends nothing then.
func AppendValue(dst, value []byte) ([]byte, error) {
	s := Scanner{Data: value}
	if !s.Whole() {
		return dst, fmt.Errorf("expected JSON, got: %s", Clip(string(value[:min(len(value), MaxExcerpt)])))
	}
	if s.High && !utf8.Valid(value) {
		value = bytes.ToValidUTF8(value, []byte("\ufffd"))
	}
	if s.Broken {
		return appendCompact(dst, value), nil
	}
	return append(dst, value...), nil
}

// appendCompact appends valid JSON without the white space between its tokens.
func appendCompact(dst, value []byte) []byte {
	s := Scanner{Data: value}
	for s.Space(); s.Pos < len(value); s.Space() {
		from := s.Pos
		if s.Peek() == '"' {
			s.Text()
		} else {
			s.Pos++
		}
		dst = append(dst, value[from:s.Pos]...)
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// AppendText appends s as a string literal, as JSON.stringify writes it, except
// that U+2028 and U+2029 are escaped: some readers of lines split at them.
func AppendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r >= utf8.RuneSelf && r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = AppendEscape(dst, r)
		i += size
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// AppendEscape appends the escape of a character of the basic plane, e.g. of a quote or of a
// lone surrogate.
func AppendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u',
		hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
