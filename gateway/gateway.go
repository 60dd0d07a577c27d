package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
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
	tally   tally
	// life ends with Shutdown, under mu; joins are the sessions on their way, and what is
	// being kept.
	life  context.Context
	leave context.CancelFunc
	joins sync.WaitGroup

	// mu guards what follows: the server sees one thing at a time, and its effects are
	// carried out in order. Whoever has it waits for nothing.
	mu      sync.Mutex
	server  *server.Server
	conns   map[server.Conn]*conn
	members map[server.Session]*member
	// leaving are the links of sessions on their way out, by guest.
	leaving map[string]*link
	// keeping are the configurations that are being kept, or are next, by plugin.
	keeping map[string]*keeping
	timers  map[server.Timer]*time.Timer
	// swaps counts the modules that a newer connection took over.
	swaps uint64
	// batch collects whom to push when mu is given back; it is whoever's who has mu.
	batch *batch
	// batches numbers them.
	batches uint64
}

// New makes a gateway for a host.
func New(o Options) *Gateway {
	o = o.withDefaults()
	g := &Gateway{
		o: o, server: server.New(o.Server),
		conns: map[server.Conn]*conn{}, members: map[server.Session]*member{},
		leaving: map[string]*link{}, keeping: map[string]*keeping{}, timers: map[server.Timer]*time.Timer{},
	}
	g.life, g.leave = context.WithCancel(context.Background())
	g.sockets = websocket.NewServer(o.Socket, g.serve)
	return g
}

// ServeHTTP upgrades a request to a websocket, or says why it does not.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.sockets.ServeHTTP(w, r) }

// Shutdown refuses new connections, ends all there are with code 1001, and waits until they
// are gone, or for ctx. Their sessions are told to end; actors.Host.Shutdown waits for these.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.with(func() {
		g.also(server.Shut{})
		g.leave()
		for t := range g.timers {
			g.stopTimer(t)
		}
	})
	err := g.sockets.Shutdown(ctx)
	joined := make(chan struct{})
	go func() {
		g.joins.Wait() // each ends with life, but for what Options.Prepare and Keep take
		close(joined)
	}()
	select {
	case <-joined:
		return err
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
}

// conn is one websocket. What follows socket belongs to Gateway.mu.
type conn struct {
	id     server.Conn
	peer   string
	socket *websocket.Conn

	// members are the modules that it has announced, the oldest first.
	members []*member
	// compatibility is what its request for versions has come to; nil without one.
	compatibility *server.Negotiated
	// dropped is nil before something was.
	dropped map[string]uint64
	// batch is the number of the batch that it was put into last.
	batch uint64
	// busy counts the sessions that come because of it; calm closes, for who waits, when
	// these are few again.
	busy int
	calm chan struct{}
}

// maxBusy is how many sessions may be on their way because of one connection, before that
// is not read from.
const maxBusy = 64

// calmer counts one session out that was on its way; mu is held.
func (c *conn) calmer() {
	if c.busy--; c.busy <= maxBusy && c.calm != nil {
		close(c.calm)
		c.calm = nil
	}
}

// serve takes what one connection sends, until its end. It holds next to nothing while it
// waits: what it needs of its stack then is what a peer costs that says nothing.
func (g *Gateway) serve(socket *websocket.Conn) {
	c := g.enter(socket)
	for {
		record, err := socket.Recv()
		if err != nil {
			g.leaves(c, err)
			return
		}
		g.receive(c, record)
	}
}

// enter begins a connection.
func (g *Gateway) enter(socket *websocket.Conn) *conn {
	c := &conn{id: server.Conn(g.last.Add(1)), peer: uuid.NewString(), socket: socket}
	g.mu.Lock()
	g.conns[c.id] = c
	g.mu.Unlock()
	g.step(g.opened(c))
	return c
}

// leaves is its end.
func (g *Gateway) leaves(c *conn, why error) {
	g.step(server.Ended{Conn: c.id, Reason: endReason(why)})
	g.mu.Lock()
	delete(g.conns, c.id)
	g.mu.Unlock()
}

// receive takes a record, and those that have come with it: to whom several of them go,
// they go at once.
func (g *Gateway) receive(c *conn, record []byte) {
	b := batches.Get().(*batch)
	defer b.done()
	for n := 1; ; n++ {
		size := len(record)
		behind := g.take(c, b, record)
		if size >= largeRecord {
			b.hold(g.o.queueBytes() / 2)
		}
		if behind != nil {
			b.push()
			g.await(c, behind)
		}
		if n == gathered || !c.socket.Ready() {
			return
		}
		var err error
		if record, err = c.socket.Recv(); err != nil {
			return // it is told again
		}
	}
}

// gathered is how many records are taken at most before what came of them is written. A
// connection reads 16 KiB ahead, so that this is what waits at most.
const gathered = 64

// take does what a record says, but for the writing, and returns what closes when the
// sessions of the connection's modules are not behind; nil if they are not.
func (g *Gateway) take(c *conn, b *batch, record []byte) (behind <-chan struct{}) {
	in := server.Receive(c.id, bytes.Clone(record))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.act(b, in)
	return c.behind()
}

