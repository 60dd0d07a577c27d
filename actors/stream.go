package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Calls with more than an input and a result. Their caller follows them, feeds them
// with a request stream, or bounds them by an idle limit:
//
//	handler ─▶ offers ──┐
//	                    ├─▶ the caller's own goroutine, in Invoke ─▶ Call.Progress
//	peer ─▶ backlog ────┘
//	Call.Feed, on a goroutine of the call's ─▶ handler, or peer
//
// A handler waits until its item is taken. A peer cannot be made to wait but for a
// moment, since all its calls share one wire: what is too much for the backlog ends its
// call.

// stream is what such a call has while it is in flight; other calls have none.
type stream struct {
	host *Host
	// who is called; nil for a service of the host.
	who *handle
	// ctx ends with the call, by its limits, and when its caller gives up.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// caller is the context of whoever calls.
	caller context.Context
	// release frees the deadline's timer; nil if there is no deadline.
	release context.CancelFunc
	// follow and source are the caller's Progress and Feed, or nil.
	follow func(json.RawMessage) error
	source iter.Seq2[json.RawMessage, error]
	// missed is the caller's Missed, or nil.
	missed *atomic.Uint64
	// offers hands a handler's items over to the caller, backlog a peer's.
	offers  chan handover
	backlog *backlog
	// idle is the idle limit, 0 for none, and bell rings at it.
	idle time.Duration
	bell *time.Timer
	// isRead tells that the request stream was read.
	isRead atomic.Bool
}

// handover is an item that waits to be taken.
type handover struct {
	item  json.RawMessage
	taken chan error
}

// cutOff is why the host itself ended a call: what its caller is told, and for the
// callee a reason in a word.
type cutOff struct {
	of     *stream
	err    error
	reason string
}

func (e *cutOff) Error() string { return e.err.Error() }
func (e *cutOff) Unwrap() error { return e.err }

// callee is who answers a call: a session's link, or a service.
type callee interface {
	invoke(*call)
	cancel(*call, string)
}

var _ callee = link(nil)

// streams tells whether a call is one with a stream.
func streams(c *protocol.Call, l limit) bool {
	return c.Progress != nil || c.Feed != nil || l.idle > 0
}

// throughStream makes such a call. who is nil for a service of the host.
func (h *Host) throughStream(ctx context.Context, to callee, who *handle, c protocol.Call, l limit) (json.RawMessage, error) {
	s := h.newStream(ctx, who, c, l)
	defer s.close()
	one := &call{Call: s.seen(c), ctx: s.ctx, done: make(chan struct{}, 1), stream: s}
	answered := context.AfterFunc(s.ctx, func() { one.giveUp(to, s.reason()) })
	p, isPeer := to.(*peer)
	if local, ok := to.(*port); ok {
		defer context.AfterFunc(local.life, func() { s.end(outcomeUnknown(who.Plugin, c.Key, "it has ended"), "ended") })()
	}
	to.invoke(one)
	if isPeer {
		sent(ctx, &c)
	}
	if isPeer && s.source != nil {
		go p.feed(s, one)
	}
	a := s.attend(one)
	answered()
	if a.err == errLate || !isPeer && a.err != nil && s.ctx.Err() != nil { //nolint:errorlint // the value itself; a handler may be quicker to say so
		return nil, s.why(c, l)
	}
	return a.result, a.err
}

// newStream begins what the call has; its idle limit runs from now on.
func (h *Host) newStream(ctx context.Context, who *handle, c protocol.Call, l limit) *stream {
	s := &stream{host: h, who: who, caller: ctx, follow: c.Progress, source: c.Feed, missed: c.Missed, offers: make(chan handover), backlog: newBacklog(h.boundsOf(who).limits), idle: l.idle}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if !l.at.IsZero() {
		s.ctx, s.release = context.WithDeadline(s.ctx, l.at)
	}
	if s.idle > 0 {
		quiet := failure(protocol.CodeTimeout, s.plugin(), fmt.Sprintf(
			"%s of %s made no progress for %s (%s)", c.Key, s.callee(), s.idle, l.idleSource))
		s.bell = time.AfterFunc(s.idle, func() { s.end(quiet, "idle") })
	}
	return s
}

