package airi

import (
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// request is one call that the module makes, of a host service or of what
// another plugin offers.
type request struct {
	caller caller
	// rawID is the module's id as it came; it goes back the same.
	rawID json.RawMessage
}

// answered is the request that was answered last: its answer may turn out to be
// one that cannot be sent.
type answered struct {
	id      protocol.RequestID
	request request
}

// caller is what tells two requests of one module apart.
type caller struct{ tag, id string }

func (d *driver) asked(s step, out []protocol.Effect) []protocol.Effect {
	from := caller{tag: s.tag, id: s.idText}
	_, twice := d.callers[from]
	switch {
	case s.chunk:
		return d.refuse(s, protocol.CodeInvalid, "expected one value as the input of "+clip(s.tag)+", got a stream", out)
	case twice:
		return append(out, dropped(DroppedDuplicate, s.tag+" "+s.idText))
	case len(d.requests) >= d.settings.Pending():
		return d.refuse(s, protocol.CodeOverloaded, fmt.Sprintf(
			"%d calls by this plugin are in flight, the limit: call %s again later", d.settings.Pending(), clip(s.tag)), out)
	}
	d.lastRequest++
	d.requests[d.lastRequest] = request{caller: from, rawID: s.id}
	d.callers[from] = d.lastRequest
	return append(out, protocol.Serve{
		ID:   d.lastRequest,
		Call: protocol.Call{Key: s.tag, Input: s.content, Caller: d.settings.Plugin},
	})
}

// refuse answers a request at once, without anybody being asked.
func (d *driver) refuse(s step, code protocol.Code, why string, out []protocol.Effect) []protocol.Effect {
	return d.send(errorFrame(s.tag, s.id, &protocol.Error{Code: code, Message: why}), out)
}

func (d *driver) aborted(s step, out []protocol.Effect) []protocol.Effect {
	id, ok := d.callers[caller{tag: s.tag, id: s.idText}]
	if !ok {
		return append(out, dropped(DroppedUnknown, s.tag+"-send-abort "+s.idText))
	}
	d.forgetRequest(id)
	return append(out, protocol.Abandon{ID: id})
}

// reply sends the host's answer, unless the module has given the call up.
func (d *driver) reply(in protocol.Reply, out []protocol.Effect) []protocol.Effect {
	r, ok := d.requests[in.ID]
	switch {
	case ok:
		d.forgetRequest(in.ID)
		d.latest = answered{id: in.ID, request: r}
	case in.Err != nil && in.ID == d.latest.id:
		r, d.latest = d.latest.request, answered{}
	default:
		return out
	}
	if in.Err != nil {
		return d.send(errorFrame(r.caller.tag, r.rawID, in.Err), out)
	}
	return d.send(resultFrame(r.caller.tag, r.rawID, in.Result), out)
}

func (d *driver) forgetRequest(id protocol.RequestID) {
	delete(d.callers, d.requests[id].caller)
	delete(d.requests, id)
}
