package actors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/ndjson"
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
	// gate counts the facts that the session has still to handle: the reader
	// stops reading when there are too many.
	gate *gate
	// over closes when the connection has ended and all that waited is freed.
	over chan struct{}

	// mu guards what follows, and the driver.
	mu      sync.Mutex
	driver  protocol.Driver
	effects []protocol.Effect
	frame   []byte
	calls   map[protocol.CallID]*call
	nextID  protocol.CallID
	// serving ends the calls that the peer has in flight at the host.
	serving map[protocol.RequestID]context.CancelFunc
	timers  map[protocol.TimerID]*time.Timer
	// later holds inputs that an effect gave rise to.
	later  []protocol.Input
	gen    int
	closed bool
	// asked tells that the session wants the end.
	asked bool
	// fault is why the host ended the connection; broken tells that the driver
	// panicked.
	fault  error
	broken bool
	// unsent is the call that the peer never heard of, because its frame could
	// not be sent.
	unsent protocol.CallID
	// owes tells that the next reply is an error in the place of a result that
	// could not be sent.
	owes bool
}

var _ link = (*peer)(nil)

// connector makes the connection to a plugin that is not compiled in. worker is
// the process behind it, or nil.
type connector func(ctx context.Context, who *handle, entry manifest.Entry) (conn transport.Conn, worker *process.Process, err error)

// openPeer connects to a module; a linked message follows.
func (s *session) openPeer(entry manifest.Entry) {
	ctx, cancel := context.WithTimeout(context.Background(), s.h.timeouts.Load)
	s.dialing = cancel
	go func() {
		defer cancel()
		var l link
		err := contain(func() (err error) {
			l, err = s.host.dial(ctx, s.h, s.dialect, entry)
			return err
		})
		s.host.logPanic(s.h, err)
		s.self.tell(linked{l, err})
	}()
}

// dial connects to a plugin and makes the peer over the connection.
func (h *Host) dial(ctx context.Context, who *handle, d protocol.Dialect, entry manifest.Entry) (link, error) {
	if d == nil {
		return nil, cannotRun(who, entry)
	}
	conn, worker, err := h.connect(ctx, who, entry)
	if err != nil {
		return nil, err
	}
	p := newPeer(h, who, d, conn)
	p.worker = worker
	go p.read()
	return p, nil
}

func cannotRun(who *handle, entry manifest.Entry) error {
	what := entry.Path
	if what == "" {
		what = strings.Join(entry.Command, " ")
	}
	return fmt.Errorf("plugin %s: this host cannot run %s plugins from a file (%s): only what is compiled in",
		who.Plugin, who.man.Dialect, what)
}

// startWorker is the connector that starts a worker process.
func (h *Host) startWorker(ctx context.Context, who *handle, entry manifest.Entry) (transport.Conn, *process.Process, error) {
	if h.launch == nil {
		return nil, nil, cannotRun(who, entry)
	}
	spec, err := h.launch(ctx, who.man, entry)
	if err != nil {
		return nil, nil, err
	}
	spec.Plugin = who.Plugin
	spec.Log = func(line process.LogLine) { h.logLine(who, line) }
	if spec.MaxRecord == 0 {
		spec.MaxRecord = h.limits.Frame
	}
	worker, err := process.Start(spec)
	if err != nil {
		return nil, nil, err
	}
	return worker, worker, nil
}

func newPeer(h *Host, who *handle, d protocol.Dialect, conn transport.Conn) *peer {
	return &peer{
		host: h, h: who, codec: d.Codec(), conn: conn,
		driver: d.NewDriver(protocol.Settings{Plugin: who.Plugin, Session: who.Session, MaxPending: who.pending}),
		gate:   newGate(h.limits.Facts), over: make(chan struct{}),
		calls: map[protocol.CallID]*call{}, serving: map[protocol.RequestID]context.CancelFunc{},
		timers: map[protocol.TimerID]*time.Timer{},
	}
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
	return &ProcessInfo{PID: p.worker.Pid()}
}

