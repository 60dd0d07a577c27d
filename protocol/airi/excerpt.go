package airi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExcerpt is how many bytes of a peer's text an error or a log line quotes.
const maxExcerpt = 200

// clip makes a peer's text fit to be shown: at most maxExcerpt bytes, whole
// runes, and nothing that a terminal would act on.
func clip(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !unicode.IsPrint(r) {
			r = '?'
		}
		if b.Len()+utf8.RuneLen(r) > maxExcerpt {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// excerpt is clip for bytes; it copies no more of them than it may need.
func excerpt(b []byte) string {
	return clip(string(b[:min(len(b), maxExcerpt)]))
}
