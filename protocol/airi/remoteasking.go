package airi

import (
	"encoding/json"
	"slices"

	"github.com/airi-host/airi-host/protocol"
)

// The host asks a module on a websocket about a configuration, as a Configurator would: it
// has it validated, and then planned.

// question is one about a configuration. Answers have no ids, so that one whose caller has
// left keeps its place.
type question struct {
	id   protocol.CallID
	left bool
	// current is what is asked about; validation is the answer to the first half, nil
	// before it has come.
	current, validation json.RawMessage
}

// validate asks the module whether it would take a configuration.
func (r *remote) validate(in protocol.Invoke, out []protocol.Effect) []protocol.Effect {
	most := r.settings.Pending()
	switch {
	case !r.negotiates:
		return append(out, protocol.Complete{ID: in.ID, Result: json.RawMessage(`{"unheard":true}`)})
	case len(r.questions) >= most && r.questions[0].left: // it does not answer
		r.questions = slices.Delete(r.questions, 0, 1)
	case len(r.questions) >= most:
		return append(out, protocol.Complete{ID: in.ID, Err: overloaded(r.settings, in.Call.Key)})
	}
	q := question{id: in.ID, current: itemOf(member(in.Call.Input, "current"))}
	r.questions = append(r.questions, q)
	return append(out, q.ask(eventValidateRequest))
}

func (q question) ask(event string) protocol.Effect {
	data := append([]byte(`{"current":`), q.current...)
	return protocol.Send{Message: Note{Verb: NoteTell, Rest: event, Data: append(data, '}')}}
}

// responded takes an answer: it is for the first that waits for one of its kind. ok is false
// where none does.
func (r *remote) responded(n Note, out []protocol.Effect) (_ []protocol.Effect, ok bool) {
	plans := n.Rest == eventPlanResponse
	i := slices.IndexFunc(r.questions, func(q question) bool { return (q.validation != nil) == plans })
	if i < 0 {
		return out, false
	}
	q := &r.questions[i]
	result := n.Data
	if plans {
		result = slices.Concat(json.RawMessage(`{"validation":`), q.validation, json.RawMessage(`,"plan":`), itemOf(member(n.Data, "plan")), json.RawMessage("}"))
	}
	v, err := validatedOf(result)
	switch {
	case q.left:
		out = append(out, protocol.Drop(DroppedLate, n.Rest))
	case err == nil && !plans && v.Problems() == "" && isNothing(member(n.Data, "plan")):
		q.validation = itemOf(member(n.Data, "validation"))
		return append(out, q.ask(eventPlanRequest)), true
	default:
		if problems := v.Problems(); problems != "" {
			out = r.refuse(q.status(), problems, out)
		}
		out = append(out, protocol.Complete{ID: q.id, Result: result})
	}
	r.questions = slices.Delete(r.questions, i, i+1)
	return out, true
}

// status is the event that tells of the half that a question is at.
func (q question) status() string {
	if q.validation != nil {
		return eventPlanStatus
	}
	return eventValidateStatus
}

// stopAsking takes it that nobody waits for an answer any more.
func (r *remote) stopAsking(id protocol.CallID, out []protocol.Effect) (_ []protocol.Effect, ok bool) {
	for i := range r.questions {
		if q := &r.questions[i]; q.id == id && !q.left {
			q.left = true
			return r.refuse(q.status(), "it was not answered in time", out), true
		}
	}
	return out, false
}

func (r *remote) loseQuestions(cause error, out []protocol.Effect) []protocol.Effect {
	for _, q := range r.questions {
		if !q.left {
			out = append(out, protocol.Complete{ID: q.id, Err: r.settings.Lost("a question about its configuration", cause)})
		}
	}
	r.questions = nil
	return out
}
