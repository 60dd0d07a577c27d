package airi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// request is one call that the module makes, of a host service or of what
// another plugin offers.
type request struct {
	caller caller
	// rawID is the module's id as it came; it goes back the same.
	rawID json.RawMessage
	// follows tells that the module takes a stream for an answer.
	follows bool
	// feeds tells that its request stream is open, reported that an item of the answer's
	// was sent.
	feeds, reported bool
	// size is how many bytes it carries.
	size int
}

// answered is the request that was answered last: its answer may turn out to be
// one that cannot be sent.
type answered struct {
	id      protocol.RequestID
	request *request
}

// caller is what tells two requests of one module apart.
type caller struct{ tag, id string }

// asked takes the first frame of a request, or a further part of its stream. Any
// frame of a request stream may be the first: its end is, where it has no items. The
// bridge marks it, so that a part that comes late opens nothing.
func (d *driver) asked(s step, eventID string, out []protocol.Effect) []protocol.Effect {
	from := caller{tag: s.tag, id: s.idText}
	id, known := d.callers[from]
	part := s.kind != stepSend || s.chunk
	opens := !part || s.opens != ""
	if part && !known && d.far.alone {
		opens = !d.spent.part(from, s.kind != stepSend)
	}
	switch {
	case len(s.tag) > MaxName || len(s.id) > MaxName:
		return append(out, protocol.Drop(DroppedName, eventID))
	case known && opens:
		return append(out, protocol.Drop(DroppedDuplicate, s.tag+" "+s.idText))
	case known:
		return d.fed(id, s, eventID, out)
	case !opens:
		return append(out, protocol.Drop(DroppedUnknown, eventID))
	}
	if code, why := d.refusal(s); code != "" {
		if s.kind == stepSend && part && d.far.alone {
			d.spent.add(from, d.settings.Pending())
		}
		return d.refuse(s, code, why, out)
	}
	return d.serve(from, s, part, eventID, out)
}

// refusal is why a request is answered at once, without anybody being asked.
func (d *driver) refusal(s step) (code protocol.Code, why string) {
	switch {
	case strings.HasPrefix(s.tag, functionPrefix):
		return protocol.CodeNotFound, clip(s.tag) +
			" is a function that was an argument of a call: it can be called in its own module only, since functions do not travel to other plugins"
	case len(d.requests) >= d.settings.Pending():
		return protocol.CodeOverloaded, fmt.Sprintf(
			"%d calls by this plugin are in flight, the limit: call %s again later", d.settings.Pending(), clip(s.tag))
	case d.asking > 0 && d.asking+len(s.content) > protocol.MaxAsked:
		return protocol.CodeOverloaded, fmt.Sprintf(
			"calls with %d bytes by this plugin are in flight, the limit is %d: call %s again later", d.asking, protocol.MaxAsked, clip(s.tag))
	}
	return "", ""
}

func (d *driver) serve(from caller, s step, feeds bool, eventID string, out []protocol.Effect) []protocol.Effect {
	id := d.nextRequest()
	r := &request{caller: from, rawID: s.id, follows: d.follows(s), feeds: feeds}
	if !feeds { // else the call has room of its own for what it is fed
		r.size = len(s.content)
	}
	put(&d.requests, id, r)
	put(&d.callers, from, id)
	d.asking += r.size
	e := protocol.Serve{
		ID:      id,
		Call:    d.within(s, protocol.Call{Key: s.tag, Caller: d.settings.Plugin}),
		Follows: r.follows, Feeds: feeds,
	}
	if feeds {
		return d.fed(id, s, eventID, append(out, e))
	}
	e.Call.Input = s.content
	return append(out, e)
}

func (d *driver) nextRequest() protocol.RequestID {
	d.lastRequest++
	return d.lastRequest
}

// within tells of a request for the sake of which of the host's calls the module makes
// it: in that one's scope.
func (d *driver) within(s step, c protocol.Call) protocol.Call {
	n, known := d.numberOf(s.within)
	if !known {
		if d.far.alone {
			c.Cause = protocol.CauseUntold
		}
		return c
	}
	if one := d.numbers[n]; one != nil {
		c.Cause, c.Trace = &one.cause, one.trace
	} else {
		c.Cause = d.left.Cause(n)
	}
	if c.Cause != nil {
		c.Scope = c.Cause.Scope
	}
	return c
}

// fed takes a part of a request stream of the module's.
func (d *driver) fed(id protocol.RequestID, s step, eventID string, out []protocol.Effect) []protocol.Effect {
	r := d.requests[id]
	if !r.feeds {
		return append(out, protocol.Drop(DroppedStream, eventID))
	}
	if s.kind == stepSend {
		return append(out, protocol.Fed{ID: id, Item: itemOf(s.content)})
	}
	r.feeds = false
	end := protocol.FedEnd{ID: id}
	if s.kind == stepSendError {
		end.Err = errorOf(s.content, "the request stream of "+clip(s.tag)+" failed without a message")
	}
	return append(out, end)
}

// refuse answers a request at once, without anybody being asked.
func (d *driver) refuse(s step, code protocol.Code, why string, out []protocol.Effect) []protocol.Effect {
	return d.send(errorFrame(s.tag, s.id, &protocol.Error{Code: code, Message: why}), out)
}

func (d *driver) aborted(s step, out []protocol.Effect) []protocol.Effect {
	id, ok := d.callers[caller{tag: s.tag, id: s.idText}]
	if !ok {
		return append(out, protocol.Drop(DroppedUnknown, s.tag+"-send-abort "+s.idText))
	}
	d.forgetRequest(id)
	return append(out, protocol.Abandon{ID: id})
}

// report sends an intermediate item to a module that takes a stream; no other one
// would know it from the result.
func (d *driver) report(in protocol.Report, out []protocol.Effect) []protocol.Effect {
	r := d.requests[in.ID]
	if r == nil || !r.follows {
		return out
	}
	r.reported = true
	return d.send(answerItemFrame(r.caller.tag, r.rawID, in.Item), out)
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
	if d.far.alone {
		return d.answerAlone(r, in, out)
	}
	return d.send(r.answer(in), out)
}

// answer is the last frame that a request gets. One that takes a stream gets a
// result, too, where there is one: the bridge makes it the last item and the end.
func (r *request) answer(in protocol.Reply) Frame {
	switch {
	case in.Err != nil:
		return errorFrame(r.caller.tag, r.rawID, in.Err)
	case r.follows && isNothing(in.Result):
		return answerEndFrame(r.caller.tag, r.rawID)
	default:
		return resultFrame(r.caller.tag, r.rawID, in.Result)
	}
}

// isNothing tells a result that says no more than that a stream has ended.
func isNothing(result json.RawMessage) bool {
	result = bytes.Trim(result, jsonSpace)
	return len(result) == 0 || bytes.Equal(result, null)
}

func (d *driver) forgetRequest(id protocol.RequestID) {
	r := d.requests[id]
	d.asking -= r.size
	if r.feeds && d.far.alone {
		d.spent.add(r.caller, d.settings.Pending())
	}
	delete(d.callers, r.caller)
	delete(d.requests, id)
}
