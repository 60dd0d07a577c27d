package airi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Events between a module on a websocket and others in the host, and the calls of it.

// eventKey starts the keys of those who hear an event.
const eventKey = "event:"

// serverEvents begin the names of the websocket protocol's own events.
var serverEvents = []string{"module:", "registry:", "peer:", "extension:", "transport:", "ui:"}

// IsServers tells whether an event is the websocket protocol's own.
func IsServers(name string) bool {
	return name == "error" || slices.ContainsFunc(serverEvents, func(p string) bool { return strings.HasPrefix(name, p) })
}

func isBlank(name string) bool { return strings.TrimFunc(name, protocol.IsBlank) == "" }

func isReservedEvent(name string) bool { return strings.HasPrefix(name, ReservedPrefix) }

// invoke makes a call: of a handler, by Eventa; of who hears an event; or the question
// about a configuration.
func (r *remote) invoke(now time.Time, in protocol.Invoke, out []protocol.Effect) []protocol.Effect {
	key := in.Call.Key
	name, isEvent := strings.CutPrefix(key, eventKey)
	switch {
	case r.away != nil:
		return append(out, protocol.Complete{ID: in.ID, Err: r.settings.Fault(protocol.CodeNotReady, fmt.Sprintf(
			"plugin %s has no connection for now (%s): call %s again later", r.settings.Plugin, clip(*r.away), clip(key)))})
	case key == validateTag:
		return r.validate(in, out)
	case isEvent:
		return r.deliver(name, in, out)
	}
	return r.eventa.Step(now, in, out)
}

// deliver hands the module an event of others. Nobody answers it.
func (r *remote) deliver(name string, in protocol.Invoke, out []protocol.Effect) []protocol.Effect {
	if isBlank(name) || IsServers(name) || isReservedEvent(name) {
		return append(out, protocol.Complete{ID: in.ID, Err: r.settings.Fault(protocol.CodeNotFound, fmt.Sprintf(
			"expected an event that is not the websocket protocol's own, got %q", clip(name)))})
	}
	return append(out,
		protocol.Send{Message: Note{Verb: NoteDeliver, Rest: name, Data: DataOf(in.Call.Input)}},
		protocol.Complete{ID: in.ID, Result: null})
}

// DataOf is data as the object that an event's data has to be: {} for none, and {value} for
// any other value.
func DataOf(data json.RawMessage) json.RawMessage {
	switch trimmed := bytes.TrimLeft(data, jsonSpace); {
	case len(trimmed) == 0:
		return json.RawMessage("{}")
	case trimmed[0] == '{':
		return data
	default:
		return slices.Concat(json.RawMessage(`{"value":`), data, json.RawMessage("}"))
	}
}

// said is an event that the module sent to others: those in the host who hear it are told,
// but for the peers on websockets, who got it.
func (r *remote) said(n Note, out []protocol.Effect) []protocol.Effect {
	out = append(out, protocol.Emitted{Event: ownEvent(n)})
	if len(r.hearing) >= r.settings.Pending() || r.heard > 0 && r.heard+len(n.Data) > protocol.MaxAsked {
		return append(out, protocol.Drop(DroppedEvent, n.Rest))
	}
	id := r.eventa.nextRequest()
	put(&r.hearing, id, len(n.Data))
	r.heard += len(n.Data)
	return append(out, protocol.Serve{ID: id, Call: protocol.Call{
		Key: eventKey + n.Rest, Input: n.Data, Caller: r.settings.Plugin, Told: true, Cause: protocol.CauseUntold,
	}})
}

// heardBy takes it that all have heard an event of the module's, of which it is not told.
func (r *remote) heardBy(id protocol.RequestID) bool {
	size, is := r.hearing[id]
	if is {
		delete(r.hearing, id)
		r.heard -= size
	}
	return is
}
