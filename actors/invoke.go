package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// Invoke calls a capability and returns its result. It is the short way: a
// look-up in the registry's snapshot, then straight through the owner's link. A
// key that the host itself serves goes to its service, unless a plugin is named.
//
// What the call has of a stream, its Progress, Feed and Idle, is told in the package's
// own page.
//
// The call ends at its Deadline or, when it has none, at the owner's default
// limit; and in any case at ctx's deadline. While the owner starts, the call waits
// for it; an owner that has failed, was stopped, or waits for its configuration
// fails the call at once, and so does one that has crashed and will be restarted,
// saying when, unless the call has Wait. Errors are *protocol.Error with a code to branch on, or
// the plugin's own words as *protocol.PeerError. A call whose peer died has
// CodeOutcomeUnknown and is never sent again.
func (h *Host) Invoke(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	if err := h.alive(); err != nil {
		return nil, err
	}
	return h.invoke(ctx, &c)
}

// invoke is Invoke for plugins, which may call each other while the host shuts
// down.
func (h *Host) invoke(ctx context.Context, c *protocol.Call) (json.RawMessage, error) {
	if s := h.runner(c); s != nil {
		return h.throughRunner(ctx, s, *c)
	}
	return h.followed(ctx, c)
}

// followed makes a call as a part of a trace, if there is one, past who runs jobs.
func (h *Host) followed(ctx context.Context, c *protocol.Call) (json.RawMessage, error) {
	if h.trace == nil {
		return h.observed(ctx, c)
	}
	var ended func(error)
	c.Trace, ended = h.trace(*c)
	result, err := h.observed(ctx, c)
	ended(err)
	return result, err
}

// observed makes a call, and tells when it is over.
func (h *Host) observed(ctx context.Context, c *protocol.Call) (json.RawMessage, error) {
	if h.observe == nil {
		return h.perform(ctx, c)
	}
	began := time.Now()
	result, err := h.perform(ctx, c)
	h.observe(CallEnded{Key: capability.Key(c.Key), Took: time.Since(began), Err: err})
	return result, err
}

// CallEnded is a call that is over, as Options.Observe is told of it.
type CallEnded struct {
	Key capability.Key
	// Took is how long the caller waited.
	Took time.Duration
	// Err is what the caller got for an error, or nil. A tool's result that says in its
	// "error" that the call failed is one.
	Err error
}

// perform makes a call.
func (h *Host) perform(ctx context.Context, c *protocol.Call) (json.RawMessage, error) {
	if err := checkFeed(c); err != nil {
		return nil, err
	}
	if s := h.service(c.Key); s != nil && c.Plugin == "" {
		return h.serveWith(ctx, s, *c)
	}
	began := time.Now()
	key := capability.Key(c.Key)
	if err := key.Validate(); err != nil {
		return nil, &protocol.Error{Code: protocol.CodeInvalid, Message: "the capability's key", Err: err}
	}
	if key.Is(capability.KindEvent) {
		c.Progress = nil // it would be told by several at once, who have nothing to say
		h.fanOut(ctx, *c, began)
		return nil, nil
	}
	var err error
	if c.Input, err = inputOf(key, c); err != nil {
		return nil, err
	}
	return h.callOwner(ctx, key, c, began)
}

// checkFeed refuses a request stream where there can be none.
func checkFeed(c *protocol.Call) error {
	switch {
	case c.Feed == nil:
		return nil
	case c.Input != nil:
		return failure(protocol.CodeInvalid, "", c.Key+": a call with a request stream has no input beside it: give one of the two")
	case capability.Key(c.Key).Is(capability.KindEvent):
		return failure(protocol.CodeInvalid, "", c.Key+": an event has one payload: give it as the input, not as a request stream")
	}
	return nil
}

// callOwner calls whoever owns the key. A call that waits for a restart also
// outlasts the moment in which its owner is dead, and still looks ready: nobody
// heard of the call, so that it may be made again.
func (h *Host) callOwner(ctx context.Context, key capability.Key, c *protocol.Call, began time.Time) (json.RawMessage, error) {
	for {
		who, err := h.owner(ctx, key, c, began)
		if err != nil {
			return nil, err
		}
		l := limitOf(ctx, c, who, began)
		result, err := h.callOn(ctx, who, c, l)
		if _, unheard := errors.AsType[endedError](err); !unheard || !c.Wait {
			return outcomeAt(who, key, result, err)
		}
		if gone := awaitEnd(ctx, who, err, l); gone != nil {
			return nil, gone
		}
	}
}

