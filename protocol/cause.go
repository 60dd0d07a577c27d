package protocol

import (
	"slices"
	"strings"
)

// Cause is a call of a capability, as what is called because of it knows it: a plugin
// serves it, and calls others for its sake. Nothing of what the call carries is in it. It
// is not to be changed.
type Cause struct {
	// Caller is the plugin that made the call, "" where that is who asks the host;
	// Ecosystem is the caller's: see Call.
	Caller, Ecosystem string
	// Key is what was called.
	Key string
	// Scope is the tenant that it was made for, or "". What is called because of it is
	// called for no other.
	Scope string
	// Depth is how many calls there are up to this one, itself counted.
	Depth int
	// Root is the number of the outermost of the calls that led to it: see Call.
	Root uint64
	// Within is the call that its caller served meanwhile; nil for none.
	Within *Cause
	// Guessed tells that nobody knows which call it was: Depth and Scope are what those had
	// in common that the caller served then, and of Caller and Key there is nothing.
	// Several tells that those are for more than one tenant.
	Guessed, Several bool
}

// CauseUntold is the cause of a call where a plugin may serve others and its wire does not
// tell for which of them it makes this one.
var CauseUntold = &Cause{Guessed: true}

// depth is 0 for no call.
func (c *Cause) depth() int {
	if c == nil {
		return 0
	}
	return c.Depth
}

// Depth is how many calls there are up to this one, itself counted: 1 for one that nobody
// makes for another one's sake.
func (c *Call) Depth() int { return c.Cause.depth() + 1 }

// AsCause is the call as the cause of those that its callee makes.
func (c *Call) AsCause() Cause {
	return Cause{Caller: c.Caller, Ecosystem: c.Ecosystem, Key: c.Key, Scope: c.Scope, Depth: c.Depth(), Root: c.Root, Within: c.Cause}
}

// Link is one call of a chain: who called what.
type Link struct {
	// Caller is a plugin, "" who asks the host; Ecosystem is the caller's.
	Caller    string `json:"caller,omitempty"`
	Ecosystem string `json:"ecosystem,omitempty"`
	// Key is what was called; "" where nobody knows which calls there were before.
	Key string `json:"key,omitempty"`
}

// String is the link for people, e.g. "kitchen (paperclip) tool:greet".
func (l Link) String() string {
	switch {
	case l.Key == "":
		return "…"
	case l.Caller == "":
		return Clip(l.Key)
	case l.Ecosystem == "":
		return l.Caller + " " + Clip(l.Key)
	}
	return l.Caller + " (" + l.Ecosystem + ") " + Clip(l.Key)
}

// Chain are the calls that led to this one, and this one as the last.
func (c *Call) Chain() []Link { return append(c.Cause.Chain(), Link{c.Caller, c.Ecosystem, c.Key}) }

// Chain are the calls that led to this one, and this one as the last; nil where c is.
func (c *Cause) Chain() []Link {
	var chain []Link
	for at := c; at != nil; at = at.Within {
		chain = append(chain, Link{at.Caller, at.Ecosystem, at.Key})
	}
	slices.Reverse(chain)
	return chain
}

// MaxLinks is how many links of a chain a text or a record has: the first ones and the
// last ones, of a longer one.
const MaxLinks = 8

// CutChain is a chain with MaxLinks links, and one without a key for those left out.
func CutChain(chain []Link) []Link {
	if len(chain) <= MaxLinks {
		return chain
	}
	return slices.Concat(chain[:MaxLinks/2], []Link{{}}, chain[len(chain)-MaxLinks/2:])
}

// ChainText is a chain for people, cut: "tool:a → one (airi) tool:b → two (eliza) tool:a".
func ChainText(chain []Link) string {
	var parts []string
	for _, link := range CutChain(chain) {
		parts = append(parts, link.String())
	}
	return strings.Join(parts, " → ")
}
