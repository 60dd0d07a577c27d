package paperclip

import (
	"encoding/json"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// What a protocol.Dropped effect of this dialect's drivers is counted under.
const (
	// DroppedStray is a line that is no frame: a worker's print. The plugin's log
	// shows it as well, but only the beginning of a flood.
	DroppedStray = protocol.DroppedStray
	// DroppedUnclassified is a frame that is neither request nor answer.
	DroppedUnclassified = "unclassified"
	// DroppedLate is an answer to a call that is over: answered already, or
	// cancelled.
	DroppedLate = "late-answer"
	// DroppedUnknown is an answer to a call that never was.
	DroppedUnknown = "unknown-call"
	// DroppedNoID is an answer whose id is null, as a worker gives to a line that
	// it cannot read.
	DroppedNoID = "answer-without-id"
	// DroppedRoute is a frame of a pseudo-terminal that is not there, or not for it.
	DroppedRoute = "route-frame"
	// DroppedRouteLate is a frame of a route that is over.
	DroppedRouteLate = "late-route-frame"
	// DroppedRouteChunk is a chunk of a pseudo-terminal that is none, or too long.
	DroppedRouteChunk = "route-chunk"
	// DroppedRouteFault is a chunk of a channel that is malformed.
	DroppedRouteFault = "route-fault"
	// DroppedLogStream is a chunk of a log (execute.log) that is of neither stdout nor
	// stderr; DroppedLogChunk is one that is no text, empty or too long.
	DroppedLogStream = "log-stream"
	DroppedLogChunk  = "log-chunk"
	// DroppedLogInvocation is one that names no invocation; DroppedLogLate names one that
	// has no log: of a call that is over, or that nobody follows.
	DroppedLogInvocation = "log-invocation"
	DroppedLogLate       = "log-late"
	// DroppedLogCompany is one that came while two companies' commands ran, or after
	// that; DroppedLogTotal is one beyond what a call may log.
	DroppedLogCompany = "log-company"
	DroppedLogTotal   = "log-total"
	// DroppedStreamInvocation is a notification of an event stream whose invocation is
	// over; DroppedStreamCompany is one for another company than its invocation's.
	DroppedStreamInvocation = "stream-invocation"
	DroppedStreamCompany    = "stream-company"
	// DroppedStreamName is one without a channel's name, or where that or the company's is
	// too long; DroppedStreamLimit is an event stream too many.
	DroppedStreamName  = "stream-name"
	DroppedStreamLimit = "stream-limit"
	// DroppedNotification is a notification that means nothing.
	DroppedNotification = "unknown-notification"
	// DroppedMeta is a log line's meta that is longer than MaxLog; the line itself
	// is shown.
	DroppedMeta = "log-meta"
	// DroppedInvocation is the invocation of an event that ended before its time,
	// because MaxEventInvocations newer ones came.
	DroppedInvocation = "event-invocation"
	// DroppedEvent is an Emit whose event is none of this wire's notifications.
	DroppedEvent = "event"
)

// driver is the host's end of the connection to one worker.
type driver struct {
	settings protocol.Settings
	plugin   Plugin
	grants   map[string]bool
	newID    func() string

	// last numbers the host's calls and steps; it is their id on the wire. An id
	// up to it that nobody waits for belongs to a call that is over.
	last uint64
	// calls are the host's calls in flight by number, numbers the way back.
	calls   map[uint64]call
	numbers map[protocol.CallID]uint64
	// running is the step that runs, or its zero value.
	running running
	// done is the step that is over and not yet told, or its zero value; see finish.
	done protocol.Ran
	// isInitialized tells that initialize was answered well.
	isInitialized bool
	// endpoints and environments are what the manifest declares; supported is
	// what the worker reported.
	endpoints    []endpoint
	environments []string
	supported    []string
	// valid are the parameters of the last validateConfig that was answered with yes;
	// nil for none.
	valid json.RawMessage

	// requests are the worker's calls in flight.
	requests protocol.Asked[request]
	// params holds the parameters of the last call whose input was long.
	params []byte

	invocations invocations
	logs        logRoutes
	streams     streams
	routes      routes
	strays      protocol.Strays
	// closed is set by the end of the connection.
	closed bool
}

var _ protocol.Borrower = (*driver)(nil)

// Borrows tells that Step takes a *protocol.Invoke and a *protocol.Received.
func (*driver) Borrows() {}

func newDriver(d Dialect, s protocol.Settings) *driver {
	h := &driver{
		settings:    s,
		newID:       d.NewID,
		calls:       make(map[uint64]call),
		numbers:     make(map[protocol.CallID]uint64),
		invocations: newInvocations(),
		grants:      make(map[string]bool),
	}
	if d.Plugin != nil {
		h.plugin = d.Plugin(s)
	}
	h.logs = newLogRoutes(h.plugin.Limits.Log)
	h.streams = newStreams(h.plugin.Limits.Stream)
	h.routes = newRoutes(d.Shared)
	if h.newID == nil {
		h.newID = newUUID
	}
	for _, g := range h.plugin.Grants {
		h.grants[g] = true
	}
	return h
}

// SupportedMethods returns the methods that the worker reported with its answer to
// initialize, as it reported them; nil before.
func (d *driver) SupportedMethods() []string { return d.supported }

// Step takes what happened and appends what has to be done. Calls have no timers
// here, since this wire has no word for a cancelled call: they end by Cancel.
func (d *driver) Step(now time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	if d.closed {
		return d.settings.AfterEnd(in, out)
	}
	switch in := in.(type) {
	case *protocol.Received:
		return d.received(now, in.Message, out)
	case protocol.Received:
		return d.received(now, in.Message, out)
	case protocol.Run:
		return d.run(in, out)
	case protocol.Emit:
		return d.emit(now, in, out)
	case *protocol.Invoke:
		return d.invoke(now, in, out)
	case protocol.Invoke:
		return d.invoke(now, &in, out)
	case protocol.Cancel:
		return d.cancel(in, out)
	case protocol.Reply:
		return d.reply(in, out)
	case protocol.Fired:
		return d.fired(now, in.Timer, out)
	case protocol.Closed:
		return d.close(in, out)
	}
	return d.routeStep(now, in, out)
}

// fired takes a timer that ran out.
func (d *driver) fired(now time.Time, id protocol.TimerID, out []protocol.Effect) []protocol.Effect {
	if id == expiryTimer {
		return d.invocations.expire(now, out)
	}
	return d.routeTimer(now, id, out)
}

func (d *driver) received(now time.Time, m protocol.Message, out []protocol.Effect) []protocol.Effect {
	switch m := m.(type) {
	case Response:
		return d.answered(m, out)
	case Request:
		return d.asked(m, out)
	case Notification:
		return d.noted(m, out)
	case Unreadable:
		return d.unreadable(now, m, out)
	case Unclassified:
		return append(out, protocol.Drop(DroppedUnclassified, m.Text))
	}
	return out
}

// emit sends a notification that the SDK knows, its parameters as they are. Other
// events are not for this worker.
func (d *driver) emit(now time.Time, in protocol.Emit, out []protocol.Effect) []protocol.Effect {
	params, err := in.Event.JSON()
	name := in.Event.Name
	if err != nil || name != methodOnEvent && name != methodSessionEvent {
		return append(out, protocol.Drop(DroppedEvent, name))
	}
	company := ""
	if name == methodOnEvent {
		company = companyOf(name, params)
	}
	return d.notify(now, name, params, invocation{company: company}, out)
}

// notify sends a notification. If it is for a company, the worker may act for it
// in EventInvocationTime.
func (d *driver) notify(now time.Time, method string, params []byte, i invocation, out []protocol.Effect) []protocol.Effect {
	n := Notification{Method: method, Params: params}
	if i.company != "" {
		id := d.newID()
		n.Invocation = i.envelope(id)
		out = d.invocations.addEvent(now, id, i, out)
	}
	return append(out, protocol.Send{Message: n})
}
