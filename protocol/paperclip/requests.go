package paperclip

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// request is one call that the worker makes of the host.
type request struct {
	// id is the worker's as it came; it goes back the same.
	id     json.RawMessage
	method string
	// company is what it is in scope of, or "".
	company string
	// size is how many bytes its parameters have.
	size int
}

// MaxAsked is how many bytes the parameters of a worker's calls in flight may have
// together, beside one call: the next one is answered with -32000.
const MaxAsked = 256 << 20

func (d *driver) asked(r Request, out []protocol.Effect) []protocol.Effect {
	w := wantedBy(r.Method, r.Params)
	a := d.resolve(r.InvocationID, w)
	if no := d.gate(r.Method, w, a); no.code != 0 {
		return append(no.told(r.Method, w, out), protocol.Send{Message: refusal(r.ID, no.code, no.message)})
	}
	if len(d.requests) >= d.settings.Pending() {
		return append(out, protocol.Send{Message: failure(r.ID, d.fault(protocol.CodeOverloaded, fmt.Sprintf(
			"%d calls by this plugin are in flight, the limit: call %s again later", d.settings.Pending(), quotable(r.Method))), hostEnd)})
	}
	if d.asking >= MaxAsked {
		return append(out, protocol.Send{Message: failure(r.ID, d.fault(protocol.CodeOverloaded, fmt.Sprintf(
			"calls with %d bytes by this plugin are in flight, the limit is %d: call %s again later", d.asking, MaxAsked, quotable(r.Method))), hostEnd)})
	}
	d.lastRequest++
	id, size := r.ID, len(r.Params)
	if size > longInput { // the id must not keep the frame
		id = bytes.Clone(id)
	}
	d.asking += size
	d.requests[d.lastRequest] = request{id: id, method: r.Method, company: a.company, size: size}
	return append(out, protocol.Serve{
		ID: d.lastRequest,
		Call: protocol.Call{
			Key: r.Method, Input: r.Params, Scope: a.company, Trace: a.trace, Caller: d.settings.Plugin,
		},
	})
}

// reply sends the host's answer.
func (d *driver) reply(in protocol.Reply, out []protocol.Effect) []protocol.Effect {
	r, ok := d.requests[in.ID]
	if !ok && in.ID == d.replied.id && in.Err != nil { // what was answered could not be sent
		r, ok = d.replied.request, true
	}
	d.replied.id = 0
	if !ok {
		return out
	}
	if in.Err == nil {
		d.replied.id, d.replied.request = in.ID, r
	}
	if one, waits := d.requests[in.ID]; waits {
		d.asking -= one.size
		delete(d.requests, in.ID)
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
