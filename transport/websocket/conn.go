package websocket

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"

	"github.com/airi-host/airi-host/transport"
)

// Conn is one end of a websocket.
type Conn struct {
	o      *Options // shared by all connections of a server
	net    net.Conn
	try    *try // nil where a socket cannot be asked what it takes at once
	masks  bool // this end is the client, which masks what it sends
	remote string
	since  time.Time
	budget *budget // shared by all connections of a server; nil for none
	tally  func(func(*Counts))
	onGone func(*Conn)
	done   chan struct{} // closed when the socket is given back

	token  string       // what the upgrade showed
	known  atomic.Bool  // the peer is authenticated
	heard  atomic.Int64 // when a whole frame came last, Unix nanoseconds
	spoke  atomic.Int64 // when a record or a text control frame came last
	begun  atomic.Int64 // when the message began that is coming; 0 for none
	pinged atomic.Int64 // when it was last asked for life

	answered atomic.Bool // the peer has sent a close frame

	timer *time.Timer // belongs to mu; nil until start

	reading sync.Mutex // held by whoever reads the socket
	in      inlet

	mu      sync.Mutex
	out     outlet
	err     error // why the connection has ended
	closeBy time.Time
	goodbye []byte // the close frame, until it is written
	abrupt  bool   // there is none
	hush    chan struct{}
}

var (
	_ transport.Gatherer = (*Conn)(nil)
	_ transport.Limited  = (*Conn)(nil)
)

// newConn makes a connection of an upgraded socket; early is what came with the upgrade.
func newConn(socket net.Conn, early []byte, o *Options, masks, known bool) *Conn {
	now := time.Now()
	c := &Conn{
		o: o, net: socket, try: newTry(socket), masks: masks, remote: socket.RemoteAddr().String(), since: now,
		tally: func(func(*Counts)) {}, done: make(chan struct{}),
	}
	c.known.Store(known)
	c.heard.Store(now.UnixNano())
	c.spoke.Store(now.UnixNano())
	c.in.open(c, early)
	return c
}

// start begins what happens by the clock, unless the connection has ended by now.
func (c *Conn) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.timer = time.AfterFunc(c.next(time.Now()), c.beat)
}

// Close says goodbye with code 1000 and ends the connection. It does not wait: the close
// frame is written, within CloseTime, after it has returned.
func (c *Conn) Close() error {
	c.CloseWith(CodeNormal, "")
	return nil
}

// CloseWith is Close with another code, one of RFC 6455 §7.4 that a close frame may have,
// and a reason, which is cut to 123 bytes.
func (c *Conn) CloseWith(code int, reason string) {
	c.end(transport.ErrClosed, farewell{ws.StatusCode(code), reason})
}

// Done is closed when the connection has ended and its socket is closed, too.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Authenticated tells the connection that its peer may be trusted with the limits of one
// that is: nothing is waited for any more, and records may be as long as MaxRecord.
func (c *Conn) Authenticated() {
	if !c.known.Swap(true) {
		c.tally(func(n *Counts) { n.Early-- })
	}
}

// Token is the token that the upgrade showed, and that held then; "" where it showed none, or
// none was asked for.
func (c *Conn) Token() string { return c.token }

// IsAuthenticated tells whether Authenticated was called, or the upgrade showed the token.
func (c *Conn) IsAuthenticated() bool { return c.known.Load() }

// Heard is when the peer last sent a record, or the text "ping" or "pong". Websocket's own
// pings and pongs are not the peer's program speaking.
func (c *Conn) Heard() time.Time { return time.Unix(0, c.spoke.Load()) }

// MaxRecord is the largest record in bytes.
func (c *Conn) MaxRecord() int { return c.o.MaxRecord }

// maxIncoming is how long a message may be that comes now.
func (c *Conn) maxIncoming() int {
	if c.known.Load() {
		return c.o.MaxRecord
	}
	return c.o.MaxEarlyRecord
}

// Stats are the counters of one connection.
type Stats struct {
	// Remote is the peer's address.
	Remote string
	// Since is when the connection was made, Heard as [Conn.Heard].
	Since, Heard time.Time
	// Authenticated is as [Conn.IsAuthenticated].
	Authenticated bool
	// QueuedRecords and QueuedBytes wait to be written.
	QueuedRecords, QueuedBytes int
	// Sent and Received count records, SentBytes and ReceivedBytes what is in them;
	// what was queued counts as sent.
	Sent, SentBytes, Received, ReceivedBytes uint64
	// Refused counts the records that were too long, or that the queue had no room for.
	Refused uint64
}

// Stats returns the counters.
func (c *Conn) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{
		Remote: c.remote, Since: c.since, Heard: c.Heard(), Authenticated: c.known.Load(),
		QueuedRecords: c.out.records, QueuedBytes: c.out.bytes,
		Sent: c.out.stats.records, SentBytes: c.out.stats.bytes, Refused: c.out.stats.refused,
		Received: c.in.records.Load(), ReceivedBytes: c.in.bytes.Load(),
	}
}

// budget bounds what waits in the queues of all connections of a server.
type budget struct {
	most int64
	used atomic.Int64
}

// take tells whether n bytes more may wait, and counts them.
func (b *budget) take(n int) bool {
	if b == nil {
		return true
	}
	if b.used.Add(int64(n)) <= b.most {
		return true
	}
	b.used.Add(int64(-n))
	return false
}

func (b *budget) give(n int) {
	if b != nil {
		b.used.Add(int64(-n))
	}
}