// batch are the connections that have frames to push, and those that are to be closed
// then.
type batch struct {
	number uint64
	owed   []*conn
	closes []ending
}

type ending struct {
	c    *conn
	what server.Close
}

var batches = sync.Pool{New: func() any { return &batch{} }}

// keptOwed is how long a batch may be that is used again.
const keptOwed = 1024

// push writes what is owed. It takes time, and is called without Gateway.mu.
func (b *batch) push() {
	for i, c := range b.owed {
		c.socket.Push()
		b.owed[i] = nil
	}
	for _, e := range b.closes {
		e.c.socket.CloseWith(e.what.Code, e.what.Reason)
	}
	b.owed, b.closes, b.number = b.owed[:0], nil, 0
}

const (
	// largeRecord is from which size on a record's sender is held up until it is read by
	// those to whom it went, and largePatience for how long at most: two large records, one
	// right behind the other, would fill the queues of peers that are not slow.
	largeRecord   = 256 << 10
	largePatience = time.Second
)

// hold pushes, and waits until no more than so many bytes wait for each, for largePatience
// at most.
func (b *batch) hold(most int) {
	sent := slices.Clone(b.owed)
	b.push()
	late, again := time.NewTimer(largePatience), time.NewTicker(time.Millisecond)
	defer late.Stop()
	defer again.Stop()
	for len(sent) > 0 {
		if sent[0].socket.Stats().QueuedBytes <= most {
			sent = sent[1:]
			continue
		}
		select {
		case <-again.C:
		case <-late.C:
			return
		}
	}
}

// done is the end of a batch.
func (b *batch) done() {
	b.push()
	if cap(b.owed) <= keptOwed {
		batches.Put(b)
	}
}

// add puts a connection into it, unless it was put there last.
func (b *batch) add(c *conn) {
	if c.batch != b.number {
		c.batch = b.number
		b.owed = append(b.owed, c)
	}
}

// opened is the beginning of a connection, which may have shown a token already.
func (g *Gateway) opened(c *conn) server.Opened {
	in := server.Opened{Conn: c.id, Peer: c.peer}
	if g.o.Server.Verify != nil && c.socket.IsAuthenticated() {
		in.Credential, in.Known = g.o.Server.Verify(c.socket.Token()) // it may be another one by now
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
	b := batches.Get().(*batch)
	defer b.done()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.act(b, in)
}

// act does it but for the writing, which the batch owes; mu is held.
func (g *Gateway) act(b *batch, in server.Input) {
	g.use(b)
	g.also(in)
	g.batch = nil
}

// also is for whoever is at it: mu is held, and there is a batch.
func (g *Gateway) also(in server.Input) {
	defer func() {
		if v := recover(); v != nil {
			g.panicked(in, v)
		}
	}()
	for _, e := range g.server.Step(time.Now(), in) {
		g.do(e)
	}
}

// panicked ends the connection whose frame it was: no frame ends the process.
func (g *Gateway) panicked(in server.Input, v any) {
	g.o.Log.Error("the gateway panicked", "input", fmt.Sprintf("%T", in), "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	if received, ok := in.(server.Received); ok {
		g.close(server.Close{Conn: received.Conn, Code: codeInternal, Reason: "the host failed at this frame: its log says how"})
	}
}

// codeInternal is the close code of RFC 6455 for a fault of this side.
const codeInternal = 1011

// with does something under mu, and then writes what has come of it.
func (g *Gateway) with(do func()) {
	b := batches.Get().(*batch)
	defer b.done()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.use(b)
	do()
	g.batch = nil
}

// use has a batch owe what is to be written.
func (g *Gateway) use(b *batch) {
	if b.number == 0 {
		g.batches++
		b.number = g.batches
	}
	g.batch = b
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
		g.negotiated(e)
	case server.Announced:
		g.announced(e)
	case server.Away:
		g.goesAway(e)
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
		g.batch.add(c)
	}
}

// droppedUnsent counts frames that a connection did not take.
const droppedUnsent = "unsent"

func (g *Gateway) close(e server.Close) {
	if c := g.conns[e.Conn]; c != nil {
		g.batch.closes = append(g.batch.closes, ending{c, e})
	}
}

// drop counts what was not used, of a connection and of all; it returns the latter.
func (g *Gateway) drop(c *conn, what string) (all uint64) {
	if c != nil {
		if c.dropped == nil {
			c.dropped = map[string]uint64{}
		}
		c.dropped[what]++
	}
	return g.tally.drop(what)
}

// setTimer sets a timer anew; one that has fired meanwhile is late.
func (g *Gateway) setTimer(e server.SetTimer) {
	g.stopTimer(e.Timer)
	var own *time.Timer
	own = time.AfterFunc(e.After, func() {
		g.with(func() {
			if g.timers[e.Timer] == own {
				delete(g.timers, e.Timer)
				g.also(server.Fired{Timer: e.Timer})
			}
		})
	})
	g.timers[e.Timer] = own
}

func (g *Gateway) stopTimer(t server.Timer) {
	if own := g.timers[t]; own != nil {
		own.Stop()
		delete(g.timers, t)
	}
}
