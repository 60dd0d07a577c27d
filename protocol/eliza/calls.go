package eliza

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// call is one call that the host makes of the plugin. That of an event goes to all of
// its handlers.
type call struct {
	id  protocol.CallID
	key string
	// waits is how many handlers have not answered.
	waits int
	// first is the number of the first handler; those of the others follow, in the order
	// of their ids, which are of one surface.
	first   uint64
	surface string
	ids     []string
	// callback is the id under which an action may say something, or "".
	callback string
	// stream is the id of the answer's stream, or "".
	stream  string
	follows bool
	adapt   adapter
	// err is why the first handler failed, of several.
	err error
	// cause is the call as what the worker asks meanwhile knows it, trace its traceparent.
	cause protocol.Cause
	trace string
}

// outgoing is a call as it goes to the worker.
type outgoing struct {
	surface string
	ids     []string
	// args may be given a callback's id; takesCallback tells whether.
	args          json.RawMessage
	takesCallback bool
	streams       bool
	adapt         adapter
}

// invoke sends a call.
func (d *driver) invoke(in protocol.Invoke, out []protocol.Effect) []protocol.Effect {
	o, err := d.outgoing(in.Call)
	if err == nil {
		err = d.may(o, in.Call.Key)
	}
	if err == nil {
		var sends []protocol.Effect
		if sends, err = d.send(in, o); err == nil {
			return append(out, sends...)
		}
	}
	if protocol.CodeOf(err) == protocol.CodeDenied {
		out = append(out, protocol.Drop(DroppedDenied, err.Error()))
	}
	return append(out, protocol.Complete{ID: in.ID, Err: err})
}

// may looks at what allows or bounds a call.
func (d *driver) may(o outgoing, key string) error {
	if wanted, allowed := d.grants.Surface(o.surface); !allowed {
		audit(d.plugin.Denied, Denial{Plugin: d.settings.Plugin, Surface: o.surface, Target: o.ids[0], Permission: wanted})
		return d.settings.Fault(protocol.CodeDenied, fmt.Sprintf("plugin %s is not granted %s, which %s needs: grant it in the host's settings",
			d.settings.Plugin, wanted, protocol.Clip(key)))
	}
	if len(d.calls)+len(o.ids) > d.settings.Pending() {
		return d.settings.Fault(protocol.CodeOverloaded, fmt.Sprintf(
			"%d calls are in flight and the limit is %d: call %s again later", len(d.calls), d.settings.Pending(), protocol.Clip(key)))
	}
	return nil
}

// send numbers and signs the frames of a call. When one cannot be signed none is sent.
func (d *driver) send(in protocol.Invoke, o outgoing) ([]protocol.Effect, error) {
	c := &call{id: in.ID, key: in.Call.Key, surface: o.surface, ids: o.ids, follows: in.Follows, adapt: o.adapt}
	c.cause, c.trace = in.Call.AsCause(), in.Call.Trace
	if o.takesCallback {
		d.last++
		c.callback = "action-callback:" + strconv.FormatUint(d.last, 10)
		o.args = object(o.args[:len(o.args)-1]).str("callbackId", c.callback).done()
	} else if id, ok := text(member(o.args, "callbackId")); ok && o.adapt == nil {
		c.callback = id
	}
	if d.signer != nil && !utf8.Valid(o.args) { // what is signed must be what is written
		o.args = bytes.ToValidUTF8(o.args, []byte("\ufffd"))
	}
	sends := make([]protocol.Effect, 0, len(o.ids))
	for i, id := range o.ids {
		r := RPC{
			RequestID: number(d.last + uint64(i) + 1), Surface: quote(o.surface), Target: quote(id),
			Args: o.args, StreamReply: o.streams && in.Follows,
		}
		if d.signer != nil {
			var err error
			if r.MAC, err = d.signer.sign(r); err != nil {
				return nil, &protocol.Error{
					Code: protocol.CodeInvalid, Plugin: d.settings.Plugin, Err: err,
					Message: "the input of " + protocol.Clip(c.key) + " cannot be signed",
				}
			}
		}
		sends = append(sends, protocol.Send{Message: r})
	}
	c.first, c.waits = d.last+1, len(o.ids)
	for range o.ids {
		d.last++
		d.calls[d.last] = c
	}
	d.numbers[c.id] = c
	if c.callback != "" {
		d.callbacks[c.callback] = c
	}
	return sends, nil
}

