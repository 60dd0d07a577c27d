package paperclip

import "github.com/airi-host/airi-host/protocol"

// maxExcerpt is how many bytes of a peer's text an error or a count quotes.
const maxExcerpt = protocol.MaxExcerpt

// clip makes a peer's text fit to be shown; see protocol.Clip.
func clip(s string) string { return protocol.Clip(s) }

// cut returns at most limit bytes of s, whole runes, otherwise as they are.
func cut(s string, limit int) string { return protocol.Cut(s, limit) }
