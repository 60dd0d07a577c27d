package eliza

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// WorkerSettings are what a [Worker] is born with.
type WorkerSettings struct {
	// Plugin is what is announced.
	Plugin Definition
	// Key has every call of the host's checked for its signature; nil checks none.
	Key []byte
	// ReplayWindow is how many signed calls may come out of order; a call that came
	// before, or that is older, is refused. Zero means DefaultReplayWindow.
	ReplayWindow int
	// Granted are the plugin's permissions, {host?, bun?}, as the worker itself keeps to
	// them; nil are those that the host's first init tells, and without any everything is
	// allowed. Denied is told what they did not allow, and which calls were refused because
	// of their signature.
	Granted json.RawMessage
	Denied  func(Denial)
	// MaxPending is how many calls may be in flight in each direction. Zero means
	// protocol.DefaultMaxPending.
	MaxPending int
}

// Worker is the worker's end of the wire: a state machine with the contract of a
// protocol.Driver, for whoever runs a plugin in a process of its own. It is not safe for
// concurrent use.
//
// What goes in:
//
//	Begin               announce the plugin
//	Initialized         its init is over, and how; also what it has added
//	Adding              it has more, and does not wait for its init to end
//	protocol.Received   a frame of the host's
//	protocol.Report     what an action says while it runs, or a part of a model's answer
//	protocol.Reply      the answer to a Task
//	protocol.Invoke     a call of the runtime: its Key is the method, its Input the args
//	Asking              the same, telling for the sake of which Task
//	protocol.Cancel     nobody waits for such a call any more
//	protocol.Emit       an event for the host
//	protocol.Closed     the end of standard input: finish what runs and exit with 0
//
// What comes out:
//
//	protocol.Send       a frame to write
//	Task                the host wants something; exactly one Reply is owed
//	protocol.Abandon    the host does not take the parts of a model's answer any more
//	Started             the host's init, with its manifest and context, if it sends one
//	protocol.Complete   a call of the runtime is over
//	protocol.Progress   a part of such a call's answer
//	protocol.Emitted    an event of the host's
//	protocol.Dropped    counted as by the host's end
type Worker struct {
	settings WorkerSettings
	grants   Grants
	handlers handlers
	// signer checks calls; nil where no key is set.
	signer  *signer
	replays replays

	// tasks are the host's calls that are being handled.
	tasks    map[protocol.RequestID]task
	lastTask protocol.RequestID
	// calls are the calls of the runtime by number, numbers the way back.
	calls   map[uint64]asking
	numbers map[protocol.CallID]uint64
	streams map[string]uint64
	last    uint64
	// begun tells that an init came, whose permissions count.
	begun  bool
	closed bool
}

var _ protocol.Driver = (*Worker)(nil)

// Begin has a worker announce its plugin.
type Begin struct{ protocol.Run }

// Initialized tells a worker that its plugin's init is over: with Err it has failed, and
// Added is what it has added to the plugin, nil for nothing.
type Initialized struct {
	protocol.Run
	Added *Definition
	Err   error
}

// Adding has a worker announce what its plugin has got more.
type Adding struct {
	protocol.Run
	Added Definition
}

// Started is the host's init.
type Started struct {
	protocol.Logged
	Manifest, Context json.RawMessage
}

// Task is a call of the host's. Its Call's Key is the capability's, e.g. "action:GREET",
// "service:clock.now" or "http:GET /hello", and its Input what the kind takes: of an
// action {message, state, options, responses}, of a model its params, of a service the
// array of arguments, of an endpoint its context. Follows tells that a Report is sent on.
type Task struct {
	protocol.Serve
	// IsValidate tells that it is asked whether an action or an evaluator fits.
	IsValidate bool
	// Handler is which of an event's handlers is meant, from 0.
	Handler int
	// Within is given back with what its handler asks of the runtime: see Asking.
	Within json.RawMessage
}

// Asking is a call of the runtime that tells for whose sake it is made; one that is made of
// the plugin's own accord has no Within. The reference's worker tells nothing: that is a
// protocol.Invoke.
type Asking struct {
	protocol.Invoke
	// Within is that of the Task.
	Within json.RawMessage
}

// task is a Task that is not answered.
type task struct {
	// id is the host's, raw.
	id       json.RawMessage
	callback string
	// streams tells that the answer may come in parts; stream is the id that it has then.
	streams bool
	stream  json.RawMessage
	// left tells that the host does not take the answer any more.
	left bool
}

// asking is a call of the runtime that is not answered.
type asking struct {
	id     protocol.CallID
	method string
	stream string
}

// NewWorker returns the worker's end of one connection.
func NewWorker(s WorkerSettings) *Worker {
	w := &Worker{
		settings: s, grants: GrantsOf(s.Granted), replays: newReplays(s.ReplayWindow),
		handlers: handlers{byID: make(map[string]handler)},
		tasks:    make(map[protocol.RequestID]task),
		calls:    make(map[uint64]asking), numbers: make(map[protocol.CallID]uint64), streams: make(map[string]uint64),
	}
	if s.Key != nil {
		w.signer = newSigner(s.Key)
	}
	return w
}

