package eliza

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// request is one call that the worker makes of the runtime.
type request struct {
	// id is the worker's as it came; it goes back the same.
	id     json.RawMessage
	method string
	// stream is the id of the answer's stream, once there is one; streams tells that
	// the worker takes it in parts.
	stream  json.RawMessage
	streams bool
	// left tells that the worker does not take its answer any more.
	left bool
}

// MaxAsked is how many bytes a worker's calls in flight may have together, beside one call:
// the next one fails.
const MaxAsked = protocol.MaxAsked

// Methods are those of the runtime that workers made by the reference know; "invoke",
// {key, input?, plugin?}, is this host's own and calls any capability.
var Methods = []string{
	"getService", "useModel", "getMemory", "createMemory", "updateMemory", "emitEvent", "getSetting", "setSetting",
	"composeState", "actionCallback", "invoke",
}

// asked takes a call of the runtime.
func (d *driver) asked(r HostRPC, out []protocol.Effect) []protocol.Effect {
	if r.RequestID == nil {
		return append(out, protocol.Drop(DroppedRequest, excerpt(r.Method)))
	}
	method, ok := text(r.Method)
	size := len(r.Args) + len(r.RequestID) + len(r.Method) // all of which are kept
	if no := d.refusal(method, ok, size); no != nil {
		return append(out, protocol.Send{Message: hostFailure(r.RequestID, no)})
	}
	if no := d.denial(method); no != nil {
		return append(out, protocol.Drop(DroppedDenied, method), protocol.Send{Message: hostFailure(r.RequestID, no)})
	}
	if method == methodCallback {
		if said, ok := d.calledBack(r, out); ok {
			return said
		}
	}
	one := request{id: protocol.KeptID(r.RequestID, size), method: method, streams: r.StreamReply}
	return append(out, protocol.Serve{
		ID: d.requests.Add(one, size), Follows: r.StreamReply,
		Call: d.within(r, protocol.Call{Key: method, Input: r.Args, Caller: d.settings.Plugin}),
	})
}

// within tells of a call of the runtime for the sake of which of the host's calls it is
// made, where the worker does.
func (d *driver) within(r HostRPC, c protocol.Call) protocol.Call {
	if r.Within == nil {
		c.Cause = protocol.CauseUntold
		return c
	}
	n, other := protocol.CallNumber(r.Within)
	if other != "" {
		return c
	}
	if one := d.calls[n]; one != nil {
		cause := one.cause // the call itself is used again
		c.Cause, c.Trace = &cause, one.trace
	} else {
		c.Cause = d.left.Cause(n)
	}
	if c.Cause != nil {
		c.Scope = c.Cause.Scope
	}
	return c
}

// methodCallback is the method by which a worker says something for an action, and waits
// until it is taken.
const methodCallback = "actionCallback"

// calledBack takes what an action that runs says by a call, {callbackId, response}. Of any
// other the host has to say that it is not there.
func (d *driver) calledBack(r HostRPC, out []protocol.Effect) ([]protocol.Effect, bool) {
	id := member(r.Args, "callbackId")
	if d.speaker(id) == nil {
		return out, false
	}
	said := bytes.Clone(member(r.Args, "response")) // which must not keep what else there is
	out = d.callback(Callback{ID: id, Payload: said}, out)
	return append(out, protocol.Send{Message: Result{FromHost: true, RequestID: r.RequestID, OK: isTrue, Payload: isNull}}), true
}

// refusal is why a call of the runtime is not served, as the worker is told it, or nil.
func (d *driver) refusal(method string, named bool, size int) json.RawMessage {
	switch {
	case !named:
		return refusal(nameMethod, "Unsupported host-rpc: expected a method, a string", codeMethod)
	case !d.handles(method):
		return unsupported(method)
	}
	if err := d.requests.Refusal(d.settings, protocol.Cut(method, protocol.MaxExcerpt), size); err != nil {
		return wireError(err)
	}
	return nil
}

// denial is the answer to a call of the runtime that the grants do not allow, or nil.
func (d *driver) denial(method string) json.RawMessage {
	wanted, allowed := d.grants.Method(method)
	if allowed {
		return nil
	}
	audit(d.plugin.Denied, Denial{Plugin: d.settings.Plugin, Surface: "runtime", Target: method, Permission: wanted})
	return refusal(nameDenied, fmt.Sprintf("Plugin %s not granted permission for host-rpc %s: it needs %s",
		d.settings.Plugin, method, wanted), codeDenied)
}

// handles tells whether a method may be one of the host's services. A key of a
// capability ("tool:greet") never is: those are called by the method invoke.
func (d *driver) handles(method string) bool {
	if d.plugin.Handles != nil {
		return d.plugin.Handles(method)
	}
	return !strings.Contains(method, ":")
}

func unsupported(method string) json.RawMessage {
	return refusal(nameMethod, fmt.Sprintf("Unsupported host-rpc method: %s. This host supports %s.",
		protocol.Cut(method, protocol.MaxExcerpt), strings.Join(Methods, ", ")), codeMethod)
}

// report sends a part of an answer, and before the first one that the answer comes in
// parts.
func (d *driver) report(in protocol.Report, out []protocol.Effect) []protocol.Effect {
	r, ok := d.requests.Get(in.ID)
	if !ok || !r.streams || r.left {
		return out
	}
	if r.stream == nil {
		r.stream = streamID(hostStreams, in.ID)
		d.requests.Update(in.ID, r)
		out = append(out, protocol.Send{Message: Result{FromHost: true, RequestID: r.id, OK: isTrue, StreamID: r.stream}})
	}
	return append(out, protocol.Send{Message: StreamChunk{StreamID: r.stream, Chunk: or(in.Item, isNull)}})
}

// reply sends the host's answer.
func (d *driver) reply(in protocol.Reply, out []protocol.Effect) []protocol.Effect {
	r, ok := d.requests.Answered(in)
	if !ok || r.left {
		return out
	}
	return append(out, protocol.Send{Message: d.answer(r, in)})
}

func (d *driver) answer(r request, in protocol.Reply) protocol.Message {
	var failure json.RawMessage
	switch {
	case in.Err == nil:
	case protocol.CodeOf(in.Err) == protocol.CodeNotFound && d.plugin.Handles == nil && !slices.Contains(Methods, r.method):
		failure = unsupported(r.method)
	default:
		failure = wireError(in.Err)
	}
	switch {
	case r.stream != nil:
		return StreamEnd{StreamID: r.stream, Value: in.Result, Error: failure}
	case failure != nil:
		return hostFailure(r.id, failure)
	}
	return Result{FromHost: true, RequestID: r.id, OK: isTrue, Payload: or(in.Result, isNull)}
}

func hostFailure(id, why json.RawMessage) Result {
	return Result{FromHost: true, RequestID: id, OK: isFalse, Error: why}
}
