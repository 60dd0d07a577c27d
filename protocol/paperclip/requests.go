package paperclip

import (
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// request is one call that the worker makes of the host.
type request struct {
	// id is the worker's as it came; it goes back the same.
	id     json.RawMessage
	method string
	// company is what it is in scope of, or "".
	company string
}

// MaxAsked is how many bytes the parameters of a worker's calls in flight may have
// together, beside one call: the next one is answered with -32000.
const MaxAsked = protocol.MaxAsked

func (d *driver) asked(r Request, out []protocol.Effect) []protocol.Effect {
	w := wantedBy(r.Method, r.Params)
	a := d.resolve(r.InvocationID, w)
	if no := d.gate(r.Method, w, a); no.code != 0 {
		return append(no.told(r.Method, w, out), protocol.Send{Message: refusal(r.ID, no.code, no.message)})
	}
	size := len(r.Params) + len(r.ID) // both of which are kept
	if no := d.requests.Refusal(d.settings, quotable(r.Method), size); no != nil {
		return append(out, protocol.Send{Message: failure(r.ID, no, hostEnd)})
	}
	return append(out, protocol.Serve{
		ID: d.requests.Add(request{id: protocol.KeptID(r.ID, size), method: r.Method, company: a.company}, size),
		Call: protocol.Call{
			Key: r.Method, Input: r.Params, Scope: a.company, Trace: a.trace, Cause: a.cause, Caller: d.settings.Plugin,
		},
	})
}

// reply sends the host's answer.
func (d *driver) reply(in protocol.Reply, out []protocol.Effect) []protocol.Effect {
	r, ok := d.requests.Answered(in)
	if !ok {
		return out
	}
	return d.finish(append(out, protocol.Send{Message: d.answer(r, in)}))
}

func (d *driver) answer(r request, in protocol.Reply) Response {
	switch {
	case protocol.CodeOf(in.Err) == protocol.CodeNotFound && d.plugin.Handles == nil:
		return refusal(r.id, codeMethodNotFound, unhandled(r.method))
	case in.Err != nil:
		return failure(r.id, in.Err, hostEnd)
	case r.method == methodListCompanies && r.company != "":
		return onlyCompany(r, in.Result)
	}
	return success(r.id, in.Result)
}

// onlyCompany answers companies.list inside a scope: with that company alone.
func onlyCompany(r request, rows json.RawMessage) Response {
	kept := []byte{'['}
	ok := eachItem(rows, func(row json.RawMessage) {
		if id, _ := text(member(row, "id")); id != r.company {
			return
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, row...)
	})
	if !ok {
		return refusal(r.id, codeInternal, "companies.list: the host's own answer is no list")
	}
	return success(r.id, append(kept, ']'))
}
