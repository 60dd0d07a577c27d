package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/process"
)

// peer is the link to whatever is at the far end of a connection, and the one
// place where connection, codec and driver meet. It runs the driver under one
// lock and carries out its effects in order, so that the wire's order holds.
//
//	invoke ─▶ driver ─▶ codec ─▶ conn        on the caller's own goroutine
//	conn ─▶ codec ─▶ driver ─▶ waiting call  on the reader's, without a mailbox hop
type peer struct {
	host  *Host
	h     *handle
	codec protocol.Codec
	conn  transport.Conn
	// worker is the process behind conn; nil for a connection that has none.
	worker *process.Process
	// limit is the longest frame, 0 if that is unknown.
	limit int
	// gate counts the facts that the session has still to handle: the reader
	// stops reading when there are too many.
	gate *gate
	// over closes when the connection has ended and all that waited is freed.
	over chan struct{}

	// gatherer is conn, if that can send several frames at once; behind counts those
	// who wait for the lock, which is taken by lock and given back by unlock.
	gatherer transport.Gatherer
	// appender is codec, if that appends; messages are what whoever receives has read.
	appender protocol.Appender
	messages []protocol.Message
	// waiter is conn, if callers can receive their answers themselves; resume tells
	// the reader that it is its turn again.
	waiter transport.Waiter
	resume chan struct{}
	behind atomic.Int32

	// mu guards what follows, and the driver. Its maps are nil before something was in them,
	// since most peers say little.
	mu sync.Mutex
	// who receives at this moment; turns counts the callers who did, answered the
	// answers since nothing was waiting to be received; patience is for how many
	// answers the reader does not stand by.
	who      receiver
	turns    uint64
	answered int
	patience int
	// more tells that whoever receives has the next record already, arrived when the
	// last one came that it had to wait for.
	more    bool
	arrived time.Time
	// gathered is how many bytes wait to be sent with the next frame.
	gathered int
	driver   protocol.Driver
	effects  []protocol.Effect
	frame    []byte
	// lent is what a driver that borrows it is given, else nil.
	lent   *lent
	calls  map[protocol.CallID]*call
	nextID protocol.CallID
	// serving are the calls that the peer has in flight at the host.
	serving map[protocol.RequestID]*serving
	// publishes are those of them that publish events.
	publishes lane
	timers    map[protocol.TimerID]*time.Timer
	// routes are those that are not closed; lastRoute numbers them, and routeless tells
	// that none is opened any more.
	routes    map[protocol.RouteID]*Route
	lastRoute protocol.RouteID
	routeless bool
	// later holds inputs that an effect gave rise to.
	later  []protocol.Input
	gen    int
	closed bool
	// used tells that the peer was asked for a step: to kill one that was not takes no
	// force worth telling.
	used bool
	// asked tells that the session wants the end.
	asked bool
	// fault is why the host ended the connection; broken tells that the driver
	// panicked, retired that the peer is not to be started again by itself.
	fault           error
	broken, retired bool
	// unsent is the call that the peer never heard of, because its frame could
	// not be sent.
	unsent protocol.CallID
	// owes tells that the next reply is an error in the place of a result that
	// could not be sent.
	owes bool
	// held are the frames of the last input of a stream that found no room, unsaid is
	// why one cannot be sent at all. crowd is where an item was put, for who should
	// get a chance to take it.
	held   [][]byte
	unsaid error
	crowd  *backlog
	// owed are the frames that wait for room.
	owed owed
}

var _ link = (*peer)(nil)

func newPeer(h *Host, who *handle, d protocol.Dialect, conn transport.Conn) *peer {
	p := &peer{
		host: h, h: who, codec: d.Codec(), conn: conn,
		driver: d.NewDriver(protocol.Settings{Plugin: who.Plugin, Session: who.Session, MaxPending: who.pending()}),
		gate:   newGate(who.bounds.limits.Facts), over: make(chan struct{}),
	}
	if _, ok := p.driver.(protocol.Borrower); ok {
		p.lent = &lent{}
	}
	p.gatherer, _ = conn.(transport.Gatherer)
	if p.waiter, _ = conn.(transport.Waiter); p.waiter != nil {
		p.resume = make(chan struct{}, 1)
	}
	p.appender, _ = p.codec.(protocol.Appender)
	if limited, ok := conn.(transport.Limited); ok {
		p.limit = limited.MaxRecord()
	}
	return p
}

