package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/airi-host/airi-host/protocol"
)

// flow is what a call has that a peer makes, and follows or feeds.
//
//	Fed ─▶ backlog ─▶ Call.Feed        as fast as it is read; too much ends the call
//	Call.Progress ─▶ Report ─▶ frame   waits for room; what is lost is told
type flow struct {
	peer *peer
	key  string
	// ctx ends with the serving, and when the call fails.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// input is the request stream, nil for none.
	input *backlog

	mu sync.Mutex
	// fault is why the call is answered with an error, whatever its result is.
	fault error
}

// newFlow prepares a call of the peer for what the peer wants of it.
func (p *peer) newFlow(s *serving, e *protocol.Serve) *flow {
	f := &flow{peer: p, key: e.Call.Key}
	f.ctx, f.cancel = context.WithCancelCause(s)
	if e.Feeds {
		f.input = newBacklog(p.h.bounds.limits)
		e.Call.Feed = f.input.all(f.ctx)
	}
	if e.Follows {
		id := e.ID
		e.Call.Progress = func(item json.RawMessage) error { return f.report(s, id, item) }
	}
	return f
}

// fail decides that the call is answered with an error.
func (f *flow) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == nil {
		f.fault = err
	}
}

// report sends an item to the peer. If that fails the peer lacks one, and shall not
// take the result for the end of all of them.
func (f *flow) report(s *serving, id protocol.RequestID, item json.RawMessage) error {
	p := f.peer
	err := p.deliver(f.ctx, protocol.Report{ID: id, Item: item}, item, func() bool { return p.serving[id] == s })
	if err != nil {
		err = fmt.Errorf("an intermediate item of %s cannot be sent: %w", f.key, err)
		f.fail(err)
	}
	return err
}

// close ends it, and returns what the peer is answered.
func (f *flow) close(result json.RawMessage, err error) (json.RawMessage, error) {
	f.cancel(nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != nil {
		return nil, f.fault
	}
	return result, err
}

// fed takes an item of the request stream of a call that the peer makes.
func (p *peer) fed(e protocol.Fed) {
	f := p.flowOf(e.ID)
	if f == nil || f.input == nil {
		p.host.drop(p.h, "feed", "nobody reads it", 1)
		return
	}
	taken, full := f.input.put(e.Item)
	switch {
	case full != nil:
		p.host.drop(p.h, "feed", f.key+": it is read too slowly", uint64(f.input.leave()+1))
		err := failure(protocol.CodeOverloaded, p.h.Plugin, fmt.Sprintf(
			"the request stream for %s comes faster than it is read: %s: send it more slowly, or raise the host's limit", f.key, full))
		f.fail(err)
		f.cancel(err)
	case !taken:
		p.host.drop(p.h, "feed", "nobody reads it", 1)
	default:
		p.crowd = f.input
	}
}

// fedEnd takes its end.
func (p *peer) fedEnd(e protocol.FedEnd) {
	if f := p.flowOf(e.ID); f != nil && f.input != nil {
		f.input.end(e.Err)
	}
}

func (p *peer) flowOf(id protocol.RequestID) *flow {
	if s := p.serving[id]; s != nil {
		return s.flow
	}
	return nil
}
