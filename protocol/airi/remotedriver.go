package airi

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// DroppedEvent is an event of a module's on a websocket that nobody is told of: as many as
// may be under way have not been heard by all yet.
const DroppedEvent = "event"

// DroppedOwn is a call that a module on a websocket makes of what it offers itself. Eventa
// has given it to the module's own handler before it sent it.
const DroppedOwn = "own-call"

// remote is the host's end of the link to one module on a websocket. Eventa's part is that
// of a module behind the bridge; what the bridge would do besides is here.
type remote struct {
	settings protocol.Settings
	// negotiates is Remote.Negotiates.
	negotiates bool
	eventa     *driver
	// form is the outer form of what the module is sent.
	form form

	// running is the step that waits, or "".
	running protocol.Step
	life    life
	config  giving
	// questions are those about configurations that wait, in order.
	questions []question

	// offers are the keys that the module may offer.
	offers map[string]*remoteOffer
	// hearing are the module's events that others are being told of, with their bytes, and
	// heard all of these.
	hearing map[protocol.RequestID]int
	heard   int

	// away is why the module has no connection, nil while it has one.
	away   *string
	closed bool
}

var _ protocol.Driver = (*remote)(nil)

func newRemote(d Remote, s protocol.Settings, c Collecting) *remote {
	return &remote{
		settings:   s,
		negotiates: d.Negotiates,
		eventa:     newDriverTo(far{prefix: remotePrefix(d.Session), alone: true}, s, c),
	}
}

// Step takes what happened and appends what has to be done. It sets no timers, and takes
// from the first time it is told only what makes the names of its frames new: Eventa takes
// one that it has seen within some minutes for a copy.
func (r *remote) Step(now time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	if r.closed {
		return r.settings.AfterEnd(in, out)
	}
	if r.eventa.sent == 0 {
		r.eventa.deliveries = r.eventa.far.prefix + strconv.FormatInt(now.UnixNano(), 36) + "-"
	}
	from := len(out)
	out = r.take(now, in, out)
	for i := from; i < len(out); i++ {
		if s, ok := out[i].(protocol.Send); ok {
			if f, ok := s.Message.(Frame); ok {
				out[i] = protocol.Send{Message: formed{f, r.form}}
			}
		}
	}
	return out
}

func (r *remote) take(now time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	switch in := in.(type) {
	case protocol.Received:
		return r.received(in, out)
	case protocol.Run:
		return r.run(in, out)
	case protocol.Emit:
		return r.narrated(in.Event, out)
	case protocol.Invoke:
		return r.invoke(now, in, out)
	case protocol.Cancel:
		if out, ok := r.stopAsking(in.ID, out); ok {
			return out
		}
	case protocol.Reply:
		if r.heardBy(in.ID) {
			return out
		}
	case protocol.Closed:
		return r.close(now, in, out)
	}
	return r.eventa.Step(now, in, out)
}

func (r *remote) received(in protocol.Received, out []protocol.Effect) []protocol.Effect {
	switch m := in.Message.(type) {
	case formed:
		return r.frame(m, out)
	case Note:
		return r.note(m, out)
	}
	return out
}

// frame takes a frame of Eventa's. What is between a host and a bridge is no module's.
func (r *remote) frame(m formed, out []protocol.Effect) []protocol.Effect {
	switch {
	case r.away != nil:
		return append(out, protocol.Drop(DroppedLate, m.ID))
	case isReservedEvent(m.ID):
		return append(out, protocol.Drop(DroppedControl, m.ID))
	}
	r.form = m.form
	if r.isOwn(m.ID) {
		return append(out, protocol.Drop(DroppedOwn, m.ID))
	}
	return r.eventa.event(m.Frame, out)
}

func (r *remote) note(n Note, out []protocol.Effect) []protocol.Effect {
	switch n.Verb {
	case NoteAnnounced:
		return r.announced(n, out)
	case NoteLife, NoteAsked, NoteSaid:
		return r.told(n, out)
	case NoteAway:
		return knows(r.lose(n.Rest, out))
	case NoteBack:
		return r.back(out)
	case NoteSwapped:
		return knows(r.swapped(out))
	}
	return append(out, protocol.Drop(DroppedControl, n.Verb+" "+n.Rest))
}

// knows ends what a lost connection gave rise to.
func knows(out []protocol.Effect) []protocol.Effect {
	return append(out, protocol.Send{Message: Note{Verb: NoteKnows}})
}

// told takes an event of the websocket protocol.
func (r *remote) told(n Note, out []protocol.Effect) []protocol.Effect {
	switch {
	case isBlank(n.Rest):
		return append(out, protocol.Drop(DroppedControl, n.Verb))
	case len(n.Rest) > MaxName:
		return append(out, protocol.Drop(DroppedName, n.Rest))
	case n.Verb == NoteLife:
		return r.lived(n, out)
	case n.Verb == NoteAsked:
		return append(out, protocol.Emitted{Event: protocol.Event{Name: n.Rest, Payload: othersWords(n.Data)}})
	}
	return r.said(n, out)
}

// lose takes it that the connection is gone: what was in flight has an unknown outcome.
func (r *remote) lose(reason string, out []protocol.Effect) []protocol.Effect {
	if r.away != nil {
		return append(out, protocol.Drop(DroppedControl, NoteAway))
	}
	reason = cmp.Or(protocol.Cut(reason, protocol.MaxReason), "its connection is closed")
	r.away = &reason
	r.life.unwell = "" // what it said of itself is not its state any more
	return append(r.loseCalls(errors.New(reason), out), protocol.Absent{Reason: reason})
}

func (r *remote) loseCalls(cause error, out []protocol.Effect) []protocol.Effect {
	out = r.eventa.lose(cause, out)
	return r.loseQuestions(cause, out)
}

func (r *remote) back(out []protocol.Effect) []protocol.Effect {
	if r.away == nil {
		return append(out, protocol.Drop(DroppedControl, NoteBack))
	}
	r.away = nil
	if r.life.unwell != "" {
		out = append(out, protocol.Absent{Reason: r.life.unwell})
	} else {
		out = append(out, protocol.Present{})
	}
	return r.renew(out)
}

// swapped is away and back at once, of which nobody needs to hear.
func (r *remote) swapped(out []protocol.Effect) []protocol.Effect {
	if r.away != nil {
		return r.back(out)
	}
	return r.renew(r.loseCalls(errors.New("another connection has taken its place"), out))
}

// renew begins with a new connection. Who is there may be another process, of another
// release of Eventa's, and without the configuration that the former one was given.
func (r *remote) renew(out []protocol.Effect) []protocol.Effect {
	r.form = bothForms
	r.life.phase = ""
	return r.tellConfig(out)
}

func (r *remote) close(now time.Time, in protocol.Closed, out []protocol.Effect) []protocol.Effect {
	if r.running != "" {
		out = append(out, protocol.Ran{Step: r.running, Err: r.settings.Lost(string(r.running), in.Err)})
	}
	out = r.eventa.Step(now, in, out)
	out = r.loseQuestions(in.Err, out)
	for _, id := range slices.Sorted(maps.Keys(r.hearing)) {
		out = append(out, protocol.Abandon{ID: id})
	}
	*r = remote{settings: r.settings, closed: true}
	return out
}
