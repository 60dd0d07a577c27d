package gateway

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/airi-host/airi-host/protocol/airi/server"
	"github.com/airi-host/airi-host/transport/websocket"
)

// Gateway serves AIRI's websocket peers. Its methods may be called from any goroutine.
type Gateway struct {
	o       Options
	sockets *websocket.Server
	last    atomic.Uint64
	// life ends with Shutdown; joins are the sessions on their way.
	life  context.Context
	leave context.CancelFunc
	joins sync.WaitGroup

	// mu guards what follows: the server sees one thing at a time, and its effects are
	// carried out in order. Whoever has it waits for nothing.
	mu      sync.Mutex
	server  *server.Server
	conns   map[server.Conn]*conn
	members map[server.Session]*member
	timers  map[server.Timer]*time.Timer
	dropped map[string]uint64
	// owed are the connections that have frames to push when mu is given back.
	owed []*conn
}

// New makes a gateway for a host.
func New(o Options) *Gateway {
	o = o.withDefaults()
	g := &Gateway{
		o: o, server: server.New(o.Server),
		conns: map[server.Conn]*conn{}, members: map[server.Session]*member{},
		timers: map[server.Timer]*time.Timer{}, dropped: map[string]uint64{},
	}
	g.life, g.leave = context.WithCancel(context.Background())
	g.sockets = websocket.NewServer(o.Socket, g.serve)
	return g
}

// ServeHTTP upgrades a request to a websocket, or says why it does not.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.sockets.ServeHTTP(w, r) }

// Shutdown refuses new connections, ends all there are with code 1001, and their sessions,
// and waits until they are gone, or for ctx.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.step(server.Shut{})
	g.leave()
	err := g.sockets.Shutdown(ctx)
	g.joins.Wait() // each ends with life
	return err
}

// conn is one websocket. What follows sent belongs to Gateway.mu.
type conn struct {
	id     server.Conn
	peer   string
	socket *websocket.Conn

	// members are the modules that it has announced, the oldest first.
	members []*member
	// rejected is why its request for compatibility was; "" where it was not.
	rejected string
	dropped  map[string]uint64
	// owes tells that it is among Gateway.owed.
	owes bool
}

// serve takes what one connection sends, until its end.
func (g *Gateway) serve(socket *websocket.Conn) {
	c := &conn{id: server.Conn(g.last.Add(1)), peer: uuid.NewString(), socket: socket, dropped: map[string]uint64{}}
	g.mu.Lock()
	g.conns[c.id] = c
	g.mu.Unlock()
	g.step(g.opened(c))
	for {
		record, err := socket.Recv()
		if err != nil {
			g.step(server.Ended{Conn: c.id, Reason: endReason(err)})
			break
		}
		g.step(server.Receive(c.id, bytes.Clone(record)))
		g.await(c)
	}
	g.mu.Lock()
	delete(g.conns, c.id)
	g.mu.Unlock()
}

// opened is the beginning of a connection, which may have shown a token already.
func (g *Gateway) opened(c *conn) server.Opened {
	in := server.Opened{Conn: c.id, Peer: c.peer}
	if g.o.Verify != nil && c.socket.IsAuthenticated() {
		in.Credential, in.Known = g.o.Verify(g.o.Socket.Now().Token)
	}
	return in
}

// The reasons that AIRI's servers give for the end of a connection.
const (
	reasonClosed = "connection closed"
	reasonFailed = "send failed"
)

func endReason(err error) string {
	if errors.Is(err, websocket.ErrSlow) {
		return reasonFailed
	}
	return reasonClosed
}

// step tells the server what happened, and does what it says.
func (g *Gateway) step(in server.Input) {
	g.mu.Lock()
	for _, e := range g.server.Step(time.Now(), in) {
		g.do(e)
	}
	owed := g.owed
	g.owed = nil
	for _, c := range owed {
		c.owes = false
	}
	g.mu.Unlock()
	for _, c := range owed { // writing takes time
		c.socket.Push()
	}
}

func (g *Gateway) do(e server.Effect) {
	switch e := e.(type) {
	case server.Send:
		g.send(e)
	case server.Close:
		g.close(e)
	case server.SetTimer:
		g.setTimer(e)
	case server.StopTimer:
		g.stopTimer(e.Timer)
	case server.Authenticated:
		g.conns[e.Conn].socket.Authenticated()
	case server.Negotiated:
		g.conns[e.Conn].rejected = rejection(e.Agreement)
	case server.Announced:
		g.announced(e)
	case server.Away:
		g.away(e)
	case server.Gone:
		g.gone(e)
	case server.Life:
		g.heardOfLife(e)
	case server.Routed:
		g.routed(e)
	case server.EventaFrame:
		g.eventa(e)
	case server.Dropped:
		g.drop(g.conns[e.Conn], e.Reason)
	case server.Health: // who selects consumers knows, and the peers were told
	}
}

// send hands a frame to connections. One that cannot take it is closed by its own
// transport, or refuses it, as Options.Socket says.
func (g *Gateway) send(e server.Send) {
	for _, id := range e.To {
		c := g.conns[id]
		if c == nil {
			continue
		}
		if err := c.socket.Gather(e.Frame); err != nil {
			g.drop(c, droppedUnsent)
			continue
		}
		if !c.owes {
			c.owes = true
			g.owed = append(g.owed, c)
		}
	}
}

// droppedUnsent counts frames that a connection did not take.
const droppedUnsent = "unsent"

func (g *Gateway) close(e server.Close) {
	if c := g.conns[e.Conn]; c != nil {
		c.socket.Push() // what it was told before
		c.socket.CloseWith(e.Code, e.Reason)
	}
}

// drop counts what was not used, of a connection and of all.
func (g *Gateway) drop(c *conn, what string) {
	g.dropped[what]++
	if c != nil {
		c.dropped[what]++
	}
}

// setTimer sets a timer anew; one that has fired meanwhile is late.
func (g *Gateway) setTimer(e server.SetTimer) {
	g.stopTimer(e.Timer)
	var own *time.Timer
	own = time.AfterFunc(e.After, func() {
		g.mu.Lock()
		due := g.timers[e.Timer] == own
		if due {
			delete(g.timers, e.Timer)
		}
		g.mu.Unlock()
		if due {
			g.step(server.Fired{Timer: e.Timer})
		}
	})
	g.timers[e.Timer] = own
}

func (g *Gateway) stopTimer(t server.Timer) {
	if own := g.timers[t]; own != nil {
		own.Stop()
		delete(g.timers, t)
	}
}