// awaitEnd returns when a session whose link has ended has ended too, or with an
// error at the limit.
func awaitEnd(ctx context.Context, who *handle, why error, l limit) error {
	ctx, cancel := context.WithDeadline(ctx, l.at)
	defer cancel()
	for {
		at, changed := who.watch()
		if isOver(at.phase) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return gaveUp(ctx, who.Plugin, why.Error(), l)
		}
	}
}

// limit is the deadline of one call and where it came from, for its error.
type limit struct {
	at     time.Time
	source string
	// idle is the limit on the time without progress, 0 for none.
	idle       time.Duration
	idleSource string
}

// limitOf picks the deadline of a call that began at a moment and is for a session.
func limitOf(ctx context.Context, c *protocol.Call, who *handle, began time.Time) limit {
	l := limit{at: c.Deadline, source: "the call's own deadline"}
	if c.Deadline.IsZero() {
		l = usualLimit(c, who, began)
	}
	if at, ok := ctx.Deadline(); ok && at.Before(l.at) {
		l = limit{at: at, source: "the caller's deadline"}
	}
	l.idle, l.idleSource = idleLimit(c, who)
	return l
}

// idleLimit is how long a call may make no progress.
func idleLimit(c *protocol.Call, who *handle) (time.Duration, string) {
	switch {
	case c.Idle > 0:
		return c.Idle, "the call's own idle limit"
	case c.Idle < 0:
		return 0, ""
	case who.man.Host.Timeouts.Idle > 0:
		return who.timeouts.Idle, "the plugin's limit airi-host.timeouts.idle"
	}
	return who.timeouts.Idle, "the host's limit timeouts.idle"
}

// usualLimit is the deadline of a call whose caller named none.
func usualLimit(c *protocol.Call, who *handle, began time.Time) limit {
	usual, source := who.timeouts.Call, "the host's limit timeouts.call"
	if who.man.Host.Timeouts.Call > 0 {
		source = "the plugin's limit airi-host.timeouts.call"
	}
	if timing, ok := who.dialect.(protocol.Timing); ok {
		if own := timing.CallTimeout(*c, usual); own != usual {
			usual, source = own, "the limit of "+who.man.Dialect+" for such calls"
		}
	}
	return limit{at: began.Add(usual), source: source}
}

// callOn makes one call at one session. It changes nothing of c.
func (h *Host) callOn(ctx context.Context, who *handle, c *protocol.Call, l limit) (result json.RawMessage, err error) {
	n := h.count(who, c)
	defer func() { h.countOut(who, c, n, result, err) }()
	if all := who.inFlight.Add(1) + who.busy.Load(); all > int64(who.pending()) {
		who.inFlight.Add(-1)
		return nil, failure(protocol.CodeOverloaded, who.Plugin, fmt.Sprintf(
			"plugin %s has %d calls in flight, its limit: try again later, or raise airi-host.limits.pendingCalls", who.Plugin, who.pending()))
	}
	defer who.callOver()
	now := time.Now()
	switch {
	case ctx.Err() != nil:
		return nil, gaveUp(ctx, who.Plugin, notCalled(c, who), l)
	case !now.Before(l.at):
		return nil, tooLate(who.Plugin, notCalled(c, who), l)
	}
	link := who.through()
	to, local := link.(*port)
	switch {
	case !local && c.Feed != nil && !takesFeed(who):
		return nil, failure(protocol.CodeInvalid, who.Plugin, fmt.Sprintf(
			"%s of plugin %s was not called: the wire of %s has no request streams: give the call an input", c.Key, who.Plugin, who.man.Dialect))
	case streams(c, l):
		return h.throughStream(ctx, link, who, n.own(c, l), l)
	case local:
		return h.throughPort(ctx, to, n.own(c, l), l)
	}
	return h.throughPeer(ctx, who, c, n, l, now)
}