// put sets a value in a map that is made when it gets its first.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// What the session and callers ask

// has says yes to every step: the driver answers those that mean nothing to it.
func (p *peer) has(protocol.Step) bool { return true }

func (p *peer) listens() bool { return true }

func (p *peer) left() <-chan struct{} { return nil }

func (p *peer) process() *ProcessInfo {
	if p.worker == nil {
		return nil
	}
	c := p.worker.Containment()
	info := &ProcessInfo{PID: p.worker.Pid(), Started: p.worker.Started(), Reach: string(c.Reach), Note: c.Why}
	for _, l := range c.Limits {
		info.Limits = append(info.Limits, l.String())
	}
	return info
}

func (p *peer) run(step protocol.Step, gen int, params json.RawMessage) {
	p.lock()
	defer p.unlock()
	p.gen, p.used = gen, true
	p.step(protocol.Run{Step: step, Params: params})
}

func (p *peer) emit(e protocol.Event) {
	p.lock()
	defer p.unlock()
	p.step(protocol.Emit{Event: e})
}

func (p *peer) invoke(c *call) {
	if err := p.fits(c.Input); err != nil { // to find out later would hold up the other callers
		c.complete(nil, sendFailure(p.h.Plugin, c.Key, err))
		return
	}
	if p.begin(c) {
		p.lead(c)
	}
}

// fits tells whether a payload alone is too long for a frame.
func (p *peer) fits(payload json.RawMessage) error {
	if p.limit > 0 && len(payload) > p.limit {
		return &transport.TooLongError{Limit: p.limit}
	}
	return nil
}

// begin sends a call, and tells whether its caller is to receive the answer itself.
func (p *peer) begin(c *call) (leads bool) {
	p.lock()
	defer p.unlock()
	if p.closed {
		c.complete(nil, outcomeNever(p.h.Plugin, c.Key))
		return false
	}
	if c.over.Load() { // its time was over while others' large frames had the lock
		return false
	}
	p.nextID++
	c.id = p.nextID
	put(&p.calls, c.id, c)
	c.unheard = c.Feed != nil
	p.ask(c)
	if c.stream != nil {
		p.recall()
		return false
	}
	return p.takeTurn()
}

// ask gives the driver a call, by pointer if it can.
func (p *peer) ask(c *call) {
	if p.lent == nil {
		p.step(protocol.Invoke{ID: c.id, Call: c.Call, Follows: c.Progress != nil, Feeds: c.Feed != nil})
		return
	}
	p.lent.at = c.began
	if c.began.IsZero() {
		p.lent.at = time.Now()
	}
	in := &p.lent.call
	in.ID, in.Call, in.Follows, in.Feeds = c.id, c.Call, c.Progress != nil, c.Feed != nil
	p.step(in)
	*in = protocol.Invoke{}
}

// lent is the call that is being made, and when, and the message that has come.
type lent struct {
	call    protocol.Invoke
	at      time.Time
	message protocol.Received
}

// outcomeNever is the failure of a call that was not even sent.
func outcomeNever(plugin, key string) error {
	return &protocol.Error{
		Code: protocol.CodeNotReady, Plugin: plugin, Message: fmt.Sprintf("%s of plugin %s was not called", key, plugin),
		Err: endedError{errors.New("it has ended")},
	}
}

// endedError tells that the connection had ended before a call, or a part of its
// streams, was sent: the plugin never heard of it, and its session ends as well.
type endedError struct{ error }

func (e endedError) Unwrap() error { return e.error }

func (p *peer) cancel(c *call, reason string) {
	p.lock()
	defer p.unlock()
	if p.calls[c.id] != c {
		return
	}
	if c.unheard { // to some peers, a cancel alone would begin the call
		p.unsent = c.id
	}
	p.step(protocol.Cancel{ID: c.id, Reason: reason})
	delete(p.calls, c.id)
}

