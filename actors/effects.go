package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/ndjson"
)

// What a driver says is done here, in order. All of it runs under the peer's lock.

// step runs the driver once and does what it says, in order, then whatever came
// of that.
func (p *peer) step(in protocol.Input) {
	p.later = append(p.later, in)
	if len(p.later) > 1 {
		return // the loop below is at it
	}
	for i := 0; i < len(p.later) && !p.closed; i++ {
		in := p.later[i]
		effects := p.drive(in)
		if r, ok := in.(protocol.Reply); ok && p.owes {
			p.owes = false
			if len(effects) == 0 {
				p.breakOff(fmt.Errorf("answering plugin %s: %w", p.h.Plugin, r.Err))
			}
		}
		for i, e := range effects {
			p.do(e, in)
			effects[i] = nil
		}
		p.effects = effects[:0]
	}
	clear(p.later)
	p.later = p.later[:0]
}

// drive contains the driver: after a panic the connection cannot go on, and what
// waits is freed at its end.
func (p *peer) drive(in protocol.Input) (effects []protocol.Effect) {
	if p.broken {
		return nil
	}
	err := contain(func() error {
		effects = p.driver.Step(p.timeOf(in), in, p.effects[:0])
		return nil
	})
	if err != nil {
		p.host.logPanic(p.h, err)
		p.broken = true
		p.breakOff(fmt.Errorf("the driver of plugin %s: %w", p.h.Plugin, err))
	}
	return effects
}

// timeOf is when an input happened. The clock is not read again for what arrived together,
// nor for a call that begins.
func (p *peer) timeOf(in protocol.Input) time.Time {
	switch in.(type) {
	case *protocol.Received:
		return p.arrived
	case *protocol.Invoke:
		return p.lent.at
	}
	return time.Now()
}

// breakOff ends the connection with a reason of the host's own.
func (p *peer) breakOff(why error) {
	p.fault = why
	_ = p.conn.Close()
}

func (p *peer) do(effect protocol.Effect, cause protocol.Input) {
	switch e := effect.(type) {
	case protocol.Send:
		p.send(e.Message, cause)
	case *protocol.Complete:
		p.complete(*e, cause)
		*e = protocol.Complete{} // it may be long
	case protocol.Complete:
		p.complete(e, cause)
	case protocol.Progress:
		p.progress(e)
	case protocol.Serve:
		p.serve(e)
	case protocol.Fed:
		p.fed(e)
	case protocol.FedEnd:
		p.fedEnd(e)
	case protocol.Abandon:
		if one, ok := p.serving[e.ID]; ok {
			one.stop()
		}
	case protocol.Ran:
		if _, over := cause.(protocol.Closed); !over { // else lost or ended says it
			p.h.self.tell(ran{p.gen, e.Step, e.Err})
		}
	case protocol.Offered:
		p.gate.take()
		p.h.self.tell(offered{offer: e.Offer, gate: p.gate})
	case protocol.Retracted:
		p.gate.take()
		p.h.self.tell(retracted{key: e.Key, reason: e.Reason, gate: p.gate})
	case protocol.Emitted:
		p.host.publishChannel(p.h, true, e.Event, p.h.phaseNow())
		p.host.heed(p.h, e.Event)
	case protocol.Logged:
		p.host.wireLog(p.h, e)
	case protocol.Streamed:
		p.host.publishStream(p.h, e)
	case protocol.RouteOpened, protocol.RouteRefused, protocol.Chunk, protocol.RouteWritten, protocol.RouteExited, protocol.RouteEnded, protocol.RouteClosed:
		p.routeEffect(e)
	case protocol.Retire:
		p.retire(e.Err)
	case protocol.Absent:
		p.h.self.tell(absent{cmp.Or(e.Reason, unsaid)})
	case protocol.Present:
		p.h.self.tell(absent{})
	case protocol.SetTimer:
		p.setTimer(e)
	case protocol.StopTimer:
		p.stopTimer(e.Timer)
	case protocol.Dropped:
		p.host.drop(p.h, e.What, e.Detail, 1)
	case protocol.Denied:
		p.host.tellDenied(p.h, Denial{What: e.Method, Scope: e.Scope, Grant: e.Grant, Reason: e.Reason})
	case protocol.Fail:
		p.breakOff(e.Err)
	}
}

// send writes one frame. What cannot be written fails the call that it belongs
// to; a frame that belongs to none ends the connection, since the peer would
// wait for it for ever. Where it is the connection that has ended, the reader
// tells why.
func (p *peer) send(m protocol.Message, cause protocol.Input) {
	switch in := cause.(type) {
	case protocol.Cancel:
		if in.ID == p.unsent {
			return
		}
	case protocol.Feed, protocol.FeedEnd, protocol.Report, protocol.WriteRoute:
		p.say(m)
		return
	}
	over, err := p.write(m, cause)
	if err == nil {
		p.heardOf(cause)
		return
	}
	switch in := cause.(type) {
	case protocol.Invoke:
		p.notSent(&in, over, err)
	case *protocol.Invoke:
		p.notSent(in, over, err)
	case protocol.Cancel: // more is owed than may be: its answer will be late, and counted
	case protocol.OpenRoute:
		if !over {
			p.unasked(in, err)
		}
	case protocol.Reply:
		if over {
			p.replyLost(in.ID)
		} else {
			p.replyLess(in, err)
		}
	default:
		if !over {
			p.breakOff(fmt.Errorf("sending to plugin %s: %w", p.h.Plugin, err))
		}
	}
}

// notSent fails a call whose frame was not sent.
func (p *peer) notSent(in *protocol.Invoke, over bool, err error) {
	if over {
		err = endedError{err}
	}
	p.unsent = in.ID
	p.complete(protocol.Complete{ID: in.ID, Err: sendFailure(p.h.Plugin, in.Call.Key, err)}, in)
	p.step(protocol.Cancel{ID: in.ID, Reason: "not sent"})
}

