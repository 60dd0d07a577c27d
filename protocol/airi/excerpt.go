package airi

import "github.com/airi-host/airi-host/protocol"

// maxExcerpt is how many bytes of a peer's text an error or a log line quotes.
const maxExcerpt = protocol.MaxExcerpt

// clip makes a peer's text fit to be shown; see protocol.Clip.
func clip(s string) string { return protocol.Clip(s) }

// excerpt is clip for bytes; it copies no more of them than it may need.
func excerpt(b []byte) string {
	return clip(string(b[:min(len(b), maxExcerpt)]))
}
