package eliza

import (
	"bytes"

	"github.com/airi-host/airi-host/protocol"
)

// fault says which mistake of framing a line that is no frame must be. A plugin that
// prints to its standard output makes none of them, if it ends its lines.
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
	for _, mark := range []string{`{`, `{"type"`} {
		if i := bytes.Index(line, []byte(mark)); i > 0 && frameLen(line[i:]) == len(line)-i {
			return "text in front of a frame; expected every frame on a line of its own"
		}
	}
	return ""
}

// frameLen is the length of the frame that data begins with, or 0: an object whose
// type is one of this wire's.
func frameLen(data []byte) int {
	var f frame
	n, why := f.read(data)
	if why != "" {
		return 0
	}
	switch string(protocol.TextOf(f.get("type"))) {
	case typeAnnounce, typeDynamic, typeInitComplete, typeInit, typeRPC, typeRPCResult, typeCallback,
		typeHostRPC, typeHostResult, typeEvent, typeStreamChunk, typeStreamEnd:
		return n
	}
	return 0
}
