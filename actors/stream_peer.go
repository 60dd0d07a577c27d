package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/ndjson"
)

// The streams of a peer: what it sends of a call that it answers, and what it is sent.

// recall ends the reader's standing by: who takes a stream has no time to receive. It
// is called under the lock.
func (p *peer) recall() {
	if p.who == nobody {
		p.who = theReader
		p.resume <- struct{}{}
	}
}

// progress puts an item of a call where its caller takes it. It runs under the lock.
func (p *peer) progress(e protocol.Progress) {
	c := p.calls[e.ID]
	if c != nil && c.stream != nil {
		c.stream.touch()
	}
	switch {
	case e.Item == nil: // a sign of life
	case c == nil || c.stream == nil || c.stream.follow == nil:
		p.host.drop(p.h, "progress", "nobody follows the call", 1)
	default:
		p.queue(c, e)
	}
}

// queue lets an item wait for its caller. Where too much waits, one that the result has
// again is dropped; else the call ends.
func (p *peer) queue(c *call, e protocol.Progress) {
	waiting := c.stream.backlog
	taken, full := waiting.put(e.Item)
	if full == nil {
		if !taken {
			c.stream.lose(1, tookNoMore)
		}
		p.crowd = waiting
		return
	}
	if e.Spare {
		c.stream.lose(1, c.Key+": its caller is too slow")
		p.crowd = waiting
		return
	}
	c.stream.lose(waiting.leave()+1, c.Key+": its caller is too slow")
	delete(p.calls, c.id)
	c.complete(nil, failure(protocol.CodeOverloaded, p.h.Plugin, fmt.Sprintf(
		"%s of plugin %s sends faster than its caller takes: %s: take its items faster, or raise the host's limit", c.Key, p.h.Plugin, full)))
	p.step(protocol.Cancel{ID: c.id, Reason: "overloaded"})
}

// feed sends a call's request stream to the peer, as far as that has room.
func (p *peer) feed(s *stream, one *call) {
	awaited := func() bool { return p.calls[one.id] == one }
	s.pull(func(f fedItem) bool {
		var in protocol.Input = protocol.Feed{ID: one.id, Item: f.item}
		if f.over {
			in = protocol.FeedEnd{ID: one.id, Err: f.err}
		}
		err := p.deliver(s.ctx, in, f.item, awaited)
		if ofTheItem(err) && s.ctx.Err() == nil {
			e := failure(protocol.CodeInvalid, p.h.Plugin, fmt.Sprintf("the request stream of %s of plugin %s cannot be sent", one.Key, p.h.Plugin))
			e.Err = err
			s.end(e, "not sent")
		}
		return err == nil
	})
}

// ofTheItem tells that one item cannot be sent. That its call or the connection is over
// is told elsewhere: whoever calls hears that, and not that the item did not get there.
func ofTheItem(err error) bool {
	_, ended := errors.AsType[endedError](err)
	return err != nil && !ended && !errors.Is(err, errNotAwaited)
}

// deliver gives the driver an input that is part of a stream. Where the peer has no
// room for its frame it waits, until ctx ends, and leaves the lock to others meanwhile.
// It fails at once when the call is not awaited any more.
func (p *peer) deliver(ctx context.Context, in protocol.Input, payload json.RawMessage, awaited func() bool) error {
	if err := p.fits(payload); err != nil {
		return err
	}
	next := func() ([][]byte, error) { return p.tell(in, awaited) }
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if !p.isBusy() {
			held, err := next()
			if err != nil || len(held) == 0 {
				return err
			}
			next = func() ([][]byte, error) { return p.release(in, held, awaited) }
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// How long a stream pauses when its peer has no room: at first, and at most.
const (
	firstPause   = time.Millisecond
	longestPause = 64 * time.Millisecond
)

// errNotAwaited tells that a stream's call is over.
var errNotAwaited = errors.New("nobody waits for it any more")

// tell gives the driver the input, and returns the frames that found no room.
func (p *peer) tell(in protocol.Input, awaited func() bool) (held [][]byte, err error) {
	p.lock()
	defer p.unlock()
	if p.closed || !awaited() {
		return nil, errNotAwaited
	}
	p.step(in)
	held, err = p.held, p.unsaid
	p.held, p.unsaid = nil, nil
	if len(held) == 0 && err == nil {
		p.heardOf(in)
	}
	return held, err
}

// heardOf notes that the peer has got a frame of a call that has a request stream. It
// runs under the lock.
func (p *peer) heardOf(in protocol.Input) {
	var id protocol.CallID
	switch in := in.(type) {
	case protocol.Invoke:
		id = in.ID
	case *protocol.Invoke:
		if !in.Feeds {
			return
		}
		id = in.ID
	case protocol.Feed:
		id = in.ID
	case protocol.FeedEnd:
		id = in.ID
	}
	if c := p.calls[id]; c != nil {
		c.unheard = false
	}
}

// say sends a frame of a stream, or holds it for want of room. It runs under the lock.
func (p *peer) say(m protocol.Message) {
	frame, err := p.encode(m)
	if err == nil {
		err = transport.ErrFull // behind what is held
		if len(p.held) == 0 {
			err = p.putPart(frame)
		}
	}
	switch {
	case errors.Is(err, transport.ErrFull):
		p.held = append(p.held, bytes.Clone(frame))
	case err != nil && p.unsaid == nil:
		p.unsaid = err
	}
}

// putPart sends a frame of a stream, and tells if it fails because the connection is over.
func (p *peer) putPart(frame []byte) error {
	err := p.put(frame)
	if err != nil && !refused(err) {
		err = endedError{err}
	}
	return err
}

// release tries again to send what was held, and returns what still is.
func (p *peer) release(in protocol.Input, held [][]byte, awaited func() bool) ([][]byte, error) {
	p.lock()
	defer p.unlock()
	for len(held) > 0 {
		if p.closed || !awaited() {
			return nil, errNotAwaited
		}
		switch err := p.putPart(held[0]); {
		case errors.Is(err, transport.ErrFull):
			return held, nil
		case err != nil:
			return nil, err
		}
		p.heardOf(in)
		held = held[1:]
	}
	return nil, nil
}

// The share of what may wait for a worker that streams take; the rest is for calls,
// which do not wait for room.
const (
	busyRecords = 512
	busyBytes   = 2 << 20
)

// isBusy tells that so much waits for the peer that a stream is to pause.
func (p *peer) isBusy() bool {
	return p.worker != nil && isMuch(p.worker.Stats().Sent)
}

func isMuch(sent ndjson.Stats) bool {
	return sent.QueuedRecords >= busyRecords || sent.QueuedBytes >= busyBytes
}
