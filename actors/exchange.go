package actors

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// How a call goes through its session's link, and how its caller waits.

// throughPort calls compiled-in code, which gets a context that ends with the call.
func (h *Host) throughPort(ctx context.Context, to *port, c protocol.Call, l limit) (json.RawMessage, error) {
	ctx, cancel := context.WithDeadline(ctx, l.at)
	defer cancel()
	one := h.newCall()
	one.Call, one.ctx = c, ctx
	to.invoke(one)
	select {
	case <-one.done:
		a := one.answer
		h.recycle(one)
		if a.err == nil || ctx.Err() == nil {
			return a.result, a.err
		}
		return nil, gaveUp(ctx, to.h.Plugin, notAnswered(&c, to.h), l) // the callee was quicker to say so
	case <-ctx.Done():
	case <-to.left():
	}
	if !one.over.CompareAndSwap(false, true) { // the answer came with the bell
		<-one.done
		if one.answer.err == nil {
			return one.answer.result, nil
		}
	} else {
		to.cancel(one, reasonOf(ctx))
	}
	if ctx.Err() != nil {
		return nil, gaveUp(ctx, to.h.Plugin, notAnswered(&c, to.h), l)
	}
	return nil, outcomeUnknown(to.h.Plugin, c.Key, "it has ended")
}

// errLate completes a call whose time is over.
var errLate = errors.New("the call's time is over")

// throughPeer calls whatever is at the far end of a connection, which completes all
// calls when it ends. Nobody there gets a context, so that a timer of the call's own
// is enough, which is used again with the call.
func (h *Host) throughPeer(ctx context.Context, who *handle, c *protocol.Call, n tally, l limit, now time.Time) (json.RawMessage, error) {
	one := h.newCall()
	one.Call = *c
	one.Deadline, one.Root = l.at, n.root
	one.began = now
	one.ring(l.at.Sub(now))
	link := who.through()
	link.invoke(one)
	sent(ctx, c)
	if done := ctx.Done(); done == nil {
		<-one.done
	} else {
		select {
		case <-one.done:
		case <-done:
			if one.over.CompareAndSwap(false, true) {
				one.bell.Stop()
				link.cancel(one, reasonOf(ctx))
				one.Call = protocol.Call{} // a bell that was stopped may be kept until its time
				return nil, gaveUp(ctx, who.Plugin, notAnswered(c, who), l)
			}
			<-one.done // the answer came with the bell
		}
	}
	a := one.answer
	if a.err == errLate { //nolint:errorlint // the value itself, from the bell
		link.cancel(one, "deadline")
		return nil, tooLate(who.Plugin, notAnswered(c, who), l)
	}
	if one.bell.Stop() { // else it may ring for whoever has the call next
		h.recycle(one)
	}
	return a.result, a.err
}

// ring completes the call as too late after a while.
func (c *call) ring(after time.Duration) {
	if c.bell != nil {
		c.bell.Reset(after)
		return
	}
	c.bell = time.AfterFunc(after, func() { c.complete(nil, errLate) })
}

// reasonOf is what the callee is told of a call that is given up.
func reasonOf(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return "deadline"
	}
	return "cancelled"
}

// newCall takes a call from the pool: most of a short call's cost is making one.
func (h *Host) newCall() *call {
	if c, ok := h.pool.Get().(*call); ok {
		return c
	}
	return &call{done: make(chan struct{}, 1)}
}

// recycle puts a call back that was answered. One that its caller gave up does not
// come here, since its answer may still come.
func (h *Host) recycle(c *call) {
	c.Call, c.ctx, c.id, c.answer = protocol.Call{}, nil, 0, answer{}
	c.over.Store(false)
	h.pool.Put(c)
}
