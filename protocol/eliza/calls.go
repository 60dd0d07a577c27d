package eliza

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// call is one call that the host makes of the plugin. That of an event goes to all of
// its handlers.
type call struct {
	id     protocol.CallID
	key    string
	target *target
	// waits is how many handlers have not answered.
	waits int
	// first is the number of the first handler; those of the others follow, in the order
	// of their ids, which are of one surface.
	first uint64
	// says tells that it is of an action, which may say something under the number
	// before the first handler's; callback is the id that a raw call brings for that, or "".
	says     bool
	callback string
	// stream is the id of the answer's stream, or "".
	stream  string
	follows bool
	// err is why the first handler failed, of several.
	err error
	// cause is the call as what the worker asks meanwhile knows it, trace its traceparent.
	cause protocol.Cause
	trace string
}

// keptCalls is how many calls that are over are used again.
const keptCalls = 256

// outgoing is what the driver makes a call's frame of. It is written over by the next
// one, as protocol.Send allows.
type outgoing struct {
	args, number, mac []byte
	rpc               RPC
	// send writes rpc.
	send protocol.Effect
}

// invoke sends a call.
func (d *driver) invoke(in *protocol.Invoke, out []protocol.Effect) []protocol.Effect {
	t, err := d.targetOf(&in.Call)
	if err == nil {
		err = d.may(t, in.Call.Key)
	}
	if err == nil {
		var sent []protocol.Effect
		if sent, err = d.send(in, t, out); err == nil {
			return sent
		}
	}
	if protocol.CodeOf(err) == protocol.CodeDenied {
		out = append(out, protocol.Drop(DroppedDenied, err.Error()))
	}
	return append(out, protocol.Complete{ID: in.ID, Err: err})
}

// may looks at what allows or bounds a call.
func (d *driver) may(t *target, key string) error {
	if wanted, allowed := d.grants.Surface(t.surface); !allowed {
		audit(d.plugin.Denied, Denial{Plugin: d.settings.Plugin, Surface: t.surface, Target: t.ids[0], Permission: wanted})
		return d.settings.Fault(protocol.CodeDenied, fmt.Sprintf("plugin %s is not granted %s, which %s needs: grant it in the host's settings",
			d.settings.Plugin, wanted, protocol.Clip(key)))
	}
	if len(d.calls)+len(t.ids) > d.settings.Pending() {
		return d.settings.Fault(protocol.CodeOverloaded, fmt.Sprintf(
			"%d calls are in flight and the limit is %d: call %s again later", len(d.calls), d.settings.Pending(), protocol.Clip(key)))
	}
	return nil
}

// send numbers and signs the frames of a call. When one cannot be signed none is sent.
func (d *driver) send(in *protocol.Invoke, t *target, out []protocol.Effect) ([]protocol.Effect, error) {
	first := d.last + 1
	if t.takesCallback() {
		first++
	}
	args := d.argsOf(t, in.Call.Input, first-1)
	r := RPC{Surface: t.quoted[0], Args: args, StreamReply: t.surface == surfaceModel && in.Follows}
	if len(t.ids) == 1 {
		d.out.number = strconv.AppendUint(d.out.number[:0], first, 10)
		r.RequestID, r.Target, r.words = d.out.number, t.quoted[1], t.words
		mac, err := d.sign(&r, d.out.mac[:0], in.Call.Key)
		if err != nil {
			return nil, err
		}
		d.out.mac = mac
		out = append(out, d.sending(r))
	} else {
		for i, id := range t.quoted[1:] {
			r.RequestID, r.Target = number(first+uint64(i)), id
			if _, err := d.sign(&r, nil, in.Call.Key); err != nil {
				return nil, err
			}
			out = append(out, protocol.Send{Message: r})
		}
	}
	d.begin(in, t, first, args)
	return out, nil
}

// sending writes a call's frame. One that is long is not kept for that.
func (d *driver) sending(r RPC) protocol.Effect {
	if len(r.Args) > keptText {
		return protocol.Send{Message: r}
	}
	d.out.rpc = r
	return d.out.send
}

// sign signs a call, if calls are signed. The signature is appended to room, which is
// returned for the next one.
func (d *driver) sign(r *RPC, room []byte, key string) ([]byte, error) {
	if d.signer == nil {
		return room, nil
	}
	mac, isLine, err := d.signer.sign(room, *r)
	if err != nil {
		return nil, &protocol.Error{
			Code: protocol.CodeInvalid, Plugin: d.settings.Plugin, Err: err,
			Message: "the input of " + protocol.Clip(key) + " cannot be signed",
		}
	}
	r.MAC, r.isLine = mac, isLine
	return mac, nil
}

// argsOf are the args of a call, good until the next one.
func (d *driver) argsOf(t *target, input json.RawMessage, callback uint64) json.RawMessage {
	args := t.appendArgs(slices.Grow(d.out.args[:0], len(input)+argsRoom), input)
	if t.takesCallback() {
		args = append(args[:len(args)-1], `,"callbackId":"`+callbackPrefix...)
		args = append(strconv.AppendUint(args, callback, 10), '"', '}')
	}
	d.out.args = nil
	if cap(args) <= keptText {
		d.out.args = args
	}
	if d.signer != nil && !utf8.Valid(args) { // what is signed must be what is written
		return bytes.ToValidUTF8(args, []byte("\ufffd"))
	}
	return args
}

