package admin

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// limited is a listener that has so many connections at a time. The next one takes the
// place of the one that has been idle for longest, so that clients which only hold
// connections lock nobody out; where all are at work, it waits for one of them.
type limited struct {
	net.Listener
	most int
	// pushed counts the connections that made room.
	pushed *atomic.Uint64

	mu   sync.Mutex
	open int
	// idle has those that wait for a request, the longest first.
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

	// These are under the listener's lock: gone tells that it was closed, idle is its place
	// among those that wait for a request.
	gone bool
	idle *list.Element
}

// follow is for http.Server.ConnState. One that has sent nothing yet is idle, too.
func follow(c net.Conn, state http.ConnState) {
	if one, ok := c.(*connection); ok {
		one.rest(state == http.StateNew || state == http.StateIdle)
	}
}

// rest notes whether it waits for a request.
func (c *connection) rest(idle bool) {
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	c.leaveIdle()
	if idle && !c.gone {
		c.idle = l.idle.PushBack(c)
		l.look()
	}
}

// leaveIdle takes it from those that are idle. The listener's lock is held.
func (c *connection) leaveIdle() {
	if c.idle != nil {
		c.of.idle.Remove(c.idle)
		c.idle = nil
	}
}

// Close makes room, once.
func (c *connection) Close() error {
	l := c.of
	l.mu.Lock()
	if !c.gone {
		c.gone = true
		c.leaveIdle()
		l.open--
		l.look()
	}
	l.mu.Unlock()
	return c.Conn.Close()
}
