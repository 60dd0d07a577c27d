package actors

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// Route is a live stream between the host and one session: a pseudo-terminal or a duplex
// channel, opened by [Host.OpenPTY] or [Host.OpenDuplex]. It is an io.ReadWriteCloser; all
// of its methods may be called from any goroutine.
//
//	peer ─▶ queue ─▶ Read       more than the queue holds ends the route
//	Write ─▶ room ─▶ peer       waits until the peer has taken what was written before
//
// It ends when its owner closes it, its context ends, its program has ended, a limit is
// reached, or its session ends; whatever came before is still read. A Route that is not
// used any more has to be closed: it is one of those that there may be at once.
//
// A route is an actor whose mailbox is its peer's lock: what it accepts are the driver's
// effects and its owner's wishes, in the order of the wire, so that it is over before the
// end of its session is told. Its phase is by the table lifecycle.Route.
type Route struct {
	peer *peer
	id   protocol.RouteID
	kind protocol.RouteKind
	// ctx ends with the route.
	ctx    context.Context
	cancel context.CancelFunc
	// chunks are what came and was not read yet.
	chunks *backlog

	// reads is held by whoever reads; rest is what it has left of a chunk, isRead that it
	// was told that there is a reader.
	reads  sync.Mutex
	rest   []byte
	isRead bool
	// writes is held by whoever writes.
	writes sync.Mutex

	// mu guards what follows. It is taken behind the peer's lock, and never around it.
	mu    sync.Mutex
	phase lifecycle.State
	// begun closes when it is open, or known that it never will be; refused is why.
	begun   chan struct{}
	refused error
	// settled closes when all is known of its program's end that ever will be: exit, and
	// reason where that is not known.
	settled chan struct{}
	exit    protocol.Exit
	hasExit bool
	// over closes when nothing may be written any more; reason is why it has ended, nil
	// for a good end.
	over   chan struct{}
	isOver bool
	reason error
	// isClosed tells that its owner wants it no more.
	isClosed bool
	// room is what may be in flight to the peer, sent and sentBytes what is; roomy has a
	// value when some has come back.
	room            protocol.Room
	sent, sentBytes int
	roomy           chan struct{}
	// isCounted tells that it is one of those that are open.
	isCounted bool
	// linger closes the route for its owner, once its program has ended.
	linger *time.Timer
}

var _ io.ReadWriteCloser = (*Route)(nil)

func newRoute(ctx context.Context, p *peer, kind protocol.RouteKind) *Route {
	r := &Route{
		peer: p, kind: kind, chunks: newChunkQueue(p.h.bounds.limits), phase: lifecycle.RouteReserved,
		begun: make(chan struct{}), settled: make(chan struct{}), over: make(chan struct{}), roomy: make(chan struct{}, 1),
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// Plugin is whose route it is, and Session the id of the session.
func (r *Route) Plugin() string { return r.peer.h.Plugin }

// Session is the id of the session that the route ends with.
func (r *Route) Session() string { return r.peer.h.Session }

// Phase is where the route stands in the table lifecycle.Route.
func (r *Route) Phase() lifecycle.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.phase
}

// Read reads what the peer sends, how it is cut meaning nothing. At the end of a route
// whose program has ended it returns io.EOF, after Close io.ErrClosedPipe, else why the
// route has ended, a *protocol.Error as a rule.
func (r *Route) Read(b []byte) (int, error) {
	r.reads.Lock()
	defer r.reads.Unlock()
	if len(b) == 0 {
		return 0, nil
	}
	if !r.isRead {
		r.isRead = true
		r.peer.route(protocol.ReadRoute{ID: r.id})
	}
	if !r.hasOwner() {
		r.rest = nil
	}
	for len(r.rest) == 0 {
		item, some, over, err := r.chunks.take()
		switch {
		case some:
			r.rest = item
		case over:
			r.drained()
			return 0, r.endOfReading(err)
		default:
			<-r.chunks.wake
		}
	}
	return r.fill(b), nil
}

// fill gives what is there, as far as it fits: a terminal's chunks are small, and whoever
// takes them one by one is slower than a program that says a lot.
func (r *Route) fill(b []byte) (n int) {
	for {
		part := copy(b[n:], r.rest)
		n += part
		if r.rest = r.rest[part:]; len(r.rest) > 0 {
			return n
		}
		r.rest = nil // its memory is the chunk's
		if n == len(b) {
			return n
		}
		if r.rest, _, _, _ = r.chunks.take(); len(r.rest) == 0 {
			return n // the end, if that is it, is told by the next read
		}
	}
}

func (r *Route) hasOwner() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.isClosed
}

func (r *Route) endOfReading(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.isClosed:
		return io.ErrClosedPipe
	case err == nil || r.hasExit:
		return io.EOF
	}
	return err
}

// Write sends bytes to the peer. It waits while more is on its way than the wire allows,
// until the peer has taken some of that. It fails when the route is over: with why, and
// with io.ErrClosedPipe after Close. To have been written is not to have been understood.
//
// On a wire of text (Paperclip's pseudo-terminals) the part of a character at the end of a
// write goes with the next one.
func (r *Route) Write(b []byte) (n int, err error) {
	r.writes.Lock()
	defer r.writes.Unlock()
	for n < len(b) {
		part, err := r.take(len(b) - n)
		if err != nil {
			return n, err
		}
		data := b[n : n+part]
		err = r.peer.deliver(r.ctx, protocol.WriteRoute{ID: r.id, Data: data}, data, r.isWritable)
		if err != nil {
			return n, r.endOfWriting(err)
		}
		n += part
	}
	return n, r.endOfWriting(nil)
}