func (p *peer) run(step protocol.Step, gen int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gen = gen
	p.step(protocol.Run{Step: step})
}

func (p *peer) emit(e protocol.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step(protocol.Emit{Event: e})
}

func (p *peer) invoke(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.complete(nil, outcomeNever(p.h.Plugin, c.Key))
		return
	}
	p.nextID++
	c.id = p.nextID
	p.calls[c.id] = c
	p.step(protocol.Invoke{ID: c.id, Call: c.Call})
}

// outcomeNever is the failure of a call that was not even sent.
func outcomeNever(plugin, key string) error {
	return failure(protocol.CodeNotReady, plugin, fmt.Sprintf("%s of plugin %s was not called: it has ended", key, plugin))
}

func (p *peer) cancel(c *call, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[c.id] != c {
		return
	}
	p.step(protocol.Cancel{ID: c.id, Reason: reason})
	delete(p.calls, c.id)
}

// end lets the worker go in good order, after its failure too: what is left of
// its process group is ended.
func (p *peer) end(why error) {
	p.mu.Lock()
	first := !p.asked
	p.asked = true
	p.mu.Unlock()
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
		report, err := p.worker.Stop(context.Background(), p.host.ladder)
		p.awaitLog()
		p.host.log.Debug("the worker has ended", p.h.attrs(), "step", report.Step, "error", err)
	}
	_ = p.conn.Close()
	<-p.over
	p.h.self.tell(ended{})
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.step(protocol.Closed{Err: why})
	p.closed = true
	p.gate.close()
	for _, t := range p.timers {
		t.Stop()
	}
	for _, stop := range p.serving {
		stop()
	}
	for id, c := range p.calls { // what a driver forgot must not wait for ever
		delete(p.calls, id)
		c.complete(nil, outcomeUnknown(p.h.Plugin, c.Key, why.Error()))
	}
}

// The reader

func (p *peer) read() {
	defer close(p.over)
	for {
		record, err := p.conn.Recv()
		if err != nil {
			p.lost(err)
			return
		}
		p.receive(record)
	}
}

// receive hands a record's messages to the driver.
func (p *peer) receive(record []byte) {
	var messages []protocol.Message
	err := contain(func() (err error) {
		messages, err = p.codec.Decode(record)
		return err
	})
	p.host.logPanic(p.h, err)
	if err != nil {
		p.host.drop(p.h, "bad-frame", err.Error(), 1)
		return
	}
	for _, m := range messages {
		p.host.publishWire(p.h, true, m)
		p.mu.Lock()
		p.step(protocol.Received{Message: m})
		p.mu.Unlock()
	}
	p.gate.wait()
}

// lost ends the peer because its connection ended; unasked, it is a crash.
func (p *peer) lost(err error) {
	p.mu.Lock()
	asked := p.asked
	if p.fault != nil {
		err = p.fault
	}
	p.mu.Unlock()
	if asked {
		return
	}
	p.close(err)
	p.h.self.tell(lost{err})
}

// The driver. All below runs under mu.

// step runs the driver once and does what it says, in order, then whatever came
// of that.
func (p *peer) step(in protocol.Input) {
	p.later = append(p.later, in)
	if len(p.later) > 1 {
		return // the loop below is at it
	}
	for len(p.later) > 0 && !p.closed {
		in := p.later[0]
		effects := p.drive(in)
		if r, ok := in.(protocol.Reply); ok && p.owes {
			p.owes = false
			if len(effects) == 0 {
				p.breakOff(fmt.Errorf("answering plugin %s: %w", p.h.Plugin, r.Err))
			}
		}
		for i, e := range effects {
			p.do(e, in)
			effects[i] = nil
		}
		p.effects = effects[:0]
		p.later = p.later[1:]
	}
	p.later = nil
}

