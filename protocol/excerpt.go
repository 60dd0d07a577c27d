package protocol

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxExcerpt is how many bytes of a peer's text an error or a count quotes.
const MaxExcerpt = 200

// Clip makes a peer's text fit to be shown: at most MaxExcerpt bytes, whole
// runes, and nothing that a terminal would act on.
func Clip(s string) string {
	var b strings.Builder
	for _, r := range s[:min(len(s), MaxExcerpt)] {
		if !unicode.IsPrint(r) {
			r = '?'
		}
		if b.Len()+utf8.RuneLen(r) > MaxExcerpt {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Cut returns at most limit bytes of s, whole runes, otherwise as they are.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.Clone(s[:limit]) // what is kept must not keep the rest
}
