package admin

import (
	"container/list"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// limited is a listener that has so many connections at a time. The next one takes the
// place of the one that is waited for longest, so that clients which only hold
// connections lock nobody out; where all are at work, it waits for one of them.
//
// A connection is at work while its request is being answered. It is waited for before it
// has sent a whole head of a request, and while the body of one does not come: bytes that
// trickle in make it no younger.
type limited struct {
	net.Listener
	most int
	// pushed counts the connections that made room.
	pushed *atomic.Uint64

	mu   sync.Mutex
	open int
	// idle has those that are waited for, the longest first.
	idle list.List
	// room has an element when there may be some.
	room   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func limit(l net.Listener, n int, pushed *atomic.Uint64) *limited {
	return &limited{Listener: l, most: n, pushed: pushed, room: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Accept returns the next connection once there is room for it. It is for one goroutine.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		entered, longest := l.enter()
		switch {
		case entered:
			return &connection{Conn: conn, of: l}, nil
		case longest != nil:
			l.pushed.Add(1)
			_ = longest.Close() // its room counts, however it closes
			continue
		}
		select {
		case <-l.room:
		case <-l.closed:
			_ = conn.Close() // nobody will answer it
			return nil, net.ErrClosed
		}
	}
}

// enter takes a place, or says who is to make room, if anybody can.
func (l *limited) enter() (entered bool, longest *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open < l.most {
		l.open++
		return true, nil
	}
	if first := l.idle.Front(); first != nil {
		longest, _ = first.Value.(*connection)
	}
	return false, longest
}

// Close ends the listening; connections stay.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// look has Accept look for room again.
func (l *limited) look() {
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// connection makes room when it is closed.
type connection struct {
	net.Conn
	of *limited

	// These are under the listener's lock: gone tells that it was closed, kept that it is no
	// more the server's, idle is its place among those that are waited for, since when.
	gone  bool
	kept  bool
	idle  *list.Element
	since time.Time
	// place is the sort of the place that its request holds; "" for none.
	place string
}

// follow is for http.Server.ConnState. A state that says that bytes have come says nothing:
// whoever has sent some of a request is waited for all the same.
func follow(c net.Conn, state http.ConnState) {
	one, ok := c.(*connection)
	if !ok {
		return
	}
	switch state {
	case http.StateNew, http.StateIdle:
		one.await(time.Now())
	case http.StateHijacked:
		one.work()
		one.keep()
	default: // it is closed, or working marks it
	}
}

// connectionKey is that of a request's connection in its context.
type connectionKey struct{}

// withConnection is for http.Server.ConnContext.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// working marks a connection as being at work while its request is being answered. What
// comes of it behind that, such as a body that nobody has read, is waited for.
func working(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connectionKey{}).(*connection)
		if !ok { // in tests
			next.ServeHTTP(w, r)
			return
		}
		c.work()
		defer func() {
			placed(r, "")
			c.await(time.Now())
		}()
		if r.ContentLength != 0 {
			own := *r // the server has to know its body again: else it waits for much that nobody reads before it answers
			own.Body = &body{r.Body, c, time.Now()}
			r = &own
		}
		next.ServeHTTP(w, r)
	})
}

// body is that of a request, whose connection is waited for since its head was there.
type body struct {
	io.ReadCloser
	of    *connection
	since time.Time
}

func (b *body) Read(p []byte) (int, error) {
	b.of.await(b.since)
	defer b.of.work()
	return b.ReadCloser.Read(p)
}

// await notes that it is waited for, since a time.
func (c *connection) await(since time.Time) {
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	c.leaveIdle()
	if c.gone || c.kept {
		return
	}
	c.since = since
	before := l.idle.Back()
	for before != nil && before.Value.(*connection).since.After(since) { //nolint:forcetypeassert // there are no others
		before = before.Prev()
	}
	if before == nil {
		c.idle = l.idle.PushFront(c)
	} else {
		c.idle = l.idle.InsertAfter(c, before)
	}
	l.look()
}

// work notes that it is at work.
func (c *connection) work() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.leaveIdle()
}

// keep has it at work until it is closed.
func (c *connection) keep() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.kept = true
}

// leaveIdle takes it from those that are waited for. The listener's lock is held.
func (c *connection) leaveIdle() {
	if c.idle != nil {
		c.of.idle.Remove(c.idle)
		c.idle = nil
	}
}

// Close makes room, once.
func (c *connection) Close() error {
	c.leave()
	return c.Conn.Close()
}
