package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/ndjson"
)

// worker runs a plugin at the worker's end of a host's wire, of any dialect. One goroutine
// reads; every task of the host's has a goroutine of its own, but for those that have
// an order, which share one a lane.
//
//	bytes ──codec──▶ machine ──▶ task ──▶ lane, or a goroutine of its own ──▶ end.handle
//	      ◀─output──         ◀── reply ◀─────────────────────────────────────┘
type worker struct {
	definition *Definition
	wired      wired
	// end is what the dialect has of its own, machine its end of the wire.
	end     end
	codec   protocol.Codec
	session *Session
	log     *slog.Logger

	// ctx is the one of all handlers; it ends when the worker does.
	ctx    context.Context
	cancel context.CancelFunc

	out output

	mu      sync.Mutex
	machine protocol.Driver
	effects []protocol.Effect
	// remarks are for the log, once the lock is free.
	remarks []func()
	// calls are those of the host that somebody waits for.
	calls    map[protocol.CallID]*waiting
	lastCall protocol.CallID
	// running counts all tasks.
	running int
	// hands takes a task to one of the goroutines that idle, which are counted.
	hands  chan task
	idlers atomic.Int32
	// idle is closed, once, when none runs; it is there when somebody waits for it.
	idle chan struct{}
	// ended is closed when nothing more is to be expected of the host, and err
	// tells why if that was no good end.
	ended chan struct{}
	over  bool
	err   error
}

// wired is how a worker is joined to its host.
type wired struct {
	in  io.Reader
	out io.Writer
	// record is the longest frame, queue how much may wait to be read, both in bytes; grace
	// is how long handlers may still run when their contexts have ended.
	record, queue int
	grace         time.Duration
}

// end is what a dialect's end of the wire does in its own way.
type end interface {
	// open is called once, before anything is read.
	open()
	// carryOut does what comes of the machine and is not the same for all. It holds the
	// worker's lock.
	carryOut(protocol.Effect)
	// handle does a task; flow is what its handler reports to, where the host follows.
	handle(context.Context, task) (json.RawMessage, error)
	flow(task) *flow
	// asking makes a call of the host's, for the sake of an invocation.
	asking(in protocol.Invoke, invocation string) protocol.Input
	// method is a call of the plugin's as the wire has it.
	method(context.Context, protocol.Call) (string, json.RawMessage)
	// instead is what is sent in the place of an answer that cannot be written; nil for
	// what is none.
	instead(m protocol.Message, why error) protocol.Message
	// close is called when nothing more is to be expected of the host, before the contexts
	// of handlers end.
	close()
	// host names the kind of host, pluginName the plugin.
	host() string
	pluginName() string
}

// newWorker makes a worker to which its dialect's end is still to be given.
func newWorker(d *Definition, codec protocol.Codec, machine protocol.Driver, to wired) *worker {
	w := &worker{
		definition: d,
		wired:      to,
		codec:      codec,
		machine:    machine,
		calls:      map[protocol.CallID]*waiting{},
		hands:      make(chan task),
		ended:      make(chan struct{}),
	}
	w.out = output{dst: to.out, codec: codec, limit: to.queue, record: to.record, onFail: func(err error) {
		w.finish(fmt.Errorf("writing to the host: %w", err))
	}}
	return w
}

// serve is the life of the worker.
func (w *worker) serve(ctx context.Context) error {
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.end.open()
	go func() { w.finish(w.read()) }()
	select {
	case <-ctx.Done():
		w.finish(nil)
	case <-w.ended:
	}
	w.end.close()
	w.cancel()
	w.waitForTasks(w.wired.grace)
	w.step(protocol.Closed{})
	drain, stop := context.WithTimeout(context.Background(), drainTime)
	defer stop()
	err := w.out.drained(drain)
	closeAll(w.wired.in, w.wired.out)
	switch {
	case w.err != nil:
		return w.err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the host did not read what was written before the end within %s", drainTime)
	}
	return nil
}

func closeAll(ends ...any) {
	for _, end := range ends {
		if c, ok := end.(io.Closer); ok {
			_ = c.Close() // what counts has been written
		}
	}
}

// finish tells, once, that the worker ends.
func (w *worker) finish(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finishLocked(err)
}

func (w *worker) finishLocked(err error) {
	if !w.over {
		w.over, w.err = true, err
		close(w.ended)
	}
}

// waitForTasks gives the tasks that run some time.
func (w *worker) waitForTasks(limit time.Duration) {
	idle := make(chan struct{})
	w.mu.Lock()
	if w.running == 0 {
		close(idle)
	} else {
		w.idle = idle
	}
	w.mu.Unlock()
	grace := time.NewTimer(limit)
	defer grace.Stop()
	select {
	case <-idle:
	case <-grace.C:
	}
}

// read takes frames until the host's end of the wire is closed, which is a good end.
func (w *worker) read() error {
	in := ndjson.NewReader(w.wired.in, ndjson.ReaderOptions{MaxRecord: w.wired.record})
	for {
		line, err := in.Read()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading from the host: %w", err)
		}
		messages, err := w.codec.Decode(line)
		if err != nil {
			return fmt.Errorf("reading from the host: %w", err)
		}
		for _, m := range messages {
			w.out.room(w.ctx)
			w.step(protocol.Received{Message: m})
		}
		w.out.flushAside()
	}
}

// step gives the machine what happened and does what comes of it.
func (w *worker) step(in protocol.Input) {
	for _, tell := range w.stepped(in) {
		tell()
	}
}

// stepped is step but for what is to be logged: whoever reads the log may be slow.
func (w *worker) stepped(in protocol.Input) (remarks []func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects = w.machine.Step(time.Time{}, in, w.effects[:0])
	for i, e := range w.effects {
		w.effects[i] = nil
		w.carryOut(e)
	}
	remarks, w.remarks = w.remarks, nil
	return remarks
}

func (w *worker) carryOut(e protocol.Effect) {
	switch e := e.(type) {
	case protocol.Send:
		w.send(e.Message)
	case protocol.Complete:
		if wanted := w.calls[e.ID]; wanted != nil {
			delete(w.calls, e.ID)
			wanted.done <- answer{e.Result, e.Err}
		}
	case protocol.Progress:
		if wanted := w.calls[e.ID]; wanted != nil {
			wanted.parts.add(e.Item)
		}
	default:
		w.end.carryOut(e)
	}
}

// send queues a frame. An answer that cannot be written becomes an error.
func (w *worker) send(m protocol.Message) {
	err := w.out.add(m)
	if err == nil {
		return
	}
	if other := w.end.instead(m, fmt.Errorf("%s: the answer: %w", w.end.pluginName(), err)); other != nil {
		_ = w.out.add(other) // nobody is left to be told
	}
}

func (w *worker) fault(code protocol.Code, message string) *protocol.Error {
	return &protocol.Error{Code: code, Plugin: w.end.pluginName(), Message: message}
}
