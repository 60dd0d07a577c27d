package paperclip

import (
	"bytes"

	"github.com/airi-host/airi-host/protocol"
)

// fault says which mistake of framing a line that is no frame must be. A plugin
// that prints to its standard output makes none of them.
func fault(line []byte) string {
	const header = "content-length:"
	if len(line) >= len(header) && bytes.EqualFold(line[:len(header)], []byte(header)) {
		return "a Content-Length header; expected one JSON object on every line and nothing else"
	}
	if s := (protocol.Scanner{Data: line}); s.Whole() {
		return "" // JSON of the plugin's own, e.g. a structured log
	}
	if frameLen(line) > 0 {
		return "more behind a frame on its line; expected one JSON object on every line"
	}
	for _, mark := range []string{`{`, `{"jsonrpc"`} {
		if i := bytes.Index(line, []byte(mark)); i > 0 && frameLen(line[i:]) == len(line)-i {
			return "text in front of a frame; expected every frame on a line of its own"
		}
	}
	return ""
}

// frameLen is the length of the frame that data begins with, or 0.
func frameLen(data []byte) int {
	var e envelope
	n, why := e.read(data)
	if why != "" || !e.speaks() {
		return 0
	}
	return n
}
