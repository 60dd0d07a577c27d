package airi

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// What a protocol.Dropped effect of this dialect's driver is counted under.
const (
	// DroppedLate is an answer to a call that is over: answered already (a second
	// handler of one tag), cancelled, or past its deadline.
	DroppedLate = "late-answer"
	// DroppedUnknown is an answer to a call that never was, and an abort or a part of
	// a request stream of a call that is over or never was.
	DroppedUnknown = "unknown-call"
	// DroppedDuplicate is a call whose id is already in flight under its tag.
	DroppedDuplicate = "duplicate-call"
	// DroppedStream is a part of a request stream that has ended, or of a call that
	// has none.
	DroppedStream = "stream"
	// DroppedName is a call by the module whose id or tag is longer than MaxName, or
	// such a handler.
	DroppedName = "name"
	// DroppedControl is an event below ControlPrefix that means nothing.
	DroppedControl = "control"
	// DroppedOffer is a handler that does not become an offer: its tag is the
	// host's own, or the module has MaxOffers already.
	DroppedOffer = "offer"
	// DroppedReserved is an event for the module that would pass as a step of an
	// invoke or as one of the bridge's own, so that it was not sent.
	DroppedReserved = "reserved-event"
	// DroppedPayload is an event for the module whose payload does not encode.
	DroppedPayload = "payload"
	// DroppedUnended is the items of a response stream that were collected for a call whose
	// caller has left before they ended. An answer of one value without its invokeType, 4,
	// looks like one.
	DroppedUnended = "unended-stream"
)

// Bounds on what a module can make the host keep.
const (
	// MaxOffers is how many handlers of one module become offers.
	MaxOffers = 1024
	// MaxName is how long the ids of a module's calls and its tags may be, in bytes.
	MaxName = 1024
	// MaxCollected, MaxCollectedBytes and MaxCollectedTotal are the defaults of [Collecting].
	MaxCollected      = 1024
	MaxCollectedBytes = 8 << 20
	MaxCollectedTotal = 64 << 20
)

// Collecting is how much of response streams is collected for callers who do not follow
// them. The next item fails the call with protocol.CodeOverloaded, and the module is told to
// stop. Zero or less means the default.
type Collecting struct {
	// Items and Bytes are for one call: [MaxCollected] and [MaxCollectedBytes].
	Items, Bytes int
	// Total is the bytes of all calls of one module together: [MaxCollectedTotal].
	Total int
}

func (c Collecting) withDefaults() Collecting {
	return Collecting{
		Items: cmp.Or(max(c.Items, 0), MaxCollected), Bytes: cmp.Or(max(c.Bytes, 0), MaxCollectedBytes),
		Total: cmp.Or(max(c.Total, 0), MaxCollectedTotal),
	}
}

// idPrefix starts the invokeIds of the host's calls, so that the bridge can tell
// answers for the host from those that stay inside the module.
const idPrefix = "airi-host-"

// far is how the far end of a connection is reached.
type far struct {
	// prefix starts the invokeIds of the host's calls.
	prefix string
	// alone tells that no bridge stands before the module: nothing marks what opens a
	// call, nor what its caller listens to.
	alone bool
	// module tells that this is the module's own end.
	module bool
}

// driver is the host's end of one connection to one module.
type driver struct {
	settings protocol.Settings
	far      far

	// last numbers the host's calls and steps as they go out; it becomes their
	// invokeIds. An id up to it that nobody waits for belongs to a call that is over.
	last uint64
	// calls are the host's calls in flight, numbers those of them that the module
	// has been told of.
	calls   map[protocol.CallID]*call
	numbers map[uint64]*call
	// left are the calls that were given up and that the module may still be at.
	left protocol.Left
	// begun counts the host's calls.
	begun uint64
	// collecting bounds what calls collect; collected is what all have, in bytes.
	collecting Collecting
	collected  int
	// running is the step that runs, or its zero value.
	running running

	// requests are the peer's calls in flight, callers the way back; asking is what all of
	// them carry, in bytes.
	requests    map[protocol.RequestID]*request
	asking      int
	callers     map[caller]protocol.RequestID
	lastRequest protocol.RequestID
	latest      answered
	// spent are calls that were over before their request streams, at a module alone.
	spent spent

	// offers are the tags that are offered now.
	offers map[string]struct{}

	// sent numbers the frames, deliveries stands before the number.
	sent       uint64
	deliveries string
	// closed is set by the end of the connection.
	closed bool
}

