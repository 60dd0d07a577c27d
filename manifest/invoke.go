package manifest

import (
	"strings"

	"github.com/airi-host/airi-host/capability"
)

// MayInvoke tells whether the plugin may call a capability of others. One that lists
// none may call all of them, as AIRI's own host has it; but not a Paperclip plugin,
// which may do nothing that it was not permitted.
func (m *Manifest) MayInvoke(key capability.Key) bool {
	if len(m.Host.Invoke) == 0 && m.Dialect != DialectPaperclip {
		return true
	}
	return m.Host.MayInvoke(key)
}

// MayInvoke tells whether a pattern of Invoke allows a call of that key. "*" stands
// for any run of characters, also for none and across ":" and "/"; everything else
// stands for itself.
func (h HostFields) MayInvoke(key capability.Key) bool {
	for _, pattern := range h.Invoke {
		if matches(pattern, string(key)) {
			return true
		}
	}
	return false
}

// matches takes the text between two stars where it comes first, which leaves the
// most for those that follow; so no choice has to be taken back.
func matches(pattern, key string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == key
	}
	key, ok := strings.CutPrefix(key, first)
	if !ok || !strings.HasSuffix(key, last) {
		return false
	}
	key = strings.TrimSuffix(key, last)
	for _, part := range parts[1 : len(parts)-1] {
		if _, key, ok = strings.Cut(key, part); !ok {
			return false
		}
	}
	return true
}
