package admin

import (
	"net"
	"sync"
)

// limited is a listener that has so many connections at a time; the next wait for one
// of them to end.
type limited struct {
	net.Listener
	taken  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func limit(l net.Listener, n int) *limited {
	return &limited{Listener: l, taken: make(chan struct{}, n), closed: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.taken <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.taken
		return nil, err
	}
	return &connection{Conn: conn, leave: sync.OnceFunc(func() { <-l.taken })}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// connection makes room when it is closed.
type connection struct {
	net.Conn
	leave func()
}

func (c *connection) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
