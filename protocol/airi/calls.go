package airi

import (
	"cmp"
	"encoding/json"
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
	// order is its place among the host's calls.
	order uint64
	// number becomes its invokeId. It is 0 until the module is told of the call: by
	// the first item, where the input is a stream.
	number uint64
	// follows tells that the caller takes the items of a response stream.
	follows bool
	// feeds tells that its request stream is open.
	feeds bool
	// items is a response stream that the caller does not follow, size its bytes.
	items []json.RawMessage
	size  int
	// cause is the call as what the module calls meanwhile knows it, trace its traceparent.
	cause protocol.Cause
	trace string
}

func (d *driver) invoke(in protocol.Invoke, out []protocol.Effect) []protocol.Effect {
	key := in.Call.Key
	switch {
	case key == "" || isReservedEvent(key) && key != validateTag:
		return append(out, protocol.Complete{ID: in.ID, Err: d.settings.Fault(protocol.CodeNotFound,
			fmt.Sprintf("expected the tag of one of its invoke handlers, got %q", clip(key)))})
	case len(d.calls) >= d.settings.Pending():
		return append(out, protocol.Complete{ID: in.ID, Err: overloaded(d.settings, key)})
	}
	d.begun++
	c := &call{id: in.ID, tag: key, order: d.begun, follows: in.Follows, feeds: in.Feeds, cause: in.Call.AsCause(), trace: in.Call.Trace}
	put(&d.calls, c.id, c)
	if in.Feeds {
		return out // its first item or its end is the first that the module hears
	}
	return d.send(sendFrame(key, d.tell(c), in.Call.Input), out)
}

// overloaded is why one call more is not made.
func overloaded(s protocol.Settings, key string) error {
	return s.Fault(protocol.CodeOverloaded, fmt.Sprintf("%d calls are in flight, the limit: call %s again later", s.Pending(), clip(key)))
}

// tell returns the id under which the module knows a call, or is about to.
func (d *driver) tell(c *call) json.RawMessage {
	if c.number == 0 {
		d.last++
		c.number = d.last
		put(&d.numbers, c.number, c)
	}
	return d.invokeID(c.number)
}

// feed passes on one item of a request stream. Nothing comes of one whose call is
// over: its caller may not have heard yet.
func (d *driver) feed(in protocol.Feed, out []protocol.Effect) []protocol.Effect {
	c := d.calls[in.ID]
	if c == nil || !c.feeds {
		return out
	}
	opens := c.opens()
	return d.sendPart(itemFrame(c.tag, d.tell(c), in.Item), opens, out)
}

// opens is what the next part of a request stream opens: the first one its call. The
// bridge goes by it, so that a part that comes late opens nothing.
func (c *call) opens() string {
	switch {
	case c.number != 0:
		return ""
	case c.follows:
		return OpensStream
	default:
		return OpensValue
	}
}

func (d *driver) sendPart(f Frame, opens string, out []protocol.Effect) []protocol.Effect {
	f.Opens = opens
	return d.send(f, out)
}

func (d *driver) feedEnd(in protocol.FeedEnd, out []protocol.Effect) []protocol.Effect {
	c := d.calls[in.ID]
	if c == nil || !c.feeds {
		return out
	}
	c.feeds = false
	opens := c.opens()
	if in.Err != nil {
		return d.sendPart(failedFrame(c.tag, d.tell(c), in.Err), opens, out)
	}
	return d.sendPart(endFrame(c.tag, d.tell(c)), opens, out)
}

// cancel tells the module that nobody waits any more, and completes nothing: the
// caller has left. The module's answer still comes, since a handler in Eventa
// answers after an abort, too; it is counted under DroppedLate. A module that has not
// been told of the call hears nothing: an abort alone would start a handler.
func (d *driver) cancel(in protocol.Cancel, out []protocol.Effect) []protocol.Effect {
	c := d.calls[in.ID]
	if c == nil {
		return out
	}
	if c.number == 0 {
		d.forget(c)
		return out
	}
	if n := len(c.items); n > 0 {
		out = append(out, protocol.Drop(DroppedUnended, fmt.Sprintf(
			"%s: items without an end: %d (an answer of one value has the invokeType %d)", clip(c.tag), n, typeReceive)))
	}
	d.leave(c)
	var reason json.RawMessage
	if in.Reason != "" {
		reason = appendString(nil, in.Reason)
	}
	return d.send(abortFrame(c.tag, d.invokeID(c.number), reason), out)
}

// answered takes an answer of the module to a call or step of the host. As in
// Eventa, both the event's id and the payload have to name the call.
func (d *driver) answered(s step, eventID string, out []protocol.Effect) []protocol.Effect {
	n, known := d.numberOf(s.idText)
	c := d.numbers[n]
	switch {
	case !known || c != nil && c.tag != s.tag:
		return append(out, protocol.Drop(DroppedUnknown, eventID))
	case c == nil:
		if s.kind != stepReceive || s.result {
			d.left.End(n)
		}
		return append(out, protocol.Drop(DroppedLate, eventID))
	case s.kind == stepReceive && !s.result:
		return d.item(c, itemOf(s.content), out)
	}
	done := completion(c, s)
	d.forget(c)
	return append(out, done)
}

