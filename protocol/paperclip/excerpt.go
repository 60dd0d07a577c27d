package paperclip

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExcerpt is how many bytes of a peer's text an error or a count quotes.
const maxExcerpt = 200

// clip makes a peer's text fit to be shown: at most maxExcerpt bytes, whole
// runes, and nothing that a terminal would act on.
func clip(s string) string {
	var b strings.Builder
	for _, r := range s[:min(len(s), maxExcerpt)] {
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

// cut returns at most limit bytes of s, whole runes, otherwise as they are.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.Clone(s[:limit]) // what is kept must not keep the rest
}
