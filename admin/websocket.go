package admin

import (
	"bufio"
	"net"
	"net/http"
)

// pathWebsocket is where AIRI's peers connect.
const pathWebsocket = "/ws"

// upgrades tells whether a request is for AIRI's websockets, which listeners of HTTP have
// and the control socket has not. Who may connect is theirs to say, and how many: such a
// request takes no place among others.
func (s *Server) upgrades(g Guard, r *http.Request) bool {
	return s.opts.Websockets != nil && !g.isOpenToAll() && r.URL.Path == pathWebsocket
}

// isOpenToAll tells the guard of the control socket from others.
func (g Guard) isOpenToAll() bool {
	return g.Current == nil && !g.Loopback && !g.Open && g.Token == ""
}

// leaver hands a connection over for good: it is none of the server's any more, and makes
// room for another one.
type leaver struct{ http.ResponseWriter }

// Unwrap gives http.ResponseController what lies below.
func (l leaver) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// Hijack implements http.Hijacker.
func (l leaver) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(l.ResponseWriter).Hijack()
	if one, ok := conn.(*connection); ok {
		one.leave()
		conn = one.Conn
	}
	return conn, buffered, err
}

// leave makes room as Close does, and closes nothing.
func (c *connection) leave() {
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.gone {
		return
	}
	c.gone = true
	c.leaveIdle()
	l.open--
	l.look()
}
