package eliza

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// What a protocol.Dropped effect of this dialect's drivers is counted under.
const (
	// DroppedStray is a line that is no frame: a worker's print. The plugin's log shows
	// it as well, but only the beginning of a flood.
	DroppedStray = protocol.DroppedStray
	// DroppedLate is an answer, or a chunk of one, to a call that is over.
	DroppedLate = "late-answer"
	// DroppedUnknown is an answer to a call that never was, or without an id.
	DroppedUnknown = "unknown-call"
	// DroppedCallback is what an action says after its call is over, or to nobody.
	DroppedCallback = "late-callback"
	// DroppedOther is a frame of a type that means nothing to this end.
	DroppedOther = "other-frame"
	// DroppedRequest is a call of the runtime without an id: nobody could be answered.
	DroppedRequest = "request-without-id"
	// DroppedAnnounce is an announcement that comes too late or twice, or a part of one.
	DroppedAnnounce = "announcement"
	// DroppedDenied is a call that the grants do not allow.
	DroppedDenied = "denied"
	// DroppedReplay is a signed call that came before.
	DroppedReplay = "replayed-call"
	// DroppedUnsigned is a call that is not signed with the worker's key.
	DroppedUnsigned = "unsigned-call"
)

// driver is the host's end of the connection to one worker.
type driver struct {
	settings protocol.Settings
	plugin   Plugin
	grants   Grants
	// signer signs calls; nil where no key is set.
	signer *signer

	// last numbers the host's calls and callbacks, as the reference does.
	last uint64
	// calls are the calls in flight by their numbers on the wire, several where an event
	// has several handlers; numbers are the same by the host's.
	calls   map[uint64]*call
	numbers map[protocol.CallID]*call
	// left are the calls that were given up and that the worker may still be at.
	left protocol.Left
	// callbacks are the raw calls by the id under which their action says something; free
	// are calls that are over.
	callbacks map[string]*call
	free      []*call
	// out is what the last call was sent with, done what the last one was completed with.
	out  outgoing
	done completion
	// streams are the numbers of calls whose answers come in parts.
	streams map[string]uint64

	// name and targets are what the worker has announced; ids are all its handlers'.
	name    string
	targets map[string]*target
	ids     map[string]string
	// size is how many bytes of announcements were taken; refusals thins out the log of
	// those that were not.
	size     int
	refusals protocol.Strays
	// isReady tells that init-complete came, running that the setup step waits for it,
	// and failed why it will not come.
	isReady bool
	running bool
	failed  error

	requests protocol.Asked[request]

	strays protocol.Strays
	closed bool
}

var _ protocol.Borrower = (*driver)(nil)

// Borrows tells that Step takes a *protocol.Invoke and a *protocol.Received.
func (*driver) Borrows() {}

func newDriver(d Dialect, s protocol.Settings) *driver {
	h := &driver{
		settings:  s,
		calls:     make(map[uint64]*call),
		numbers:   make(map[protocol.CallID]*call),
		callbacks: make(map[string]*call),
		streams:   make(map[string]uint64),
		targets:   make(map[string]*target),
		ids:       make(map[string]string),
	}
	if d.Plugin != nil {
		h.plugin = d.Plugin(s)
	}
	h.out.send = protocol.Send{Message: &h.out.rpc}
	h.grants = GrantsOf(h.plugin.Granted)
	if h.plugin.Key != nil {
		h.signer = newSigner(h.plugin.Key)
	}
	return h
}

// Step takes what happened and appends what has to be done. It sets no timers: but for
// streams this wire has no word for a call that is given up.
func (d *driver) Step(now time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	if d.closed {
		return d.settings.AfterEnd(in, out)
	}
	switch in := in.(type) {
	case *protocol.Received:
		d.done.lends = true
		out = d.received(now, in.Message, out)
		d.done.lends = false
		return out
	case protocol.Received:
		return d.received(now, in.Message, out)
	case protocol.Run:
		return d.run(in, out)
	case protocol.Emit:
		return d.emit(in, out)
	case *protocol.Invoke:
		return d.invoke(in, out)
	case protocol.Invoke:
		return d.invoke(&in, out)
	case protocol.Cancel:
		return d.cancel(in, out)
	case protocol.Report:
		return d.report(in, out)
	case protocol.Reply:
		return d.reply(in, out)
	case protocol.Closed:
		return d.close(in, out)
	}
	return out
}

func (d *driver) received(now time.Time, m protocol.Message, out []protocol.Effect) []protocol.Effect {
	switch m := m.(type) {
	case Result:
		if m.FromHost {
			return append(out, protocol.Drop(DroppedOther, typeHostResult))
		}
		return d.answered(m, out)
	case StreamChunk:
		return d.chunk(m, out)
	case StreamEnd:
		return d.streamEnd(m, out)
	case Callback:
		return d.callback(m, out)
	case HostRPC:
		return d.asked(m, out)
	case Announce:
		return d.announced(now, m, out)
	case InitComplete:
		return d.initialized(out)
	case Event:
		return d.heard(m, out)
	case Unreadable:
		return d.unreadable(now, m, out)
	case Other:
		return append(out, protocol.Drop(DroppedOther, m.Text))
	case RPC:
		return append(out, protocol.Drop(DroppedOther, typeRPC))
	case Init:
		return append(out, protocol.Drop(DroppedOther, typeInit))
	}
	return out
}

// emit sends an event. Workers that are made by bootstrap pass over it: what they hear,
// they have handlers for.
func (d *driver) emit(in protocol.Emit, out []protocol.Effect) []protocol.Effect {
	payload, err := in.Event.JSON()
	if err != nil {
		return append(out, protocol.Drop(DroppedOther, in.Event.Name+": "+err.Error()))
	}
	return append(out, protocol.Send{Message: Event{Name: quote(in.Event.Name), Payload: payload}})
}

// close ends everything that is in flight, in the order in which it began, and nothing
// follows.
func (d *driver) close(in protocol.Closed, out []protocol.Effect) []protocol.Effect {
	if d.running {
		out = append(out, protocol.Ran{Step: protocol.StepSetup, Err: d.settings.Lost("the step setup", in.Err)})
	}
	for _, n := range slices.Sorted(maps.Keys(d.calls)) {
		if c := d.calls[n]; c != nil {
			out = append(out, protocol.Complete{ID: c.id, Err: d.settings.Lost("the call of "+protocol.Clip(c.key), in.Err)})
			d.forget(c)
		}
	}
	out = d.requests.Abandon(out)
	*d = driver{settings: d.settings, closed: true}
	return out
}

// unreadable takes a line that is no frame.
func (d *driver) unreadable(now time.Time, u Unreadable, out []protocol.Effect) []protocol.Effect {
	if u.Fault != "" {
		return append(out, d.settings.Unframed(u.Fault, u.Text))
	}
	return d.strays.Take(now, u.Text, out)
}

// number is a number of a call as the wire has it.
func number(n uint64) json.RawMessage { return strconv.AppendUint(nil, n, 10) }