// drive contains the driver: after a panic the connection cannot go on, and what
// waits is freed at its end.
func (p *peer) drive(in protocol.Input) (effects []protocol.Effect) {
	if p.broken {
		return nil
	}
	err := contain(func() error {
		effects = p.driver.Step(time.Now(), in, p.effects[:0])
		return nil
	})
	if err != nil {
		p.host.logPanic(p.h, err)
		p.broken = true
		p.breakOff(fmt.Errorf("the driver of plugin %s: %w", p.h.Plugin, err))
	}
	return effects
}

// breakOff ends the connection with a reason of the host's own.
func (p *peer) breakOff(why error) {
	p.fault = why
	_ = p.conn.Close()
}

func (p *peer) do(effect protocol.Effect, cause protocol.Input) {
	switch e := effect.(type) {
	case protocol.Send:
		p.send(e.Message, cause)
	case protocol.Complete:
		p.complete(e, cause)
	case protocol.Progress:
		p.host.drop(p.h, "progress", "nobody follows the call", 1)
	case protocol.Serve:
		p.serve(e)
	case protocol.Abandon:
		if stop := p.serving[e.ID]; stop != nil {
			stop()
		}
	case protocol.Ran:
		if _, over := cause.(protocol.Closed); !over { // else lost or ended says it
			p.h.self.tell(ran{p.gen, e.Step, e.Err})
		}
	case protocol.Offered:
		p.gate.take()
		p.h.self.tell(offered{offer: e.Offer, gate: p.gate})
	case protocol.Retracted:
		p.gate.take()
		p.h.self.tell(retracted{key: e.Key, gate: p.gate})
	case protocol.Emitted:
		p.host.publishChannel(p.h, true, e.Event, p.h.phaseNow())
	case protocol.Logged:
		p.host.wireLog(p.h, e)
	case protocol.Chunk:
		p.host.drop(p.h, "chunk", "no such route: "+e.Route, 1)
	case protocol.SetTimer:
		p.setTimer(e)
	case protocol.StopTimer:
		p.stopTimer(e.Timer)
	case protocol.Dropped:
		p.host.drop(p.h, e.What, e.Detail, 1)
	case protocol.Fail:
		p.breakOff(e.Err)
	}
}

// send writes one frame. What cannot be written fails the call that it belongs
// to; a frame that belongs to none ends the connection, since the peer would
// wait for it for ever. Where it is the connection that has ended, the reader
// tells why.
func (p *peer) send(m protocol.Message, cause protocol.Input) {
	if in, ok := cause.(protocol.Cancel); ok && in.ID == p.unsent {
		return
	}
	over, err := p.write(m)
	if err == nil {
		return
	}
	switch in := cause.(type) {
	case protocol.Invoke:
		p.unsent = in.ID
		p.complete(protocol.Complete{ID: in.ID, Err: sendFailure(p.h.Plugin, in.Call.Key, err)}, in)
		p.step(protocol.Cancel{ID: in.ID, Reason: "not sent"})
	case protocol.Cancel: // its answer will be late, and counted
	case protocol.Reply:
		if !over {
			p.replyLess(in, err)
		}
	default:
		if !over {
			p.breakOff(fmt.Errorf("sending to plugin %s: %w", p.h.Plugin, err))
		}
	}
}

// write tells why a frame was not sent, and whether that is because the connection
// is over.
func (p *peer) write(m protocol.Message) (over bool, err error) {
	var frame []byte
	err = contain(func() (err error) {
		frame, err = p.codec.Encode(p.frame[:0], m)
		return err
	})
	if err != nil {
		p.host.logPanic(p.h, err)
		return false, err
	}
	if cap(frame) <= keptFrame {
		p.frame = frame
	}
	p.host.publishWire(p.h, false, m)
	err = p.conn.Send(frame)
	return err != nil && !refused(err), err
}

