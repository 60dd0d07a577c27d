package paperclip

import "github.com/airi-host/airi-host/protocol"

// fault says which mistake of framing a line that is no frame must be; "" for none.
func fault(line []byte) string { return protocol.Misframed(line, `{"jsonrpc"`, frameLen) }

// frameLen is the length of the frame that data begins with, or 0.
func frameLen(data []byte) int {
	var e envelope
	n, why := e.read(data)
	if why != "" || !e.speaks() {
		return 0
	}
	return n
}