// write tells why a frame was not sent, and whether that is because the connection
// is over. One that finds no room waits, if it has to get there.
func (p *peer) write(m protocol.Message, cause protocol.Input) (over bool, err error) {
	frame, err := p.encode(m)
	if err != nil {
		return false, err
	}
	err = p.put(frame)
	if errors.Is(err, transport.ErrFull) && isOwed(cause) && p.owe(frame) {
		return false, nil
	}
	return err != nil && !refused(err), err
}

// encode makes a frame, which is good until the next one is made.
func (p *peer) encode(m protocol.Message) (frame []byte, err error) {
	err = contain(func() (err error) {
		frame, err = p.codec.Encode(p.frame[:0], m)
		return err
	})
	if err != nil {
		p.host.logPanic(p.h, err)
		return nil, err
	}
	if cap(frame) <= keptFrame {
		p.frame = frame
	}
	p.publishSent(m, frame)
	return frame, nil
}

// publishSent tells whoever watches the wire of a frame: a copy of the message, since
// its parts are the driver's.
func (p *peer) publishSent(m protocol.Message, frame []byte) {
	if !p.host.wants(KindWire) {
		return
	}
	if copies, err := p.codec.Decode(frame); err == nil && len(copies) == 1 {
		m = copies[0]
	}
	p.host.publishWire(p.h, false, m)
}

// refused tells whether a connection refused one frame, and goes on.
func refused(err error) bool {
	return isTooLong(err) || errors.Is(err, transport.ErrFull) || errors.Is(err, ndjson.ErrNewline)
}

// isTooLong tells whether a frame of ours was refused for its length. A connection that
// has ended because of a frame of the peer's says so with an error that wraps another.
func isTooLong(err error) bool {
	_, long := err.(*transport.TooLongError) //nolint:errorlint // see above
	return long
}

// keptFrame is the largest buffer that is kept for the next frame.
const keptFrame = 256 << 10

func sendFailure(plugin, key string, err error) error {
	e := &protocol.Error{Code: protocol.CodeNotReady, Plugin: plugin, Message: key + " of plugin " + plugin + " was not called", Err: err}
	if errors.Is(err, transport.ErrFull) {
		e.Code = protocol.CodeOverloaded
	}
	if isTooLong(err) {
		e.Code = protocol.CodeInvalid
	}
	return e
}

// replyLess answers with an error in place of a result that cannot be sent. If
// that cannot be sent either, or the driver knows the request no more, the
// connection ends.
func (p *peer) replyLess(in protocol.Reply, err error) {
	if in.Err != nil {
		p.breakOff(fmt.Errorf("answering plugin %s: %w", p.h.Plugin, err))
		return
	}
	p.owes = true
	p.step(protocol.Reply{ID: in.ID, Err: fmt.Errorf("the host's answer cannot be sent: %w", err)})
}

// replyLost counts an answer for a peer that is gone.
func (p *peer) replyLost(id protocol.RequestID) {
	p.host.drop(p.h, "lost-reply", p.serving[id].key, 1)
}

// complete ends a call. A driver also completes the calls that it is told to
// cancel; any other completion without a waiting caller is a late answer.
func (p *peer) complete(e protocol.Complete, cause protocol.Input) {
	c := p.calls[e.ID]
	delete(p.calls, e.ID)
	p.answered++
	if c != nil && c.complete(e.Result, e.Err) {
		return
	}
	if _, ours := cause.(protocol.Cancel); !ours {
		p.host.drop(p.h, "late-answer", "", 1)
	}
}

// serve answers a call of the peer on a goroutine of its own, or at once where that
// takes no time; the driver bounds how many there are.
func (p *peer) serve(e protocol.Serve) {
	streams := e.Follows || e.Feeds
	if !streams {
		if result, done, err := p.host.quick(p.h, e.Call); done {
			p.step(protocol.Reply{ID: e.ID, Result: result, Err: err})
			return
		}
	}
	s := &serving{key: e.Call.Key, by: p.h}
	if p.host.publishes(p.h, e.Call) {
		s.turn = p.publishes.follow()
	}
	put(&p.serving, e.ID, s)
	var ctx context.Context = s
	if streams {
		s.flow = p.newFlow(s, &e)
		ctx = s.flow.ctx
	}
	p.host.sys.servers.Schedule(func() {
		s.turn.await(ctx, time.Time{})
		result, err := p.host.serve(ctx, p.h, e.Call)
		s.turn.leave()
		if s.flow != nil {
			result, err = s.flow.close(result, err)
		}
		s.stop()
		if long := p.fits(result); long != nil {
			result, err = nil, fmt.Errorf("the host's answer cannot be sent: %w", long)
		}
		p.lock()
		defer p.unlock()
		if p.closed {
			p.replyLost(e.ID)
		} else {
			p.step(protocol.Reply{ID: e.ID, Result: result, Err: err})
		}
		delete(p.serving, e.ID)
	})
}

func (p *peer) setTimer(e protocol.SetTimer) {
	p.stopTimer(e.Timer)
	var t *time.Timer
	t = time.AfterFunc(e.After, func() {
		p.lock()
		defer p.unlock()
		if p.timers[e.Timer] == t {
			delete(p.timers, e.Timer)
			p.step(protocol.Fired{Timer: e.Timer})
		}
	})
	put(&p.timers, e.Timer, t)
}

func (p *peer) stopTimer(id protocol.TimerID) {
	if t := p.timers[id]; t != nil {
		t.Stop()
		delete(p.timers, id)
	}
}