// take takes room for a write of at most size bytes, and waits for it.
func (r *Route) take(size int) (part int, err error) {
	for {
		if part = r.tryTake(size); part > 0 {
			return part, nil
		}
		select {
		case <-r.roomy:
		case <-r.over:
			return 0, r.endOfWriting(io.ErrClosedPipe)
		}
	}
}

// tryTake is take without waiting. Writes are not cut into pieces for want of a little.
func (r *Route) tryTake(size int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	want := min(size, r.room.Write, r.room.Bytes)
	free := min(r.room.Bytes-r.sentBytes, want)
	if r.isOver || r.sent >= r.room.Writes || free < want && free < r.room.Bytes/4 {
		return 0
	}
	r.sent++
	r.sentBytes += free
	return free
}

func (r *Route) isWritable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.isOver
}

// endOfWriting is the error of a write that failed for another one, if the route is over.
func (r *Route) endOfWriting(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil || !r.isOver:
		return err
	case r.isClosed:
		return io.ErrClosedPipe
	case r.hasExit:
		return failure(protocol.CodeNotReady, r.Plugin(), r.text()+" is not written to: its program has ended")
	case r.reason != nil:
		return r.reason
	}
	return err
}

// text names the route in errors.
func (r *Route) text() string { return fmt.Sprintf("the %s of plugin %s", r.kind, r.Plugin()) }

// Stop asks that the route's program is ended. Wait tells when it has.
func (r *Route) Stop() { r.peer.route(protocol.StopRoute{ID: r.id}) }

// Close ends the route. What was not read yet is dropped, and the peer is asked to end the
// program; one that does not confirm that within the wire's limit (Paperclip's: 10 s) is
// ended itself, and stays failed. Close does not wait for it. It may be called again, and
// returns nil.
func (r *Route) Close() error {
	r.mu.Lock()
	r.isClosed = true
	r.mu.Unlock()
	r.chunks.leave()
	r.end()
	return nil
}

// end asks the driver for the route's end.
func (r *Route) end() { r.peer.route(protocol.CloseRoute{ID: r.id}) }

// Wait returns how the route's program ended, as soon as that is known; what it wrote last
// may still have to be read. Where the route ends first, the exit is not known, and the
// error is why it has ended: io.ErrClosedPipe after Close. The end of ctx ends the waiting
// only.
func (r *Route) Wait(ctx context.Context) (protocol.Exit, error) {
	select {
	case <-r.settled:
	case <-ctx.Done():
		return protocol.Exit{}, context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.hasExit:
		return r.exit, nil
	case r.reason != nil:
		return protocol.Exit{}, r.reason
	}
	return protocol.Exit{}, io.ErrClosedPipe
}

// What the driver says of it; the peer's lock is held.

// fire passes into the next phase. What the table has not got is a route that is over
// already.
func (r *Route) fire(e lifecycle.Event) {
	next, err := lifecycle.Route.Fire(r.text(), r.phase, e)
	if err == nil {
		r.phase = next
	}
}

func (r *Route) onOpened(room protocol.Room) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fire(lifecycle.RouteConfirmed)
	r.room = room
	r.countOpened()
	close(r.begun)
}

func (r *Route) onRefused(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fire(lifecycle.RouteRefused)
	if r.reason != nil {
		err = r.reason
	}
	r.refused = err
	close(r.begun)
	r.settle(err)
}

// onChunk queues what came; an error tells that there is no room for it.
func (r *Route) onChunk(data []byte) (taken bool, full error) { return r.chunks.put(data) }

func (r *Route) onWritten(writes, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent -= writes
	r.sentBytes -= bytes
	signal(r.roomy)
}

// onExited: nothing is written any more, and what the program still had to say is taken
// for a while.
func (r *Route) onExited(e protocol.Exit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fire(lifecycle.RoutePeerEnded)
	r.exit, r.hasExit = e, true
	r.settle(nil)
	r.linger = time.AfterFunc(r.peer.h.timeouts.RouteExit, r.end)
}

func (r *Route) onEnded(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason != nil {
		err = r.reason
	}
	if err != nil && !r.hasExit {
		r.fire(lifecycle.RouteFail)
	} else {
		r.fire(lifecycle.RouteEnd)
	}
	r.countEnded()
	r.settle(err)
}

// settle ends what waits for it, once: reason is why, nil for a good end.
func (r *Route) settle(reason error) {
	if !r.isOver {
		r.isOver = true
		close(r.over)
		close(r.settled)
	}
	if r.reason == nil && !r.hasExit {
		r.reason = reason
	}
}

// onDone: no more comes. What is queued can still be read.
func (r *Route) onDone(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason != nil {
		err = r.reason
	}
	r.chunks.end(err)
	if r.linger != nil {
		r.linger.Stop()
	}
	r.cancel()
}

// fail notes why the host itself ends the route, if it is not over already.
func (r *Route) fail(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason == nil && !r.isOver {
		r.reason = why
	}
}

// drained tells that all was read, behind which nothing comes.
func (r *Route) drained() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fire(lifecycle.RouteDrained)
}

// awaitBegin returns when the route is open, or with why it is not.
func (r *Route) awaitBegin() error {
	select {
	case <-r.begun:
	case <-r.ctx.Done():
		r.fail(&protocol.Error{
			Code: protocol.CodeCancelled, Plugin: r.Plugin(), Message: r.text() + " was not opened: the caller gave up", Err: context.Cause(r.ctx),
		})
		r.end()
		<-r.begun // at once: it was refused by that, if not before
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}