// cancel forgets a call. A worker that answers it in parts is told that nobody takes them;
// else this wire has no word for it, and the answer will be late, and counted.
func (d *driver) cancel(in protocol.Cancel, out []protocol.Effect) []protocol.Effect {
	c := d.numbers[in.ID]
	if c == nil {
		return out
	}
	for i := range c.ids {
		d.left.Add(c.first+uint64(i), &c.cause, d.settings.Pending())
	}
	d.forget(c)
	if c.stream != "" {
		out = append(out, noMore(json.RawMessage(c.stream)))
	}
	return out
}

// forget ends a call on our side.
func (d *driver) forget(c *call) {
	for i := range c.ids {
		delete(d.calls, c.first+uint64(i))
	}
	delete(d.numbers, c.id)
	if c.callback != "" && d.callbacks[c.callback] == c {
		delete(d.callbacks, c.callback)
	}
	if c.stream != "" {
		delete(d.streams, c.stream)
	}
}

// answered takes an answer of the worker's.
func (d *driver) answered(r Result, out []protocol.Effect) []protocol.Effect {
	n, other := protocol.CallNumber(r.RequestID)
	c := d.calls[n]
	switch {
	case c == nil && (other != "" || n == 0 || n > d.last):
		return append(out, protocol.Drop(DroppedUnknown, excerpt(r.RequestID)))
	case c == nil:
		d.left.End(n)
		return r.late(n, out)
	case other != "":
		d.forget(c)
		return append(out, protocol.Complete{ID: c.id, Err: d.settings.Fault(protocol.CodeWire, fmt.Sprintf(
			"%s was answered under the id %s, a %s; expected the number %d", protocol.Clip(c.key), excerpt(r.RequestID), other, n))})
	case string(r.OK) == "true" && r.StreamID != nil && r.Payload == nil && len(c.ids) == 1:
		return d.streamBegin(n, c, r.StreamID, out)
	}
	result, err := r.outcome(protocol.Clip(c.key), d.settings.Plugin)
	d.auditUnsigned(n, c, err)
	return d.completed(n, c, result, err, out)
}

// auditUnsigned tells of a call that the worker did not take for the host's: it has another
// key, or somebody has changed what was written to it. A refusal has no stack; one with a
// stack is of somebody else, and has only come through the worker.
func (d *driver) auditUnsigned(n uint64, c *call, err error) {
	remote, ok := err.(*RemoteError) //nolint:errorlint // what outcome returns, not what it wraps
	if !ok || remote.Name() != nameAuth || remote.RemoteStack != nil {
		return
	}
	if code, _ := remote.Code(); code != codeAuth {
		return
	}
	audit(d.plugin.Denied, Denial{
		Plugin: d.settings.Plugin, Surface: c.surface, Target: c.ids[n-c.first],
		Reason: "the worker of plugin " + d.settings.Plugin + " refused the signature of a call: " + protocol.Clip(remote.Error()),
	})
}

// completed ends one handler's part of a call, and the call with the last of them.
func (d *driver) completed(n uint64, c *call, result json.RawMessage, err error, out []protocol.Effect) []protocol.Effect {
	delete(d.calls, n)
	c.waits--
	if c.err == nil {
		c.err = err
	}
	if c.waits > 0 {
		return out
	}
	d.forget(c)
	if c.err == nil && c.adapt != nil {
		result, c.err = c.adapt(d, result)
	}
	if c.err != nil {
		result = nil
	}
	return append(out, protocol.Complete{ID: c.id, Result: result, Err: c.err})
}

// callback takes what an action says while it runs.
func (d *driver) callback(m Callback, out []protocol.Effect) []protocol.Effect {
	id, ok := text(m.ID)
	c := d.callbacks[id]
	if !ok || c == nil {
		return append(out, protocol.Drop(DroppedCallback, excerpt(m.ID)))
	}
	p := protocol.Progress{ID: c.id}
	if c.follows {
		p.Item = or(m.Payload, isNull)
	}
	return append(out, p)
}

// rawCall is a call by the id of its handler.
func rawCall(c protocol.Call) (outgoing, bool) {
	surface, id, ok := strings.Cut(strings.TrimPrefix(c.Key, RawPrefix), " ")
	if !ok || !isSurface(surface) {
		return outgoing{}, false
	}
	args := c.Input
	if args == nil {
		args = isNull
	}
	return outgoing{surface: surface, ids: []string{id}, args: args, streams: surface == surfaceModel}, true
}