// close ends what still goes on.
func (s *stream) close() {
	s.cancel(nil)
	if s.release != nil {
		s.release()
	}
	if s.bell != nil {
		s.bell.Stop()
	}
	if n := s.backlog.leave(); n > 0 {
		s.lose(n, tookNoMore)
	}
}

// tookNoMore is why items are lost of a call that is over.
const tookNoMore = "its caller took no more"

// lose counts items that the caller does not get.
func (s *stream) lose(n int, why string) {
	s.host.drop(s.who, "progress", why, uint64(n))
	if s.missed != nil {
		s.missed.Add(uint64(n))
	}
}

// seen is the call as the callee sees it.
func (s *stream) seen(c protocol.Call) protocol.Call {
	if s.follow != nil {
		c.Progress = s.hand
	}
	if s.idle > 0 {
		c.Alive = s.touch
	}
	if s.source != nil {
		c.Feed = s.feed
	}
	return c
}

func (s *stream) plugin() string {
	if s.who == nil {
		return ""
	}
	return s.who.Plugin
}

// callee is who is called, for errors.
func (s *stream) callee() string {
	if s.who == nil {
		return "the host"
	}
	return "plugin " + s.who.Plugin
}

// touch starts the idle limit anew.
func (s *stream) touch() {
	if s.bell != nil && s.ctx.Err() == nil {
		s.bell.Reset(s.idle)
	}
}

// answered ends the idle limit: what time the caller still takes is its own.
func (s *stream) answered() {
	if s.bell != nil {
		s.bell.Stop()
	}
}

// end ends the call for a reason of the host's.
func (s *stream) end(err error, reason string) { s.cancel(&cutOff{s, err, reason}) }

// cutOff is how the host ended the call; nil if it has not, or if its time is over.
func (s *stream) cutOff() *cutOff {
	if e, ok := context.Cause(s.ctx).(*cutOff); ok && e.of == s { //nolint:errorlint // a call around this one may have been ended, too
		return e
	}
	return nil
}

// why is the error of a call that was given up.
func (s *stream) why(c protocol.Call, l limit) error {
	if e := s.cutOff(); e != nil {
		return e.err
	}
	return gaveUp(s.ctx, s.plugin(), c.Key+" of "+s.callee()+" did not answer", l)
}

// reason is the same for the callee.
func (s *stream) reason() string {
	if e := s.cutOff(); e != nil {
		return e.reason
	}
	return reasonOf(s.ctx)
}

// giveUp ends a call that nobody waits for any more, and tells its callee.
func (c *call) giveUp(to callee, reason string) {
	if c.over.CompareAndSwap(false, true) {
		to.cancel(c, reason)
		c.answer.err = errLate
		c.done <- struct{}{}
	}
}

// attend gives the caller what comes, until the answer does. What a peer sent before
// its answer comes before it.
func (s *stream) attend(one *call) answer {
	for whole := true; ; {
		select {
		case h := <-s.offers:
			h.taken <- s.follow(h.item)
		case <-s.backlog.wake:
			whole = s.passOn() && whole
		case <-one.done:
			a := one.answer
			if whole = s.passOn() && whole; !whole && a.err == nil {
				a = answer{err: errLate}
			}
			return a
		}
	}
}

// passOn gives the caller what waits, and tells whether that was all: the call may end
// meanwhile. A caller who refuses an item of a peer's has had enough of the call.
func (s *stream) passOn() bool {
	for {
		item, some, _, _ := s.backlog.take()
		if !some {
			return true
		}
		if s.ctx.Err() != nil {
			s.lose(1, tookNoMore)
			return false
		}
		if err := s.follow(item); err != nil {
			s.end(err, "refused")
			return false
		}
	}
}

// hand is what a handler reports its items by: it waits until the caller has taken
// the item, or the call is over. What time the caller takes is not the handler's.
func (s *stream) hand(item json.RawMessage) error {
	if s.bell != nil {
		s.bell.Stop()
		defer s.touch()
	}
	h := handover{item, make(chan error, 1)}
	select {
	case s.offers <- h:
	case <-s.ctx.Done():
		return s.over()
	}
	select {
	case err := <-h.taken:
		return err
	case <-s.ctx.Done():
		return s.over()
	}
}

// over is the error of what comes after the end.
func (s *stream) over() error {
	return &protocol.Error{Code: protocol.CodeCancelled, Message: "the call is over", Err: context.Cause(s.ctx)}
}