var _ protocol.Driver = (*driver)(nil)

func newDriver(s protocol.Settings, c Collecting) *driver {
	return newDriverTo(far{prefix: idPrefix}, s, c)
}

func newDriverTo(f far, s protocol.Settings, c Collecting) *driver {
	return &driver{
		settings:   s,
		far:        f,
		deliveries: f.prefix,
		collecting: c.withDefaults(),
	}
}

// put sets a value in a map that is made when it gets its first: most modules say little.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// Step takes what happened and appends what has to be done. This driver sets no
// timers and does not look at the time: Eventa knows no deadlines, and the
// host's calls end by Cancel.
func (d *driver) Step(_ time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	if d.closed {
		return d.settings.AfterEnd(in, out)
	}
	switch in := in.(type) {
	case protocol.Received:
		return d.received(in, out)
	case protocol.Run:
		return d.run(in, out)
	case protocol.Emit:
		return d.emit(in, out)
	case protocol.Invoke:
		return d.invoke(in, out)
	case protocol.Feed:
		return d.feed(in, out)
	case protocol.FeedEnd:
		return d.feedEnd(in, out)
	case protocol.Cancel:
		return d.cancel(in, out)
	case protocol.Report:
		return d.report(in, out)
	case protocol.Reply:
		return d.reply(in, out)
	case protocol.Closed:
		return d.close(in, out)
	}
	return out // Fired: there are no timers
}

func (d *driver) received(in protocol.Received, out []protocol.Effect) []protocol.Effect {
	if m, ok := in.Message.(Misframed); ok {
		return append(out, d.settings.Unframed(m.Fault, m.Text))
	}
	f, ok := in.Message.(Frame)
	if !ok {
		return out
	}
	if strings.HasPrefix(f.ID, ReservedPrefix) {
		return d.control(f, out)
	}
	return d.event(f, out)
}

// event takes an event of the module's own, which may be a step of an invoke.
func (d *driver) event(f Frame, out []protocol.Effect) []protocol.Effect {
	s := readStep(f)
	switch s.kind {
	case noStep:
		return append(out, protocol.Emitted{Event: eventOf(f)})
	case stepSend, stepSendEnd, stepSendError:
		return d.asked(s, f.ID, out)
	case stepSendAbort:
		return d.aborted(s, out)
	case stepReceive, stepReceiveError, stepReceiveEnd:
		return d.answered(s, f.ID, out)
	}
	return out
}

func eventOf(f Frame) protocol.Event {
	if f.Body == nil {
		return protocol.Event{Name: f.ID}
	}
	return protocol.Event{Name: f.ID, Payload: f.Body}
}

// emit puts an event on the module's channel. An event may have come from
// another plugin, so one that the module's end would take for more than an
// event is held back.
func (d *driver) emit(in protocol.Emit, out []protocol.Effect) []protocol.Effect {
	body, err := in.Event.JSON()
	if err != nil {
		return append(out, protocol.Drop(DroppedPayload, in.Event.Name+": "+err.Error()))
	}
	f := Frame{ID: in.Event.Name, Body: body}
	if f.ID == "" || strings.HasPrefix(f.ID, ReservedPrefix) || readStep(f).kind != noStep {
		return append(out, protocol.Drop(DroppedReserved, f.ID))
	}
	return d.send(f, out)
}

// send numbers a frame and lets it go.
func (d *driver) send(f Frame, out []protocol.Effect) []protocol.Effect {
	d.sent++
	f.Delivery = d.deliveries + strconv.FormatUint(d.sent, 10)
	return append(out, protocol.Send{Message: f})
}
