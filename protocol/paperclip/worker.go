package paperclip

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// WorkerSettings are what a [Worker] is born with. The zero value is a worker that
// has no optional hook.
type WorkerSettings struct {
	// Hooks are the optional methods that the plugin has, by their wire names, in
	// any order: "validateConfig", "handleWebhook", "environmentExecute" and so
	// on. A method that is not among them answers -32004; health, shutdown and
	// configChanged are answered by the driver then.
	Hooks []string
	// MultiCompany tells that the plugin keeps a configuration for each company;
	// otherwise a second company's configuration is refused with -32006.
	MultiCompany bool
	// Routes has the methods of routes among the Hooks served as routes, by
	// an Opening and what follows. Otherwise they are Tasks as all others.
	Routes bool
	// Duplex is how channels carry bytes: base64 unless it is DuplexText.
	Duplex DuplexForm
	// Limits bound its routes: what it is sent is cut into chunks of so much, and so many
	// writes may wait for the program. The other limits are the host's.
	Limits RouteLimits
	// MaxPending is how many calls may be in flight in each direction. Zero means
	// protocol.DefaultMaxPending.
	MaxPending int
}

// Worker is the worker's end of the wire: a state machine with the contract of a
// protocol.Driver, for whoever runs a plugin in a process of its own. It is not
// safe for concurrent use.
//
// What goes in:
//
//	protocol.Received   a frame of the host's
//	protocol.Reply      the answer to a Task; of initialize its result is ignored
//	Asking              a call of the host, from a handler or a timer
//	protocol.Report     what the command of an environmentExecute writes (protocol.LogChunk)
//	Streaming           something on an event stream
//	protocol.AcceptRoute, WriteRoute, TakeRoute, ExitRoute, CloseRoute
//	                    a route, if the settings have them; see protocol.RouteID
//	protocol.Cancel     nobody waits for such a call any more
//	Telling             a notification for the host, such as log
//	protocol.Closed     the end of standard input: exit with status 0
//
// What comes out:
//
//	protocol.Send       a frame to write
//	Task                the host wants something; exactly one Reply is owed
//	Opening, protocol.Chunk, RouteStopped, RouteClosing
//	                    a route, if the settings have them
//	protocol.Complete   a call of the host is over
//	protocol.Ran        of StepStop: shutdown is answered; write what there is and exit
//	protocol.Dropped    counted as by the host's end
//	protocol.Abandon    at the end: nobody waits for the Reply of a Task
type Worker struct {
	settings WorkerSettings
	hooks    map[string]bool

	// tasks are the host's requests and notifications that are being handled.
	tasks    map[protocol.RequestID]pending
	lastTask protocol.RequestID
	// calls are the calls of the host in flight by number, numbers the way back.
	calls   map[uint64]asking
	numbers map[protocol.CallID]uint64
	last    uint64
	routes  workerRoutes
	// streams are the companies of the event streams that are open.
	streams map[string]string

	// initializing and initialized tell how far initialize is.
	initializing, initialized bool
	guard                     guard
	// stopped tells that shutdown is answered, closed that the input has ended.
	stopped, closed bool
}

var _ protocol.Driver = (*Worker)(nil)

// Task is a request or a notification of the host's. Its Call has the wire's method
// as its Key, the parameters as its Input, and the invocation's company and trace.
// A Reply to a notification is taken and not sent.
type Task struct {
	protocol.Serve
	// Invocation is the id to give back with whatever the handler asks of the
	// host, "" for none. It stays the handler's own when its task is over: what a
	// timer of it asks then is refused, and rightly so.
	Invocation string
}

// Opening is a route that the host asks for.
type Opening struct {
	protocol.RouteAsked
	// Invocation is as in a Task, for what is asked of the host until the route is open:
	// the host forgets it then.
	Invocation string
}

// Asking is a call of a host's service: its Call's Key is the method and its Input
// the parameters. The rest of the Call has no place on this wire.
type Asking struct {
	protocol.Invoke
	// Invocation is that of the Task from which the call is made, or "".
	Invocation string
}

// Telling is a notification for the host: the event's name is the method, its
// payload the parameters.
type Telling struct {
	protocol.Emit
	// Invocation is as in an Asking.
	Invocation string
}

// pending is a Task that is not answered.
type pending struct {
	// id is the host's, raw; nil for a notification.
	id     json.RawMessage
	method string
	// invocation is that of the Task.
	invocation string
}

// asking is a call of the host that is not answered.
type asking struct {
	id     protocol.CallID
	method string
}

// NewWorker returns the worker's end of one connection.
func NewWorker(s WorkerSettings) *Worker {
	w := &Worker{
		settings: s,
		hooks:    make(map[string]bool),
		tasks:    make(map[protocol.RequestID]pending),
		calls:    make(map[uint64]asking),
		numbers:  make(map[protocol.CallID]uint64),
		routes:   newWorkerRoutes(),
		streams:  make(map[string]string),
	}
	for _, h := range s.Hooks {
		w.hooks[h] = true
	}
	return w
}

// Step takes what happened and appends what has to be done. It sets no timers and
// does not look at the time.
func (w *Worker) Step(_ time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	if w.closed || w.stopped {
		return w.afterEnd(in, out)
	}
	switch in := in.(type) {
	case protocol.Received:
		return w.received(in.Message, out)
	case protocol.Reply:
		return w.reply(in, out)
	case Asking:
		return w.ask(in, out)
	case protocol.Cancel:
		if n, ok := w.numbers[in.ID]; ok {
			w.forget(n)
		}
	case Telling:
		return w.tell(in, out)
	case protocol.Report:
		return w.report(in, out)
	case Streaming:
		return w.stream(in, out)
	case protocol.Closed:
		w.closed = true
		return w.end(in.Err, out)
	}
	return w.routeStep(in, out)
}

func (w *Worker) received(m protocol.Message, out []protocol.Effect) []protocol.Effect {
	switch m := m.(type) {
	case Request:
		return w.requested(m, out)
	case Notification:
		return w.notified(m, out)
	case Response:
		return w.answered(m, out)
	case Unreadable:
		return append(out, protocol.Send{Message: refusal(json.RawMessage("null"), codeParse, "Parse error: "+m.Why)})
	case Unclassified:
		return append(out, protocol.Drop(DroppedUnclassified, m.Text))
	}
	return out
}

// supported is the answer to initialize: the hooks in the SDK's order, whatever
// the order in which the plugin named them.
func (w *Worker) supported() json.RawMessage {
	list := []byte{'['}
	for _, h := range hooks {
		if !w.hooks[h] {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = appendString(list, h)
	}
	return newObject().raw("ok", json.RawMessage("true")).raw("supportedMethods", append(list, ']')).done()
}

func (s WorkerSettings) pending() int { return protocol.Settings{MaxPending: s.MaxPending}.Pending() }

// known tells whether the SDK knows a method at all.
func known(method string) bool {
	return method == methodWebhook || slices.Contains(always, method) || slices.Contains(hooks, method)
}
