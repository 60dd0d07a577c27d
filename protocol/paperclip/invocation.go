package paperclip

import (
	"encoding/json"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// EventInvocationTime is how long a worker may act for the company of a
// notification; nothing tells when it has handled it.
const EventInvocationTime = 15 * time.Minute

// MaxEventInvocations is how many invocations of notifications there may be at a
// time; a newer one ends the oldest.
const MaxEventInvocations = 16384

// invocation is what a worker may act for while the host's call lasts.
type invocation struct {
	company string
	// trace is a W3C traceparent value, or "".
	trace string
	// cause is the host's call, as what the worker asks meanwhile knows it; nil where that
	// is none of a capability.
	cause *protocol.Cause
}

// envelope is the "paperclipInvocation" of a frame.
func (i invocation) envelope(id string) json.RawMessage {
	scope := newObject().str("companyId", i.company).done()
	return newObject().str("id", id).raw("scope", scope).optional("traceparent", i.trace).done()
}

// expiryTimer is this dialect's only timer: the next invocation of a notification
// ends.
const expiryTimer protocol.TimerID = 1

// invocations are those that are active. One of a call ends with the call, one of
// a notification after EventInvocationTime.
type invocations struct {
	active map[string]invocation
	// events are the notifications' ones in the order of their ends.
	events []expiry
}

type expiry struct {
	id string
	at time.Time
}

func newInvocations() invocations {
	return invocations{active: make(map[string]invocation)}
}

func (v *invocations) add(id string, i invocation) { v.active[id] = i }

func (v *invocations) end(id string) { delete(v.active, id) }

func (v *invocations) addEvent(now time.Time, id string, i invocation, out []protocol.Effect) []protocol.Effect {
	if len(v.events) == MaxEventInvocations {
		out = append(out, protocol.Drop(DroppedInvocation, v.events[0].id))
		v.drop()
	}
	if len(v.events) == 0 {
		out = append(out, protocol.SetTimer{Timer: expiryTimer, After: EventInvocationTime})
	}
	v.add(id, i)
	v.events = append(v.events, expiry{id: id, at: now.Add(EventInvocationTime)})
	return out
}

// drop ends the oldest.
func (v *invocations) drop() {
	v.end(v.events[0].id)
	v.events = v.events[1:]
}

// expire ends those whose time is over.
func (v *invocations) expire(now time.Time, out []protocol.Effect) []protocol.Effect {
	for len(v.events) > 0 && !v.events[0].at.After(now) {
		v.drop()
	}
	if len(v.events) == 0 {
		return out
	}
	return append(out, protocol.SetTimer{Timer: expiryTimer, After: v.events[0].at.Sub(now)})
}

// companyOf derives the company of a message of the host's from its parameters, as
// the reference host does: params.companyId, or where the method has another place
// for it, that one. "" for none.
func companyOf(method string, params json.RawMessage) string {
	if company := nonBlank(member(params, "companyId")); company != "" {
		return company
	}
	switch method {
	case methodPerformAction:
		return nonBlank(member(member(params, "actorContext"), "companyId"))
	case methodExecuteTool:
		return nonBlank(member(member(params, "runContext"), "companyId"))
	case methodOnEvent:
		return nonBlank(member(member(params, "event"), "companyId"))
	}
	return ""
}

// authority is what a worker's message is allowed to act for.
type authority struct {
	invocation
	// invalid tells that the message names an invocation that is not active, or
	// none although some are.
	invalid bool
}

// resolve finds the authority of a message of the worker's. An invocation that it
// names decides alone; only without one does the proactive set count.
func (d *driver) resolve(invocationID json.RawMessage, w wanted) authority {
	if id := nonBlank(invocationID); id != "" {
		i, ok := d.invocations.active[id]
		return authority{invocation: i, invalid: !ok}
	}
	if w.company != "" && d.plugin.Proactive != nil && d.plugin.Proactive(w.company) {
		return authority{invocation: invocation{company: w.company, cause: protocol.CauseUntold}}
	}
	return authority{invocation: invocation{cause: protocol.CauseUntold}, invalid: len(d.invocations.active) > 0}
}
