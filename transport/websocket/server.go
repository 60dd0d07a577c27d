package websocket

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

// What ServerOptions mean when they say nothing.
const (
	DefaultMaxConns      = 10_000
	DefaultMaxPerAddress = 256
	DefaultMaxEarly      = 1024
	DefaultMaxQueued     = 256 << 20
	DefaultUpgradeTime   = 10 * time.Second
)

// ServerOptions says whom a [Server] accepts. The zero value accepts this machine's programs
// and pages, without a token; for every number zero or less means the default.
type ServerOptions struct {
	Options

	// Token is what the header "Authorization: Bearer TOKEN" of the upgrade has to say, if
	// there is one. A connection that showed it is authenticated; one that showed
	// another is refused; one that showed none is to authenticate itself within AuthTime,
	// which is its receiver's to see. With no Token all are authenticated.
	Token string
	// Origins are the web pages that may connect beside those of this machine's loopback,
	// as browsers write them: "https://example.org". "*" lets all in.
	Origins []string
	// Hosts are the names under which this server may be called beside "localhost" and
	// addresses, without a port.
	Hosts []string
	// Access, if set, is asked at each request for the Token, Origins and Hosts to go by in
	// place of these: they may change. It may be called concurrently.
	Access func() Access

	// MaxConns is how many connections there may be, MaxPerAddress how many of one
	// address that is not loopback (of one /64 network where it is IPv6), and MaxEarly how
	// many that are not authenticated.
	MaxConns, MaxPerAddress, MaxEarly int
	// MaxQueued bounds what waits in the queues of all connections, in bytes. A peer to
	// whom nothing more can be queued is slow.
	MaxQueued int
	// UpgradeTime is the time for the handshake of TLS, for a request's header, and for
	// the answer to it.
	UpgradeTime time.Duration
	// TLS is what [Server.Serve] speaks, or nil for none.
	TLS *tls.Config
}

// Access says who may connect, by the words of [ServerOptions].
type Access struct {
	Token          string
	Origins, Hosts []string
}

// Now is who may connect at the moment.
func (o ServerOptions) Now() Access {
	if o.Access != nil {
		return o.Access()
	}
	return Access{o.Token, o.Origins, o.Hosts}
}

func (o ServerOptions) resolved() ServerOptions {
	o.Options = o.Options.resolved()
	number(&o.MaxConns, DefaultMaxConns)
	number(&o.MaxPerAddress, DefaultMaxPerAddress)
	number(&o.MaxEarly, DefaultMaxEarly)
	number(&o.MaxQueued, DefaultMaxQueued)
	number(&o.UpgradeTime, DefaultUpgradeTime)
	return o
}

// Server accepts websockets. It is an http.Handler for the path where they are made;
// [Server.Serve] is for who has no other HTTP server.
type Server struct {
	o      ServerOptions
	serve  func(*Conn)
	budget budget

	mu     sync.Mutex
	conns  map[*Conn]string // to the address that they count for
	counts Counts
	from   map[string]int
	held   int // upgrades that are under way
	closed bool
	group  sync.WaitGroup
}

// Counts are the counters of a server.
type Counts struct {
	// Open are connections that there are, and Early those of them that are not authenticated.
	Open, Early int
	// Accepted counts those that there were.
	Accepted uint64
	// Refused counts requests that were not upgraded, by why.
	Refused map[Refusal]uint64
	// Slow, Silent, Late, TooLong and Invalid count connections that this side ended:
	// with [ErrSlow], [ErrSilent], [ErrLate], a *transport.TooLongError, [ErrInvalid].
	Slow, Silent, Late, TooLong, Invalid uint64
}

// NewServer returns a server that runs serve for each connection, in a goroutine of its
// own; the connection is closed when serve returns.
func NewServer(o ServerOptions, serve func(*Conn)) *Server {
	o = o.resolved()
	return &Server{
		o: o, serve: serve, budget: budget{most: int64(o.MaxQueued)},
		conns: map[*Conn]string{}, from: map[string]int{}, counts: Counts{Refused: map[Refusal]uint64{}},
	}
}

