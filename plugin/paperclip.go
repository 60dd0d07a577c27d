package plugin

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// paperclipWorker is a worker at the end of a Paperclip host's wire.
type paperclipWorker struct {
	*worker
	// known is what initialize told; nil before.
	known atomic.Pointer[known]

	// What follows is under the worker's lock: routes are those whose handlers run, streams
	// the event streams that are open, hooks and events the tasks that have an order.
	routes        map[protocol.RouteID]*Route
	streams       map[string]bool
	hooks, events lane
}

var _ end = (*paperclipWorker)(nil)

func newPaperclipWorker(d *Definition, o PaperclipOptions) *paperclipWorker {
	machine := paperclip.NewWorker(paperclip.WorkerSettings{
		Hooks: optionalMethods(d), MultiCompany: o.MultiCompany, MaxPending: o.MaxPending,
		Routes: true, Duplex: paperclip.DuplexBase64,
		Limits: paperclip.RouteLimits{Chunk: o.Routes.Chunk, Writes: o.Routes.Writes, Unanswered: o.Routes.WaitingBytes},
	})
	w := &paperclipWorker{
		worker: newWorker(d, paperclip.Dialect{}.Codec(), machine, wired{
			in: o.In, out: o.Out, record: o.MaxRecord, queue: o.QueueBytes, grace: o.Grace,
		}),
		routes:  map[protocol.RouteID]*Route{},
		streams: map[string]bool{},
	}
	w.end = w
	w.session = newSession(d, paperclipHome{workerHome{w.worker}, w})
	w.log = newLogger(w.logLine)
	return w
}

func (w *paperclipWorker) open()        {}
func (w *paperclipWorker) close()       {}
func (w *paperclipWorker) host() string { return "a Paperclip host" }

// carryOut does what comes of the machine.
func (w *paperclipWorker) carryOut(e protocol.Effect) {
	switch e := e.(type) {
	case paperclip.Task:
		w.begin(task{Serve: e.Serve, invocation: e.Invocation}, w.laneOf(e.Call.Key))
	case protocol.Ran:
		w.finishLocked(nil)
	case protocol.Dropped:
		w.dropped(e)
	default:
		w.routeEffect(e)
	}
}

// laneOf is the lane of a method, nil for those that have no order.
func (w *paperclipWorker) laneOf(method string) *lane {
	switch method {
	case "initialize", "configChanged", "shutdown":
		return &w.hooks
	case "onEvent", "agents.sessions.event":
		return &w.events
	}
	return nil
}

// flow is the log of a command, all that may be told before an answer.
func (w *paperclipWorker) flow(t task) *flow {
	return &flow{log: func(ctx context.Context, item json.RawMessage) error { return w.logChunk(ctx, t.ID, item) }}
}

func (w *paperclipWorker) asking(in protocol.Invoke, invocation string) protocol.Input {
	in.Follows = false // the wire knows no such thing
	return paperclip.Asking{Invoke: in, Invocation: invocation}
}

func (w *paperclipWorker) instead(m protocol.Message, why error) protocol.Message {
	r, ok := m.(paperclip.Response)
	if !ok {
		return nil
	}
	failure, _ := json.Marshal(map[string]any{"code": codeWorker, "message": why.Error()})
	return paperclip.Response{ID: r.ID, Error: failure}
}

// dropped has the host log what of it was not used.
func (w *paperclipWorker) dropped(d protocol.Dropped) {
	line := logLine{Level: "warn", Message: "something of the host's was not used"}
	if d.What == paperclip.DroppedLate {
		line.Level = "debug" // its caller has given up, and knows
	}
	line.Meta, _ = json.Marshal(map[string]string{"what": d.What, "detail": d.Detail})
	params, _ := json.Marshal(line)
	w.send(paperclip.Notification{Method: methodLog, Params: params})
}