// refused tells whether a connection refused one frame, and goes on.
func refused(err error) bool {
	_, long := errors.AsType[*transport.TooLongError](err)
	return long || errors.Is(err, transport.ErrFull) || errors.Is(err, ndjson.ErrNewline)
}

// keptFrame is the largest buffer that is kept for the next frame.
const keptFrame = 64 << 10

func sendFailure(plugin, key string, err error) error {
	e := &protocol.Error{Code: protocol.CodeNotReady, Plugin: plugin, Message: key + " of plugin " + plugin + " was not called", Err: err}
	if errors.Is(err, transport.ErrFull) {
		e.Code = protocol.CodeOverloaded
	}
	if _, ok := errors.AsType[*transport.TooLongError](err); ok {
		e.Code = protocol.CodeInvalid
	}
	return e
}

// replyLess answers with an error in place of a result that cannot be sent. If
// that cannot be sent either, or the driver knows the request no more, the
// connection ends.
func (p *peer) replyLess(in protocol.Reply, err error) {
	if in.Err != nil {
		p.breakOff(fmt.Errorf("answering plugin %s: %w", p.h.Plugin, err))
		return
	}
	p.owes = true
	p.step(protocol.Reply{ID: in.ID, Err: fmt.Errorf("the host's answer cannot be sent: %w", err)})
}

// complete ends a call. A driver also completes the calls that it is told to
// cancel; any other completion without a waiting caller is a late answer.
func (p *peer) complete(e protocol.Complete, cause protocol.Input) {
	c := p.calls[e.ID]
	delete(p.calls, e.ID)
	if c != nil && c.complete(e.Result, e.Err) {
		return
	}
	if _, ours := cause.(protocol.Cancel); !ours {
		p.host.drop(p.h, "late-answer", "", 1)
	}
}

// serve answers a call of the peer on a goroutine of its own; the driver bounds
// how many there are.
func (p *peer) serve(e protocol.Serve) {
	ctx, cancel := context.WithCancel(context.Background())
	p.serving[e.ID] = cancel
	go func() {
		result, err := p.host.serve(ctx, p.h, e.Call)
		p.mu.Lock()
		defer p.mu.Unlock()
		cancel()
		delete(p.serving, e.ID)
		p.step(protocol.Reply{ID: e.ID, Result: result, Err: err})
	}()
}

func (p *peer) setTimer(e protocol.SetTimer) {
	p.stopTimer(e.Timer)
	var t *time.Timer
	t = time.AfterFunc(e.After, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.timers[e.Timer] == t {
			delete(p.timers, e.Timer)
			p.step(protocol.Fired{Timer: e.Timer})
		}
	})
	p.timers[e.Timer] = t
}

func (p *peer) stopTimer(id protocol.TimerID) {
	if t := p.timers[id]; t != nil {
		t.Stop()
		delete(p.timers, id)
	}
}

// gate holds a reader back while what it has read is not handled yet.
type gate struct {
	mu     sync.Mutex
	free   *sync.Cond
	owed   int
	limit  int
	opened bool
}

func newGate(limit int) *gate {
	g := &gate{limit: limit}
	g.free = sync.NewCond(&g.mu)
	return g
}

// take counts one more thing to handle.
func (g *gate) take() {
	g.mu.Lock()
	g.owed++
	g.mu.Unlock()
}

// give tells that one is handled; a nil gate takes it too.
func (g *gate) give() {
	if g == nil {
		return
	}
	g.mu.Lock()
	g.owed--
	g.mu.Unlock()
	g.free.Signal()
}

// wait returns when there are fewer than the limit, or the gate is closed.
func (g *gate) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.owed >= g.limit && !g.opened {
		g.free.Wait()
	}
}

// close lets the reader go for good.
func (g *gate) close() {
	g.mu.Lock()
	g.opened = true
	g.mu.Unlock()
	g.free.Broadcast()
}
