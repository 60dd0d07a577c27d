package plugin

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/airi-host/airi-host/protocol"
)

// Why the context of a route's handler has ended, as [context.Cause] tells.
var (
	// ErrRouteStopped: the host wants the program to end, and hears how it did.
	ErrRouteStopped = errors.New("the host has stopped the program")
	// ErrRouteClosed: the host wants the route no more.
	ErrRouteClosed = errors.New("the host has closed the route")
)

// routePiece is how much of a write is handed on at once, in bytes: a chunk of the wire's
// smallest kind.
const routePiece = 256 << 10

// Route is the plugin's end of a terminal or a channel, as an [io.ReadWriteCloser]: what is
// read is what the host has written, and the other way round. How the bytes were cut means
// nothing. Its handler
//
//   - calls [Route.Accept] when the program runs, or returns why it does not;
//   - moves bytes until the program has ended, or its context has;
//   - ends all that it has started, and returns how the program ended.
//
// The host learns of that end when the handler returns, behind all that was written. Its
// close is answered then, and not before: a handler that does not return within the ten
// seconds that a host waits has the host end the worker. The context ends when the host
// stops the program or closes the route, and with the worker. An error that is returned
// once the route was accepted is logged, and the host is told that nobody knows how the
// program ended, unless the exit has a status.
//
// All methods may be called from any number of goroutines. One that is still in Read or
// Write when the handler has returned, or the host has closed the route, comes back.
type Route struct {
	w  *worker
	id protocol.RouteID
	// cancel ends the handler's context; gone ends when nobody reads what is written.
	cancel context.CancelCauseFunc
	gone   context.Context
	leave  context.CancelFunc
	// accepted tells that the host was told that the route is open.
	accepting sync.Once
	accepted  atomic.Bool

	// writing is held for the whole of a Write.
	writing sync.Mutex

	mu sync.Mutex
	// waiting is what the host has written and nobody has read; the wire's machine bounds
	// it.
	waiting [][]byte
	// arrived is signaled when waiting or over changes.
	arrived sync.Cond
	over    bool
}

var _ io.ReadWriteCloser = (*Route)(nil)

// newRoute returns a route and the context of its handler.
func newRoute(w *worker, id protocol.RouteID) (*Route, context.Context) {
	r := &Route{w: w, id: id}
	r.arrived.L = &r.mu
	ctx, cancel := context.WithCancelCause(w.ctx)
	r.cancel = cancel
	r.gone, r.leave = context.WithCancel(w.ctx)
	return r, ctx
}

// Accept tells the host that the route is open. Nothing can be read or written before. It
// returns [ErrRouteClosed] where the host waits no more.
func (r *Route) Accept() error {
	r.accepting.Do(func() {
		r.w.step(protocol.AcceptRoute{ID: r.id})
		r.accepted.Store(true)
		r.w.out.flush(false)
	})
	if r.gone.Err() != nil {
		return ErrRouteClosed
	}
	return nil
}

// Read returns what the host has written, and waits for it. It returns io.EOF when there is
// no more: the route is closed. What was written before that and not read is lost.
func (r *Route) Read(p []byte) (int, error) {
	n, taken, err := r.take(p)
	if taken > 0 {
		r.w.step(protocol.TakeRoute{ID: r.id, Chunks: taken})
		r.w.out.flush(false)
	}
	return n, err
}

// take copies what waits into p, and tells how many writes of the host's were used up.
func (r *Route) take(p []byte) (n, taken int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.waiting) == 0 && !r.over && len(p) > 0 {
		r.arrived.Wait()
	}
	if r.over {
		return 0, 0, io.EOF
	}
	for len(r.waiting) > 0 && n < len(p) {
		c := copy(p[n:], r.waiting[0])
		n += c
		if r.waiting[0] = r.waiting[0][c:]; len(r.waiting[0]) == 0 {
			r.waiting = r.waiting[1:]
			taken++
		}
	}
	return n, taken, nil
}

// Write sends bytes to the host, and waits while it is behind. To a terminal they are text,
// and what is no UTF-8 becomes U+FFFD; a character may be written in parts. It returns
// io.ErrClosedPipe when the route is closed, or was not accepted.
func (r *Route) Write(p []byte) (int, error) {
	r.writing.Lock()
	defer r.writing.Unlock()
	n := 0
	for n < len(p) {
		if !r.accepted.Load() || r.gone.Err() != nil {
			return n, io.ErrClosedPipe
		}
		piece := p[n:min(len(p), n+routePiece)]
		if r.w.out.room(r.gone); r.gone.Err() != nil {
			continue
		}
		r.w.step(protocol.WriteRoute{ID: r.id, Data: piece})
		r.w.out.flush(false)
		n += len(piece)
	}
	return n, nil
}

// Close ends the reading and the writing of this end. The host learns of nothing before the
// handler returns. It returns nil.
func (r *Route) Close() error {
	r.end()
	return nil
}

// end lets go whoever reads and writes.
func (r *Route) end() {
	r.leave()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over, r.waiting = true, nil
	r.arrived.Broadcast()
}

// arrive takes what the host has written.
func (r *Route) arrive(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.waiting = append(r.waiting, data)
		r.arrived.Broadcast()
	}
}