const (
	// argsRoom is what args have beside their input, usually, in bytes.
	argsRoom = 256
	// callbackPrefix begins the id under which an action says something.
	callbackPrefix = "action-callback:"
)

// begin notes a call that is sent.
func (d *driver) begin(in *protocol.Invoke, t *target, first uint64, args json.RawMessage) {
	c := d.fresh()
	c.id, c.key, c.target, c.first, c.waits = in.ID, in.Call.Key, t, first, len(t.ids)
	c.follows, c.says = in.Follows, t.takesCallback()
	c.cause, c.trace = in.Call.AsCause(), in.Call.Trace
	c.callback, c.stream, c.err = "", "", nil
	d.last = first - 1
	for range t.ids {
		d.last++
		d.calls[d.last] = c
	}
	d.numbers[c.id] = c
	if t.isRaw {
		c.callback, _ = text(member(args, "callbackId"))
	}
	if c.callback != "" {
		d.callbacks[c.callback] = c
	}
}

// fresh is a call to be filled in, which may have been another one before.
func (d *driver) fresh() *call {
	last := len(d.free) - 1
	if last < 0 {
		return &call{}
	}
	c := d.free[last]
	d.free = d.free[:last]
	return c
}

// cancel forgets a call. A worker that answers it in parts is told that nobody takes them;
// else this wire has no word for it, and the answer will be late, and counted.
func (d *driver) cancel(in protocol.Cancel, out []protocol.Effect) []protocol.Effect {
	c := d.numbers[in.ID]
	if c == nil {
		return out
	}
	for i := range c.target.ids {
		if n := c.first + uint64(i); d.calls[n] != nil { // else it has answered
			d.left.Add(n, c.cause, d.settings.Pending())
		}
	}
	d.forget(c)
	if c.stream != "" {
		out = append(out, noMore(json.RawMessage(c.stream)))
	}
	return out
}

// forget ends a call on our side.
func (d *driver) forget(c *call) {
	for i := range c.target.ids {
		delete(d.calls, c.first+uint64(i))
	}
	delete(d.numbers, c.id)
	if c.callback != "" && d.callbacks[c.callback] == c {
		delete(d.callbacks, c.callback)
	}
	if c.stream != "" {
		delete(d.streams, c.stream)
	}
	if len(d.free) < keptCalls {
		d.free = append(d.free, c) // what it says is good until the next call
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
	case string(r.OK) == "true" && r.inParts() && len(c.target.ids) == 1:
		return d.streamBegin(n, c, r.StreamID, out)
	}
	result, err := r.outcome(c.key, d.settings.Plugin)
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
		Plugin: d.settings.Plugin, Surface: c.target.surface, Target: c.target.ids[n-c.first],
		Reason: "the worker of plugin " + d.settings.Plugin + " refused the signature of a call: " + protocol.Clip(remote.Error()),
	})
}

// completed ends one handler's part of a call, and the call with the last of them.
func (d *driver) completed(n uint64, c *call, result json.RawMessage, err error, out []protocol.Effect) []protocol.Effect {
	c.waits--
	if c.err == nil {
		c.err = err
	}
	if c.waits > 0 {
		delete(d.calls, n)
		return out
	}
	err, c.err = c.err, nil
	d.forget(c)
	if err == nil {
		result, err = c.target.result(d, result)
	}
	if err != nil {
		result = nil
	}
	if !d.done.lends {
		return append(out, protocol.Complete{ID: c.id, Result: result, Err: err})
	}
	d.done.Complete = protocol.Complete{ID: c.id, Result: result, Err: err}
	return append(out, &d.done.Complete)
}

// completion is the effect that completes a call. It is written over by the next one, where
// lends tells that whoever runs the driver lends it what comes, too.
type completion struct {
	protocol.Complete
	lends bool
}

// callback takes what an action says while it runs.
func (d *driver) callback(m Callback, out []protocol.Effect) []protocol.Effect {
	c := d.speaker(m.ID)
	if c == nil {
		return append(out, protocol.Drop(DroppedCallback, excerpt(m.ID)))
	}
	p := protocol.Progress{ID: c.id}
	if c.follows {
		p.Item = or(m.Payload, isNull)
	}
	return append(out, p)
}

// speaker is the call whose action says something under an id; nil for none.
func (d *driver) speaker(id json.RawMessage) *call {
	name, ok := text(id)
	if !ok {
		return nil
	}
	if c := d.callbacks[name]; c != nil {
		return c
	}
	digits, ok := strings.CutPrefix(name, callbackPrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	if c := d.calls[n+1]; ok && err == nil && digits[0] != '0' && c != nil && c.says {
		return c
	}
	return nil
}

// rawTarget is the handler that a key names by its id.
func rawTarget(key string) *target {
	surface, id, ok := strings.Cut(strings.TrimPrefix(key, RawPrefix), " ")
	if !ok || !isSurface(surface) {
		return nil
	}
	return (&target{surface: surface, ids: []string{id}, isRaw: true}).spelt()
}
