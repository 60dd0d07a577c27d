package protocol

import (
	"bytes"
	"strings"
	"unicode"
)

// IsBlank tells what JavaScript's trim takes away.
func IsBlank(r rune) bool {
	return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
}

// MaxStray is how much of a line that is no frame is kept, in bytes.
const MaxStray = 4 << 10

// StrayText is what is kept of a line that is no frame: at most [MaxStray] bytes, in UTF-8.
func StrayText(line []byte) string {
	return strings.ToValidUTF8(Cut(string(line[:min(len(line), MaxStray+1)]), MaxStray), "\ufffd")
}

// Misframed says which mistake of framing a line that is no frame must be, "" for none: on
// a wire of one JSON object a line, a plugin that prints to its standard output makes none
// of them, if it ends its lines. frameLen is the length of the frame that data begins with,
// or 0, and opening is what frames begin with as everybody writes them.
func Misframed(line []byte, opening string, frameLen func(data []byte) int) string {
	const header = "content-length:"
	if len(line) >= len(header) && bytes.EqualFold(line[:len(header)], []byte(header)) {
		return "a Content-Length header; expected one JSON object on every line and nothing else"
	}
	if s := (Scanner{Data: line}); s.Whole() {
		return "" // JSON of the plugin's own, e.g. a structured log
	}
	if frameLen(line) > 0 {
		return "more behind a frame on its line; expected one JSON object on every line"
	}
	for _, mark := range []string{`{`, opening} {
		if i := bytes.Index(line, []byte(mark)); i > 0 && frameLen(line[i:]) == len(line)-i {
			return "text in front of a frame; expected every frame on a line of its own"
		}
	}
	return ""
}