func completion(c *call, s step) protocol.Complete {
	switch s.kind {
	case stepReceiveError:
		return protocol.Complete{ID: c.id, Err: peerError(s.content,
			"the handler of "+clip(c.tag)+" failed without a message")}
	case stepReceiveEnd:
		return protocol.Complete{ID: c.id, Result: resultOf(c.tag, c.streamed())}
	default:
		return protocol.Complete{ID: c.id, Result: resultOf(c.tag, s.content)}
	}
}

// resultOf is what a handler answers, as its kind has it: Eventa's handlers answer with
// any value, a tool with {content?, data?} and a provider with {text?, data?}. Of them
// text is the first, what is no object otherwise the second.
func resultOf(tag string, content json.RawMessage) json.RawMessage {
	member := ""
	switch {
	case strings.HasPrefix(tag, "tool:"):
		member = `{"content":`
	case strings.HasPrefix(tag, "provider:"):
		member = `{"text":`
	}
	if member == "" || len(content) == 0 || string(content) == "null" || content[0] == '{' {
		return content
	}
	if content[0] != '"' {
		member = `{"data":`
	}
	return slices.Concat(json.RawMessage(member), content, json.RawMessage(`}`))
}

// item takes one item of a response stream, and collects it for a caller that does
// not follow.
func (d *driver) item(c *call, item json.RawMessage, out []protocol.Effect) []protocol.Effect {
	if c.follows {
		return append(out, protocol.Progress{ID: c.id, Item: item})
	}
	size, most := len(item), d.collecting
	if len(c.items) < most.Items && c.size+size <= most.Bytes && d.collected+size <= most.Total {
		c.items = append(c.items, item)
		c.size += size
		d.collected += size
		return append(out, protocol.Progress{ID: c.id}) // a sign of life
	}
	d.leave(c)
	why := fmt.Sprintf("%s answers with a stream of more than the %d items or %d bytes (%d in all calls) that are collected: follow it",
		clip(c.tag), most.Items, most.Bytes, most.Total)
	out = append(out, protocol.Complete{ID: c.id, Err: d.settings.Fault(protocol.CodeOverloaded, why)})
	return d.send(abortFrame(c.tag, d.invokeID(c.number), appendString(nil, "nobody follows the stream")), out)
}

// streamed is the result of a call whose response stream has ended.
func (c *call) streamed() json.RawMessage {
	if c.follows {
		return null
	}
	list := append(make([]byte, 0, c.size+len(c.items)+2), '[')
	for i, item := range c.items {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, item...)
	}
	return append(list, ']')
}

// leave gives up a call that the module knows of: it may still be at it.
func (d *driver) leave(c *call) {
	d.forget(c)
	d.left.Add(c.number, c.cause, d.settings.Pending())
}

// forget ends a call on our side.
func (d *driver) forget(c *call) {
	c.items = nil
	d.collected -= c.size
	delete(d.calls, c.id)
	delete(d.numbers, c.number)
}

// numberOf reads an invokeId of ours; known tells that we did give it out.
func (d *driver) numberOf(id string) (n uint64, known bool) {
	digits, ours := strings.CutPrefix(id, d.far.prefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ours && err == nil && n > 0 && n <= d.last
}

func (d *driver) invokeID(n uint64) json.RawMessage {
	return appendString(nil, d.far.prefix+strconv.FormatUint(n, 10))
}

// close ends everything that is in flight, in the order in which it began, and
// nothing follows.
func (d *driver) close(in protocol.Closed, out []protocol.Effect) []protocol.Effect {
	d.closed = true
	if d.running.step != "" {
		out = append(out, protocol.Ran{Step: d.running.step, Err: d.settings.Lost(string(d.running.step), in.Err)})
	}
	out = d.lose(in.Err, out)
	*d = driver{settings: d.settings, closed: true}
	return out
}

// lose ends all calls, both ways, since the module cannot be reached any more.
func (d *driver) lose(cause error, out []protocol.Effect) []protocol.Effect {
	for _, c := range slices.SortedFunc(maps.Values(d.calls), func(a, b *call) int { return cmp.Compare(a.order, b.order) }) {
		d.forget(c)
		out = append(out, protocol.Complete{ID: c.id, Err: d.settings.Lost("the call of "+clip(c.tag), cause)})
	}
	for _, id := range slices.Sorted(maps.Keys(d.requests)) {
		d.forgetRequest(id)
		out = append(out, protocol.Abandon{ID: id})
	}
	d.latest, d.spent = answered{}, spent{}
	return out
}