// end lets the worker go in good order, after its failure too: what is left of
// its process group is ended.
func (p *peer) end(why error) {
	p.lock()
	first := !p.asked
	p.asked = true
	p.unlock()
	if first {
		go p.finish(why)
	}
}

func (p *peer) kill() {
	p.end(nil)
	_ = p.conn.Close()
}

// finish frees all that wait, ends the worker, and tells the session.
func (p *peer) finish(why error) {
	if why == nil {
		why = errStopped(p.h.Plugin)
	}
	p.close(why)
	if p.worker != nil {
		report, err := p.worker.Stop(context.Background(), p.h.bounds.ladder)
		p.awaitLog()
		p.tellEnd(report, err)
	}
	_ = p.conn.Close()
	<-p.over
	p.h.self.tell(ended{})
}

// tellEnd logs how the worker ended; that it took force, or that not even force
// worked, for all to see.
func (p *peer) tellEnd(report process.StopReport, err error) {
	p.lock()
	used := p.used
	p.unlock()
	level := slog.LevelDebug
	switch {
	case err != nil:
		level = slog.LevelWarn
	case used && (report.Step == process.StepTerm || report.Step == process.StepKill):
		level = slog.LevelInfo
	}
	attrs := []any{p.h.attrs(), "step", report.Step, "took", report.Took}
	if err != nil {
		attrs = append(attrs, "error", err)
	}
	p.host.log.Log(context.Background(), level, "the worker has ended", attrs...)
}

// lastWords is how long the last log lines of a worker may take after its end.
const lastWords = 2 * time.Second

// awaitLog waits for the last lines of the worker's log: they often say why it
// ended.
func (p *peer) awaitLog() {
	patience := time.NewTimer(lastWords)
	defer patience.Stop()
	select {
	case <-p.worker.Logged():
	case <-patience.C:
	}
}

// close gives the driver its end, once: every call in flight is completed.
func (p *peer) close(why error) {
	p.lock()
	defer p.unlock()
	if p.closed {
		return
	}
	p.step(protocol.Closed{Err: why})
	p.closed = true
	p.forgive()
	p.gate.close()
	for _, t := range p.timers {
		t.Stop()
	}
	for _, one := range p.serving {
		one.stop()
	}
	p.forgetRoutes(why)
	for id, c := range p.calls { // what a driver forgot must not wait for ever
		delete(p.calls, id)
		c.complete(nil, outcomeUnknown(p.h.Plugin, c.Key, why.Error()))
	}
}

// The reader

// listen begins to receive: on a goroutine of its own, or, from a connection that tells
// when there is something, on whichever is free then.
func (p *peer) listen() {
	conn, ok := p.conn.(transport.Notifier)
	if !ok {
		go p.read()
		return
	}
	conn.Notify(func() { p.host.sys.servers.Schedule(func() { p.readNow(conn) }) })
}

// readNow receives until there is nothing more. The connection tells when there is.
func (p *peer) readNow(conn transport.Notifier) {
	for {
		record, err := conn.TryRecv()
		switch {
		case errors.Is(err, transport.ErrNotYet):
			return
		case err != nil:
			p.lost(err)
			close(p.over)
			return
		}
		p.receive(record)
		if p.gate.wait() {
			p.rested()
		}
	}
}

func (p *peer) read() {
	defer close(p.over)
	for {
		record, err := p.conn.Recv()
		if err != nil {
			p.lost(err)
			return
		}
		p.receive(record)
		if p.gate.wait() {
			p.rested()
		}
		p.standBy()
	}
}

// lost ends the peer because its connection ended; unasked, it is a crash.
func (p *peer) lost(err error) {
	p.lock()
	asked, retired, fault := p.asked, p.retired, p.fault != nil
	if fault {
		err = p.fault
	}
	p.unlock()
	if asked {
		return
	}
	if exit, ok := errors.AsType[*process.ExitError](err); ok && exit.Status.Leftover {
		p.host.logLine(p.h, process.LogLine{Stream: process.Host, Text: "a process that the worker started has outlived it, and will be ended"})
	}
	p.close(err)
	p.h.self.tell(lost{why: err, retired: retired, fault: fault})
}
