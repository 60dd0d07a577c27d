package airi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// Configurations on their way to a module on a websocket, and what it is asked and told of
// them.

const (
	eventValidateRequest  = "module:configuration:validate:request"
	eventValidateResponse = "module:configuration:validate:response"
)

// giving is the configuration that the host gives.
type giving struct {
	// given is the last one, nil for none.
	given *protocol.Config
	// committed tells that the one that is put in force next is known already.
	committed bool
	// waits tells that the module has not said what came of it.
	waits bool
}

// narrated takes what the reference host says on a module's channel. Most of it the module
// has said itself.
func (r *remote) narrated(e protocol.Event, out []protocol.Effect) []protocol.Effect {
	payload, err := e.JSON()
	if err != nil {
		return append(out, protocol.Drop(DroppedPayload, e.Name+": "+err.Error()))
	}
	switch e.Name {
	case eventConfigCommit, eventConfigured:
		return r.giveConfig(e.Name == eventConfigCommit, payload, out)
	case eventStatus:
		return r.tellStatus(payload, out)
	}
	return out
}

// giveConfig takes a configuration that is committed, or put in force: then it was given
// before the module started, or is committed already.
func (r *remote) giveConfig(commits bool, payload json.RawMessage, out []protocol.Effect) []protocol.Effect {
	var said struct {
		Config protocol.Config `json:"config"`
	}
	if err := json.Unmarshal(payload, &said); err != nil {
		return append(out, protocol.Drop(DroppedPayload, "a configuration: "+err.Error()))
	}
	known := r.config.committed
	r.config.committed = commits
	switch {
	case !commits && known:
		return out
	case isNobodys(said.Config) && r.config.given == nil:
		return out
	}
	r.config.given = &said.Config
	r.config.waits = r.negotiates
	r.life.ready, r.life.failure, r.life.needs = false, nil, nil
	return r.tellConfig(out)
}

// isNobodys tells the configuration that is in force where nobody has given one.
func isNobodys(c protocol.Config) bool {
	return strings.HasSuffix(c.ID, ":default") && strings.TrimSpace(string(c.Full)) == "{}"
}

// tellConfig hands the module the configuration that the host gives. One that is away gets
// it when it is back.
func (r *remote) tellConfig(out []protocol.Effect) []protocol.Effect {
	c := r.config.given
	switch {
	case c == nil || r.away != nil:
		return out
	case !r.negotiates:
		return append(out, protocol.Send{Message: Note{Verb: NoteConfigure, Data: payloadOf(c.Full)}})
	}
	data, err := json.Marshal(struct {
		Config protocol.Config `json:"config"`
	}{*c})
	if err != nil {
		return append(out, protocol.Drop(DroppedPayload, "a configuration: "+err.Error()))
	}
	return append(out, protocol.Send{Message: Note{Verb: NoteTell, Rest: eventConfigCommit, Data: data}})
}

// tellStatus tells all peers of a phase that the module does not know of. What it has said
// itself they have heard.
func (r *remote) tellStatus(payload json.RawMessage, out []protocol.Effect) []protocol.Effect {
	phase := phaseOf(payload)
	details := member(payload, "details")
	switch {
	case !r.negotiates || phase == r.life.phase:
		return out
	case phase == phasePreparing && details != nil, phase == phaseFailed, phase == phaseDegraded, phase == phaseConfigNeeded:
	default:
		return out
	}
	data := append([]byte(`{"phase":`), appendString(nil, phase)...)
	for _, name := range []string{"reason", "details"} {
		if value := member(payload, name); value != nil {
			data = append(append(data, `,"`+name+`":`...), value...)
		}
	}
	return append(out, protocol.Send{Message: Note{Verb: NoteEveryone, Rest: eventStatus, Data: append(data, '}')}})
}

// validating is a question about a configuration. Answers have no ids, so that one whose
// caller has left keeps its place.
type validating struct {
	id   protocol.CallID
	left bool
}

// validate asks the module whether it would take a configuration.
func (r *remote) validate(in protocol.Invoke, out []protocol.Effect) []protocol.Effect {
	most := r.settings.Pending()
	switch {
	case !r.negotiates:
		return append(out, protocol.Complete{ID: in.ID, Result: json.RawMessage(`{"unheard":true}`)})
	case len(r.validating) >= most && r.validating[0].left: // it does not answer
		r.validating = slices.Delete(r.validating, 0, 1)
	case len(r.validating) >= most:
		return append(out, protocol.Complete{ID: in.ID, Err: overloaded(r.settings, in.Call.Key)})
	}
	r.validating = append(r.validating, validating{id: in.ID})
	data := append([]byte(`{"current":`), itemOf(member(in.Call.Input, "current"))...)
	return append(out, protocol.Send{Message: Note{Verb: NoteTell, Rest: eventValidateRequest, Data: append(data, '}')}})
}

// validated takes an answer: it is for the first that waits. ok is false where none does.
func (r *remote) validated(data json.RawMessage) (done protocol.Effect, ok bool) {
	if len(r.validating) == 0 {
		return nil, false
	}
	first := r.validating[0]
	r.validating = slices.Delete(r.validating, 0, 1)
	if first.left {
		return protocol.Drop(DroppedLate, eventValidateResponse), true
	}
	return protocol.Complete{ID: first.id, Result: data}, true
}

// stopValidating takes it that nobody waits for an answer any more.
func (r *remote) stopValidating(id protocol.CallID) bool {
	for i := range r.validating {
		if v := &r.validating[i]; v.id == id && !v.left {
			v.left = true
			return true
		}
	}
	return false
}

func (r *remote) loseValidations(cause error, out []protocol.Effect) []protocol.Effect {
	for _, v := range r.validating {
		if !v.left {
			out = append(out, protocol.Complete{ID: v.id, Err: r.settings.Lost("a question about its configuration", cause)})
		}
	}
	r.validating = nil
	return out
}