// Step takes what happened and appends what has to be done. It sets no timers and does
// not look at the time.
func (w *Worker) Step(_ time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	if w.closed {
		return w.afterEnd(in, out)
	}
	switch in := in.(type) {
	case Begin:
		return append(out, protocol.Send{Message: Announce{Descriptor: w.handlers.describe(w.settings.Plugin)}})
	case Initialized:
		return w.initialized(in, out)
	case Adding:
		return w.add(in.Added, out)
	case protocol.Received:
		return w.received(in.Message, out)
	case protocol.Report:
		return w.report(in, out)
	case protocol.Reply:
		return w.reply(in, out)
	case protocol.Invoke:
		return w.ask(in, nil, out)
	case Asking:
		return w.ask(in.Invoke, or(in.Within, isNull), out)
	case protocol.Cancel:
		return w.cancel(in, out)
	case protocol.Emit:
		return w.emit(in, out)
	case protocol.Closed:
		w.closed = true
		return w.end(in.Err, out)
	}
	return out
}

// initialized tells the host how init ended.
func (w *Worker) initialized(in Initialized, out []protocol.Effect) []protocol.Effect {
	if in.Err != nil {
		payload := newObject().raw("error", wireError(in.Err)).done()
		return append(out, protocol.Send{Message: Event{Name: quote(eventInitFailed), Payload: payload}})
	}
	if in.Added != nil {
		out = w.add(*in.Added, out)
	}
	return append(out, protocol.Send{Message: InitComplete{}})
}

// add announces what the plugin has got more.
func (w *Worker) add(more Definition, out []protocol.Effect) []protocol.Effect {
	more.Name = w.settings.Plugin.Name
	return append(out, protocol.Send{Message: Announce{Dynamic: true, Descriptor: w.handlers.describe(more)}})
}

// started takes the host's init. Its permissions count where the worker was born with none,
// and those of the first one alone: a later one must not widen them.
func (w *Worker) started(m Init, out []protocol.Effect) []protocol.Effect {
	if !w.begun && w.settings.Granted == nil {
		w.grants = GrantsOf(granted(m.Context))
	}
	w.begun = true
	return append(out, Started{Manifest: m.Manifest, Context: m.Context})
}

func (w *Worker) emit(in protocol.Emit, out []protocol.Effect) []protocol.Effect {
	payload, err := in.Event.JSON()
	if err != nil {
		return append(out, protocol.Drop(DroppedOther, in.Event.Name+": "+err.Error()))
	}
	return append(out, protocol.Send{Message: Event{Name: quote(in.Event.Name), Payload: payload}})
}

func (w *Worker) received(m protocol.Message, out []protocol.Effect) []protocol.Effect {
	switch m := m.(type) {
	case RPC:
		return w.called(m, out)
	case Result:
		if !m.FromHost {
			return append(out, protocol.Drop(DroppedOther, typeRPCResult))
		}
		return w.answered(m, out)
	case StreamChunk:
		return w.chunk(m, out)
	case StreamEnd:
		return w.streamEnd(m, out)
	case Init:
		return w.started(m, out)
	case Event:
		return append(out, protocol.Emitted{Event: protocol.Event{Name: textOf(m.Name), Payload: m.Payload}})
	case Unreadable:
		return append(out, protocol.Drop(DroppedStray, m.Text))
	case Other:
		return append(out, protocol.Drop(DroppedOther, m.Text))
	}
	return append(out, protocol.Drop(DroppedOther, fmt.Sprintf("%T", m)))
}

// end lets the calls of the runtime go; what the host has asked for goes on, and is
// answered.
func (w *Worker) end(cause error, out []protocol.Effect) []protocol.Effect {
	for _, n := range slices.Sorted(maps.Keys(w.calls)) {
		out = append(out, protocol.Complete{ID: w.calls[n].id, Err: &protocol.Error{
			Code: protocol.CodeOutcomeUnknown, Message: "the host ended while " + protocol.Clip(w.calls[n].method) + " was in flight", Err: cause,
		}})
		w.forget(n)
	}
	return out
}

// afterEnd still answers what the host asked for before it closed its end.
func (w *Worker) afterEnd(in protocol.Input, out []protocol.Effect) []protocol.Effect {
	switch in := in.(type) {
	case protocol.Reply:
		return w.reply(in, out)
	case protocol.Report:
		return w.report(in, out)
	case Asking:
		return w.afterEnd(in.Invoke, out)
	case protocol.Invoke:
		return append(out, protocol.Complete{ID: in.ID, Err: &protocol.Error{
			Code: protocol.CodeNotReady, Message: protocol.Clip(in.Call.Key) + " was not called", Err: protocol.ErrEnded,
		}})
	}
	return out
}

func (w *Worker) pending() int {
	return protocol.Settings{MaxPending: w.settings.MaxPending}.Pending()
}