// ServeHTTP upgrades a request, or says why it does not.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	known, token, why := s.examine(r)
	address := addressOf(r.RemoteAddr)
	switch {
	case why != "":
	case !isHandshake(r):
		why = NotUpgraded
	case r.ContentLength != 0: // -1 for one in chunks
		why = WithBody
	default:
		why = s.hold(address, known)
	}
	if why != "" {
		s.refuse(w, r, why)
		return
	}
	upgrader := ws.HTTPUpgrader{Timeout: s.o.UpgradeTime}
	socket, buffered, _, err := upgrader.Upgrade(r, w)
	if err != nil {
		s.release(address, known)
		s.count(func(n *Counts) { n.Refused[NotUpgraded]++ })
		if socket != nil {
			_ = socket.Close()
		}
		return
	}
	early, _ := buffered.Peek(buffered.Reader.Buffered())
	c := newConn(socket, early, &s.o.Options, false, known)
	c.token = token
	c.budget, c.tally, c.onGone = &s.budget, s.count, s.left
	s.enter(c, address)
}

// enter starts a connection, or ends it if the server is closed by now.
func (s *Server) enter(c *Conn, address string) {
	s.mu.Lock()
	s.held--
	s.conns[c] = address
	s.counts.Accepted++
	closed := s.closed
	s.mu.Unlock()
	c.start()
	if closed {
		c.CloseWith(CodeGoingAway, shuttingDown)
	}
	go func() { // and the goroutine of the request ends, with all that it holds
		defer s.group.Done()
		defer c.leave()
		s.serve(c)
	}()
}

// leave ends a connection when nobody serves it any more.
func (c *Conn) leave() {
	_ = c.Close()
	<-c.done
}

// hold makes room for a connection, or tells why there is none.
func (s *Server) hold(address string, known bool) Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ShuttingDown
	case len(s.conns)+s.held >= s.o.MaxConns:
		return TooMany
	case address != "" && s.from[address] >= s.o.MaxPerAddress:
		return TooManyOfAddress
	case !known && s.counts.Early >= s.o.MaxEarly:
		return TooManyEarly
	}
	s.held++
	if address != "" {
		s.from[address]++
	}
	if !known {
		s.counts.Early++
	}
	s.group.Add(1)
	return ""
}

// release takes hold back.
func (s *Server) release(address string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	s.forget(address)
	if !known {
		s.counts.Early--
	}
	s.group.Done()
}

func (s *Server) forget(address string) {
	if address == "" {
		return
	}
	if s.from[address]--; s.from[address] == 0 {
		delete(s.from, address)
	}
}

// left is told when a connection is gone.
func (s *Server) left(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(s.conns[c])
	delete(s.conns, c)
	if !c.known.Swap(true) {
		s.counts.Early--
	}
}

func (s *Server) count(add func(*Counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add(&s.counts)
}

// Counts returns the counters.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.counts
	n.Open = len(s.conns)
	n.Refused = map[Refusal]uint64{}
	for why, times := range s.counts.Refused {
		n.Refused[why] = times
	}
	return n
}

// Conns returns the connections that there are, the oldest first.
func (s *Server) Conns() []*Conn {
	s.mu.Lock()
	all := make([]*Conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b *Conn) int { return a.since.Compare(b.since) })
	return all
}

const shuttingDown = "the host is shutting down"

// Shutdown refuses new connections, says goodbye to all there are, all at once, with code
// 1001, and waits until they are gone and their receivers have returned, or for ctx. A peer
// that does not answer is waited for as long as CloseTime, however many there are.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, c := range s.Conns() {
		c.CloseWith(CodeGoingAway, shuttingDown)
	}
	over := make(chan struct{})
	go func() {
		s.group.Wait()
		close(over)
	}()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// addressOf is what connections of one address are counted by; loopback is not counted.
func addressOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	addr, err := parseAddr(host)
	switch {
	case err != nil:
		return strings.ToValidUTF8(host, "?")
	case addr.IsLoopback():
		return ""
	case addr.Is6():
		prefix, _ := addr.Prefix(64)
		return prefix.String()
	}
	return addr.String()
}