// tally is what is known of a call that is counted.
type tally struct {
	// root is its Root, and isLone tells that it is a number of its own: no other call led
	// to it.
	root   uint64
	isLone bool
	// began is zero if nobody is to be told of it.
	began time.Time
}

// own is the call as its callee gets it.
func (n tally) own(c *protocol.Call, l limit) protocol.Call {
	own := *c
	own.Deadline, own.Root = l.at, n.root
	return own
}

// count counts a call that a session is to serve, until countOut.
func (h *Host) count(who *handle, c *protocol.Call) (n tally) {
	if n.root = c.Root; n.root == 0 {
		n.root, n.isLone = h.rootOf(c), c.Cause == nil
	}
	if who.untold {
		who.serves.begin(c, n)
	}
	if h.wants(KindCall) {
		n.began = time.Now()
	}
	return n
}

// countOut counts it out, and tells of it.
func (h *Host) countOut(who *handle, c *protocol.Call, n tally, result json.RawMessage, err error) {
	if who.untold {
		who.serves.end(c, n)
	}
	failed := who.tally(c.Key, result, err)
	if !n.began.IsZero() {
		h.tellCalled(who, *c, n.began, failed)
	}
}

// takesFeed tells whether a plugin's wire knows request streams.
func takesFeed(who *handle) bool {
	_, ok := who.dialect.(protocol.Streaming)
	return ok
}

func notCalled(c *protocol.Call, who *handle) string {
	return c.Key + " of plugin " + who.Plugin + " was not called"
}

func notAnswered(c *protocol.Call, who *handle) string {
	return c.Key + " of plugin " + who.Plugin + " did not answer"
}

func outcomeUnknown(plugin, key, why string) *protocol.Error {
	return failure(protocol.CodeOutcomeUnknown, plugin,
		fmt.Sprintf("outcome unknown: %s was in flight at plugin %s: %s", key, plugin, why))
}

// gaveUp says why the caller stopped waiting, and which limit it was.
func gaveUp(ctx context.Context, plugin, what string, l limit) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, context.DeadlineExceeded) {
		return &protocol.Error{Code: protocol.CodeCancelled, Plugin: plugin, Message: what + ": the caller gave up", Err: cause}
	}
	return tooLate(plugin, what, l)
}

func tooLate(plugin, what string, l limit) error {
	return failure(protocol.CodeTimeout, plugin, fmt.Sprintf("%s before the deadline (%s)", what, l.source))
}

// toolFailure is a tool's result that says in its "error" that the call failed.
func toolFailure(result json.RawMessage) error {
	if !bytes.Contains(result, []byte(`"error"`)) && !bytes.Contains(result, []byte(`\u`)) {
		return nil
	}
	var members map[string]json.RawMessage // whose keys are exact, as a struct's are not
	if err := json.Unmarshal(result, &members); err != nil {
		return nil //nolint:nilerr // a result of another shape is a result
	}
	var text string
	if err := json.Unmarshal(members["error"], &text); err != nil || text == "" {
		return nil //nolint:nilerr // so is one whose "error" is no text
	}
	return &protocol.PeerError{Message: text, Data: result}
}

// serveWith asks a service of the host.
func (h *Host) serveWith(ctx context.Context, s protocol.Service, c protocol.Call) (json.RawMessage, error) {
	if l := (limit{at: c.Deadline, source: "the call's own deadline", idle: max(c.Idle, 0), idleSource: "the call's own idle limit"}); streams(&c, l) {
		return h.throughStream(ctx, server{h, s}, nil, c, l)
	}
	if !c.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, c.Deadline)
		defer cancel()
	}
	return contained(ctx, s, c)
}

func contained(ctx context.Context, s protocol.Service, c protocol.Call) (result json.RawMessage, err error) {
	err = contain(func() (err error) {
		result, err = s.Serve(ctx, c)
		return err
	})
	return result, err
}

// server is a service as the callee of a call with a stream.
type server struct {
	host    *Host
	service protocol.Service
}

func (s server) invoke(c *call) {
	s.host.sys.servers.Schedule(func() {
		c.complete(contained(c.ctx, s.service, c.Call))
	})
}

// cancel has nothing to tell, since the call's context has ended.
func (server) cancel(*call, string) {}
