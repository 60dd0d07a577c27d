package eliza

import "github.com/airi-host/airi-host/protocol"

// fault says which mistake of framing a line that is no frame must be; "" for none.
func fault(line []byte) string { return protocol.Misframed(line, `{"type"`, frameLen) }

// frameLen is the length of the frame that data begins with, or 0: an object whose
// type is one of this wire's.
func frameLen(data []byte) int {
	var f frame
	n, why := f.read(data)
	if why != "" {
		return 0
	}
	switch string(f.ofType()) {
	case typeAnnounce, typeDynamic, typeInitComplete, typeInit, typeRPC, typeRPCResult, typeCallback,
		typeHostRPC, typeHostResult, typeEvent, typeStreamChunk, typeStreamEnd:
		return n
	}
	return 0
}
