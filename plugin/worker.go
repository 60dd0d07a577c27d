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
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/transport/ndjson"
)

// worker runs a plugin at the worker's end of a Paperclip host's wire. One goroutine
// reads; every task of the host's has a goroutine of its own, but for those that have
// an order, which share one a lane.
type worker struct {
	definition *Definition
	opts       PaperclipOptions
	codec      protocol.Codec
	session    *Session
	log        *slog.Logger
	// known is what initialize told; nil before.
	known atomic.Pointer[known]

	// ctx is the one of all handlers; it ends when the worker does.
	ctx    context.Context
	cancel context.CancelFunc

	out output

	mu      sync.Mutex
	machine *paperclip.Worker
	effects []protocol.Effect
	// calls are those of the host that somebody waits for.
	calls    map[protocol.CallID]chan answer
	lastCall protocol.CallID
	// routes are those whose handlers run, streams the event streams that are open.
	routes  map[protocol.RouteID]*Route
	streams map[string]bool
	// hooks and events are the tasks that have an order; running counts all tasks.
	hooks, events lane
	running       int
	// hands takes a task to one of the goroutines that idle, which are counted.
	hands  chan paperclip.Task
	idlers atomic.Int32
	// idle is closed, once, when none runs; it is there when somebody waits for it.
	idle chan struct{}
	// ended is closed when nothing more is to be expected of the host, and err
	// tells why if that was no good end.
	ended chan struct{}
	over  bool
	err   error
}

func newWorker(d *Definition, o PaperclipOptions) *worker {
	w := &worker{
		definition: d,
		opts:       o,
		codec:      paperclip.Dialect{}.Codec(),
		machine: paperclip.NewWorker(paperclip.WorkerSettings{
			Hooks: optionalMethods(d), MultiCompany: o.MultiCompany, MaxPending: o.MaxPending,
			Routes: true, Duplex: paperclip.DuplexBase64,
			Limits: paperclip.RouteLimits{Chunk: o.Routes.Chunk, Writes: o.Routes.Writes, Unanswered: o.Routes.WaitingBytes},
		}),
		calls:   map[protocol.CallID]chan answer{},
		routes:  map[protocol.RouteID]*Route{},
		streams: map[string]bool{},
		hands:   make(chan paperclip.Task),
		ended:   make(chan struct{}),
	}
	w.out = output{dst: o.Out, codec: w.codec, limit: o.QueueBytes, record: o.MaxRecord, onFail: func(err error) {
		w.finish(fmt.Errorf("writing to the host: %w", err))
	}}
	w.session = newSession(d, home{w})
	w.log = newLogger(w.logLine)
	return w
}

// serve is the life of the worker.
func (w *worker) serve(ctx context.Context) error {
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() { w.finish(w.read()) }()
	select {
	case <-ctx.Done():
		w.finish(nil)
	case <-w.ended:
	}
	w.cancel()
	w.waitForTasks()
	w.step(protocol.Closed{})
	drain, stop := context.WithTimeout(context.Background(), drainTime)
	defer stop()
	err := w.out.drained(drain)
	closeAll(w.opts.In, w.opts.Out)
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
	if !w.over {
		w.over, w.err = true, err
		close(w.ended)
	}
}

// waitForTasks gives the tasks that run their grace.
func (w *worker) waitForTasks() {
	idle := make(chan struct{})
	w.mu.Lock()
	if w.running == 0 {
		close(idle)
	} else {
		w.idle = idle
	}
	w.mu.Unlock()
	grace := time.NewTimer(w.opts.Grace)
	defer grace.Stop()
	select {
	case <-idle:
	case <-grace.C:
	}
}

// read takes frames until the host's end of the wire is closed, which is a good end.
func (w *worker) read() error {
	in := ndjson.NewReader(w.opts.In, ndjson.ReaderOptions{MaxRecord: w.opts.MaxRecord})
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
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects = w.machine.Step(time.Time{}, in, w.effects[:0])
	for i, e := range w.effects {
		w.effects[i] = nil
		w.carryOut(e)
	}
}

func (w *worker) carryOut(e protocol.Effect) {
	switch e := e.(type) {
	case protocol.Send:
		w.send(e.Message)
	case paperclip.Task:
		w.begin(e)
	case protocol.Complete:
		if wanted := w.calls[e.ID]; wanted != nil {
			delete(w.calls, e.ID)
			wanted <- answer{e.Result, e.Err}
		}
	case protocol.Ran:
		if !w.over {
			w.over = true
			close(w.ended)
		}
	case protocol.Dropped:
		w.dropped(e)
	default:
		w.routeEffect(e)
	}
}

// send queues a frame. An answer that cannot be written becomes an error.
func (w *worker) send(m protocol.Message) {
	err := w.out.add(m)
	r, ok := m.(paperclip.Response)
	if err == nil || !ok {
		return
	}
	why, _ := json.Marshal(map[string]any{"code": codeWorker, "message": w.pluginName() + ": the answer: " + err.Error()})
	_ = w.out.add(paperclip.Response{ID: r.ID, Error: why}) // nobody is left to be told
}

// dropped has the host log what of it was not used.
func (w *worker) dropped(d protocol.Dropped) {
	line := logLine{Level: "warn", Message: "something of the host's was not used"}
	if d.What == paperclip.DroppedLate {
		line.Level = "debug" // its caller has given up, and knows
	}
	line.Meta, _ = json.Marshal(map[string]string{"what": d.What, "detail": d.Detail})
	params, _ := json.Marshal(line)
	w.send(paperclip.Notification{Method: methodLog, Params: params})
}
