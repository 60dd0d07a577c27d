package actors

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// What a plugin calls of another one: for whose sake, for which tenant, and how deep.

// ecosystemGo is that of plugins that are compiled in.
const ecosystemGo = "go"

// ecosystem is that of a session's plugin.
func (h *handle) ecosystem() string {
	if _, local := h.through().(*port); local {
		return ecosystemGo
	}
	return h.man.Dialect
}

// callOf is a call as one of a session's.
func callOf(who *handle, c protocol.Call) protocol.Call {
	c.Caller, c.Ecosystem = who.Plugin, who.ecosystem()
	c.Cause = who.serves.cause(c.Cause)
	return c
}

// mayCross holds a plugin's call of another one to what it may call at all, to the tenant
// for which it serves, and to the limit on chains of calls. It returns the call as it is
// to be made.
func (h *Host) mayCross(who *handle, c protocol.Call) (protocol.Call, error) {
	if err := h.mayInvoke(who, c); err != nil {
		return c, err
	}
	return h.mayTell(who, c)
}

// mayTell is mayCross for an event, which every plugin may publish.
func (h *Host) mayTell(who *handle, c protocol.Call) (protocol.Call, error) {
	scope, err := h.scopeOf(who, c)
	if err == nil {
		c.Scope = scope
		err = h.checkDepth(who, c)
	}
	return c, err
}

// scopeOf is the tenant for which a plugin's call is made: that of the call that it serves.
func (h *Host) scopeOf(who *handle, c protocol.Call) (string, error) {
	cause := c.Cause
	switch {
	case cause != nil && cause.Several && c.Scope == "":
		return "", h.refuse(who, c, protocol.CodeDenied, fmt.Sprintf(
			"plugin %s may not call %s: it serves calls of several tenants, and its wire does not tell for which of them this is", who.Plugin, c.Key))
	case cause == nil || cause.Scope == "" || cause.Scope == c.Scope || cause.Guessed && c.Scope != "":
		return c.Scope, nil
	case c.Scope == "":
		return cause.Scope, nil
	}
	return "", h.refuse(who, c, protocol.CodeDenied, fmt.Sprintf(
		"plugin %s may not call %s for %q: it serves a call for %q", who.Plugin, c.Key, c.Scope, cause.Scope))
}

// checkDepth ends calls that go round in a circle.
func (h *Host) checkDepth(who *handle, c protocol.Call) error {
	most := who.bounds.limits.CallDepth
	if c.Depth() <= most {
		return nil
	}
	return h.refuse(who, c, protocol.CodeInvalid, fmt.Sprintf(
		"plugin %s may not call %s: %d calls led to it, each made for the sake of the one before, and the limit is %d (limits.callDepth): do plugins call each other in a circle? %s",
		who.Plugin, c.Key, c.Depth()-1, most, protocol.ChainText(c.Chain())))
}

// refuse is the failure of a call that a plugin may not make, which is told as a denial.
func (h *Host) refuse(who *handle, c protocol.Call, code protocol.Code, why string) error {
	err := failure(code, who.Plugin, why)
	h.tellDenied(who, Denial{What: c.Key, Scope: c.Scope, Reason: err.Message, Chain: chainOf(c)})
	return &notGranted{err}
}

// chainOf is the chain of a call to which others led.
func chainOf(c protocol.Call) []protocol.Link {
	if c.Cause == nil {
		return nil
	}
	return protocol.CutChain(c.Chain())
}

// rootOf numbers the outermost of the calls that led to one, which may be itself.
func (h *Host) rootOf(c *protocol.Call) uint64 {
	if c.Cause != nil && c.Cause.Root != 0 {
		return c.Cause.Root
	}
	return h.roots.Add(1)
}

// maxCallDepth is the longest chain that may be permitted.
const maxCallDepth = 64

// serves are the calls that a session serves, where its wire may not tell for which of them
// it makes one of its own: by the outermost call of each, and by tenant.
type serves struct {
	mu sync.Mutex
	// lone counts those that are outermost calls themselves, each of them with a number of
	// its own; sum is that of their numbers: of one, its number.
	lone int
	sum  uint64
	// roots are the others.
	roots map[uint64]branch
	// unscoped counts those for no tenant, scopes all others.
	unscoped int
	scopes   map[string]int
}

// branch are those with one outermost call.
type branch struct{ calls, deepest int }

func (s *serves) begin(c *protocol.Call, n tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.isLone {
		s.lone++
		s.sum += n.root
	} else {
		s.join(c, n.root)
	}
	if c.Scope == "" {
		s.unscoped++
		return
	}
	if s.scopes == nil {
		s.scopes = make(map[string]int)
	}
	s.scopes[c.Scope]++
}

func (s *serves) join(c *protocol.Call, root uint64) {
	if s.roots == nil {
		s.roots = make(map[uint64]branch)
	}
	b := s.roots[root]
	b.calls++
	if !capability.Key(c.Key).Is(capability.KindEvent) { // of which a plugin may cause many at a time
		b.deepest = max(b.deepest, c.Depth())
	}
	s.roots[root] = b
}

func (s *serves) end(c *protocol.Call, n tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.isLone {
		s.lone--
		s.sum -= n.root
	} else {
		s.leave(n.root)
	}
	if c.Scope == "" {
		s.unscoped--
	} else if s.scopes[c.Scope]--; s.scopes[c.Scope] == 0 {
		delete(s.scopes, c.Scope)
	}
}

func (s *serves) leave(root uint64) {
	b := s.roots[root]
	if b.calls--; b.calls == 0 {
		delete(s.roots, root)
	} else {
		s.roots[root] = b
	}
}

// cause is what is known of the cause of a call: what its wire tells. Where that may be any
// of those that are served, it is as deep as the deepest if all have one outermost call,
// else as deep as any has to be; and it is for their tenant, if they have one.
func (s *serves) cause(told *protocol.Cause) *protocol.Cause {
	if told != protocol.CauseUntold {
		return told
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lone+len(s.roots) == 0 {
		return nil
	}
	guess := &protocol.Cause{Depth: 1, Guessed: true, Several: len(s.scopes) > 1 || len(s.scopes) > 0 && s.unscoped > 0}
	if root, deepest, all := s.outermost(); all {
		guess.Root, guess.Depth = root, max(deepest, 1)
	}
	for scope := range s.scopes {
		if !guess.Several {
			guess.Scope = scope
		}
	}
	return guess
}

// outermost is the outermost call of all that are served, and the depth of the deepest of
// them; all is false where there are several.
func (s *serves) outermost() (root uint64, deepest int, all bool) {
	if s.lone > 1 || len(s.roots) > 1 {
		return 0, 0, false
	}
	for root, b := range s.roots {
		return root, b.deepest, s.lone == 0 || s.sum == root
	}
	return s.sum, 1, s.lone == 1
}

// tellCalled publishes a call that is over, with the error that its caller gets.
func (h *Host) tellCalled(who *handle, c protocol.Call, began time.Time, err error) {
	e := Called{
		Origin: who.Origin, Ecosystem: who.ecosystem(), Key: capability.Key(c.Key), Caller: c.Caller,
		Scope: c.Scope, Chain: c.Chain(), At: time.Now(),
	}
	e.Took = e.At.Sub(began)
	if err != nil {
		e.Code = cmp.Or(protocol.CodeOf(err), codePeer)
	}
	h.publish(e)
}

// codePeer stands in an event for an error that a plugin reported.
const codePeer protocol.Code = "peer"
