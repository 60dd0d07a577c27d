package airi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// call is one call that the host makes of the module.
type call struct {
	id  protocol.CallID
	tag string
}

func (d *driver) invoke(in protocol.Invoke, out []protocol.Effect) []protocol.Effect {
	key := in.Call.Key
	switch {
	case key == "" || strings.HasPrefix(key, ReservedPrefix):
		return append(out, protocol.Complete{ID: in.ID, Err: d.fault(protocol.CodeNotFound,
			fmt.Sprintf("expected the tag of one of its invoke handlers, got %q", clip(key)))})
	case len(d.calls) >= d.settings.Pending():
		return append(out, protocol.Complete{ID: in.ID, Err: d.fault(protocol.CodeOverloaded,
			fmt.Sprintf("%d calls are in flight, the limit: call %s again later", d.settings.Pending(), clip(key)))})
	}
	d.last++
	d.calls[d.last] = call{id: in.ID, tag: key}
	d.numbers[in.ID] = d.last
	return d.send(sendFrame(key, invokeID(d.last), in.Call.Input), out)
}

// cancel tells the module that nobody waits any more, and completes nothing: the
// caller has left. The module's answer still comes, since a handler in Eventa
// answers after an abort, too; it is counted under DroppedLate.
func (d *driver) cancel(in protocol.Cancel, out []protocol.Effect) []protocol.Effect {
	n, ok := d.numbers[in.ID]
	if !ok {
		return out
	}
	c := d.forget(n)
	var reason json.RawMessage
	if in.Reason != "" {
		reason = appendString(nil, in.Reason)
	}
	return d.send(abortFrame(c.tag, invokeID(n), reason), out)
}

// answered takes an answer of the module to a call or step of the host. As in
// Eventa, both the event's id and the payload have to name the call.
func (d *driver) answered(s step, eventID string, out []protocol.Effect) []protocol.Effect {
	n, known := d.numberOf(s.idText)
	c, waiting := d.calls[n]
	switch {
	case !known || waiting && c.tag != s.tag:
		return append(out, dropped(DroppedUnknown, eventID))
	case !waiting && s.kind == stepReceiveEnd:
		return append(out, dropped(DroppedStream, eventID))
	case !waiting:
		return append(out, dropped(DroppedLate, eventID))
	}
	d.forget(n)
	return append(out, d.completion(c, s))
}

func (d *driver) completion(c call, s step) protocol.Complete {
	switch s.kind {
	case stepReceiveError:
		return protocol.Complete{ID: c.id, Err: peerError(s.content,
			"the handler of "+clip(c.tag)+" failed without a message")}
	case stepReceiveEnd:
		return protocol.Complete{ID: c.id, Err: d.fault(protocol.CodeInvalid,
			clip(c.tag)+" answers with a stream; expected one value")}
	default:
		return protocol.Complete{ID: c.id, Result: resultOf(c.tag, s.content)}
	}
}

// resultOf is what a handler answers, as its kind has it: Eventa's handlers answer with
// any value, a tool with {content?, data?}. Text is a tool's content, what is no object
// otherwise its data.
func resultOf(tag string, content json.RawMessage) json.RawMessage {
	if !strings.HasPrefix(tag, toolPrefix) || len(content) == 0 || string(content) == "null" || content[0] == '{' {
		return content
	}
	member := `{"data":`
	if content[0] == '"' {
		member = `{"content":`
	}
	return slices.Concat(json.RawMessage(member), content, json.RawMessage(`}`))
}

// toolPrefix begins the tags of handlers that are tools to others.
const toolPrefix = "tool:"

// forget ends a call on our side.
func (d *driver) forget(n uint64) call {
	c := d.calls[n]
	delete(d.calls, n)
	delete(d.numbers, c.id)
	return c
}

// numberOf reads an invokeId of ours; known tells that we did give it out.
func (d *driver) numberOf(id string) (n uint64, known bool) {
	digits, ours := strings.CutPrefix(id, idPrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ours && err == nil && n > 0 && n <= d.last
}

func invokeID(n uint64) json.RawMessage {
	return appendString(nil, idPrefix+strconv.FormatUint(n, 10))
}

// fault is a failure of the host's making about this plugin.
func (d *driver) fault(code protocol.Code, message string) *protocol.Error {
	return &protocol.Error{Code: code, Plugin: d.settings.Plugin, Message: message}
}

// close ends everything that is in flight, in the order in which it began, and
// nothing follows.
func (d *driver) close(in protocol.Closed, out []protocol.Effect) []protocol.Effect {
	d.closed = true
	if d.running.step != "" {
		out = append(out, protocol.Ran{Step: d.running.step, Err: d.lost(string(d.running.step), in.Err)})
	}
	for _, n := range slices.Sorted(maps.Keys(d.calls)) {
		c := d.calls[n]
		out = append(out, protocol.Complete{ID: c.id, Err: d.lost("the call of "+clip(c.tag), in.Err)})
	}
	for _, id := range slices.Sorted(maps.Keys(d.requests)) {
		out = append(out, protocol.Abandon{ID: id})
	}
	*d = driver{settings: d.settings, closed: true}
	return out
}

func (d *driver) lost(what string, cause error) *protocol.Error {
	e := d.fault(protocol.CodeOutcomeUnknown, fmt.Sprintf("plugin %s ended while %s was in flight; it may have run",
		d.settings.Plugin, what))
	e.Err = cause
	return e
}

// afterEnd refuses what still comes when the connection has ended.
func (d *driver) afterEnd(in protocol.Input, out []protocol.Effect) []protocol.Effect {
	ended := errors.New("the connection has ended")
	switch in := in.(type) {
	case protocol.Invoke:
		e := d.fault(protocol.CodeNotReady, "not called: "+clip(in.Call.Key))
		e.Err = ended
		return append(out, protocol.Complete{ID: in.ID, Err: e})
	case protocol.Run:
		e := d.fault(protocol.CodeNotReady, "not run: "+string(in.Step))
		e.Err = ended
		return append(out, protocol.Ran{Step: in.Step, Err: e})
	}
	return out
}
