package manifest

import (
	"strings"

	"github.com/airi-host/airi-host/capability"
)

// InvokePrefix begins the name of the grant to call others' capabilities whose keys match
// the pattern behind it, e.g. "invoke:tool:*".
const InvokePrefix = "invoke:"

// Grants are what the plugin asks to be permitted: a Paperclip manifest's "capabilities",
// the permissions of an elizaOS manifest by their tags ("bun:run", "host:storage"), and for each pattern of "airi-host".invoke a grant that begins with [InvokePrefix]. A
// plugin that may call everything since it lists nothing asks for "invoke:*".
func (m *Manifest) Grants() []string {
	var all []string
	if m.Paperclip != nil {
		all = append(all, m.Paperclip.Grants...)
	}
	if m.Eliza != nil {
		all = append(all, m.Eliza.Grants()...)
	}
	for _, pattern := range m.Host.Invoke {
		all = append(all, InvokePrefix+pattern)
	}
	if m.invokesAll() {
		all = append(all, InvokePrefix+"*")
	}
	return all
}

// invokesAll tells whether it lists nothing that it calls, where that is no restriction.
func (m *Manifest) invokesAll() bool {
	return len(m.Host.Invoke) == 0 && m.Dialect != DialectPaperclip
}

// Covers tells whether somebody who has one grant has another one by that: it is the same,
// or a pattern that matches all that the other one does.
func Covers(grant, other string) bool {
	pattern, ok := strings.CutPrefix(grant, InvokePrefix)
	key, is := strings.CutPrefix(other, InvokePrefix)
	// A star of the other one can only be matched by a star of this one, which takes
	// whatever it stands for.
	return grant == other || ok && is && matches(pattern, key)
}

// MayInvoke tells whether the plugin may call a capability of others. One that lists
// none may call all of them, as AIRI's own host has it; but not a Paperclip plugin,
// which may do nothing that it was not permitted.
func (m *Manifest) MayInvoke(key capability.Key) bool {
	return m.invokesAll() || m.Host.MayInvoke(key)
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
