package paperclip

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// call is one call that the host makes of the worker.
type call struct {
	id          protocol.CallID
	key, method string
	// invocation is the id of the call's invocation, or "".
	invocation string
	adapt      adapter
}

// invoke sends a call. Its invocation lives until it is answered or cancelled,
// however long that takes.
func (d *driver) invoke(now time.Time, in *protocol.Invoke, out []protocol.Effect) []protocol.Effect {
	o, err := d.outgoing(now, in.Call)
	switch {
	case err != nil:
		return append(out, protocol.Complete{ID: in.ID, Err: err})
	case o.notification:
		out = d.notify(now, o.method, o.params, o.invocation, out)
		return append(out, protocol.Complete{ID: in.ID})
	case len(d.calls) >= d.settings.Pending():
		return append(out, protocol.Complete{ID: in.ID, Err: d.settings.Fault(protocol.CodeOverloaded, fmt.Sprintf(
			"%d calls are in flight, the limit: call %s again later", d.settings.Pending(), clip(in.Call.Key)))})
	}
	d.last++
	r := Request{ID: d.wireID(), Method: o.method, Params: o.params}
	c := call{id: in.ID, key: in.Call.Key, method: o.method, adapt: o.adapt}
	if o.invocation.company != "" {
		c.invocation = d.newID()
		r.Invocation = o.invocation.envelope(c.invocation)
		d.invocations.add(c.invocation, o.invocation)
		if in.Follows && o.method == methodExecute {
			d.logs.open(c.invocation, o.invocation.company, in.ID)
		}
	}
	d.calls[d.last] = c
	d.numbers[in.ID] = d.last
	return append(out, protocol.Send{Message: r})
}

// wireID is the id of the newest call.
func (d *driver) wireID() json.RawMessage { return strconv.AppendUint(nil, d.last, 10) }

// cancel forgets a call. This wire has no word for it, so the worker is not told;
// its answer will be late, and counted.
func (d *driver) cancel(in protocol.Cancel, out []protocol.Effect) []protocol.Effect {
	if n, ok := d.numbers[in.ID]; ok {
		d.forget(n)
	}
	return out
}

// forget ends a call on our side.
func (d *driver) forget(n uint64) call {
	c := d.calls[n]
	delete(d.calls, n)
	delete(d.numbers, c.id)
	d.invocations.end(c.invocation)
	d.logs.end(c.invocation)
	return c
}

// answered takes an answer of the worker to a call or a step.
func (d *driver) answered(r Response, out []protocol.Effect) []protocol.Effect {
	if string(r.ID) == "null" {
		return append(out, protocol.Drop(DroppedNoID, string(r.Error)))
	}
	n, other := protocol.CallNumber(r.ID)
	if asked, ok := d.routes.asked[n]; ok {
		return d.routeAnswered(n, asked, r, other, out)
	}
	c, isCall := d.calls[n]
	isStep := d.running.step != "" && d.running.number == n
	switch {
	case !isCall && !isStep && (other != "" || n == 0 || n > d.last):
		return append(out, protocol.Drop(DroppedUnknown, string(r.ID[:min(len(r.ID), maxExcerpt)])))
	case !isCall && !isStep:
		return append(out, protocol.Drop(DroppedLate, strconv.FormatUint(n, 10)))
	}
	method := c.method
	if isStep {
		method = d.running.method
	}
	result, err := r.outcome(method, d.settings.Plugin)
	if other != "" {
		result, err = nil, d.settings.Fault(protocol.CodeWire, fmt.Sprintf(
			"%s was answered under the id %s, a %s; expected the number %d", method, clip(string(r.ID)), other, n))
	}
	if isStep {
		return d.ran(result, err, out)
	}
	d.forget(n)
	if err == nil && c.adapt != nil {
		result, err = c.adapt(d, result)
	}
	return append(out, protocol.Complete{ID: c.id, Result: result, Err: err})
}

// close ends everything that is in flight, in the order in which it began, and
// nothing follows.
func (d *driver) close(in protocol.Closed, out []protocol.Effect) []protocol.Effect {
	if d.running.step != "" {
		out = append(out, protocol.Ran{Step: d.running.step, Err: d.settings.Lost(string(d.running.step), in.Err)})
	} else if d.done.Step != "" {
		out = append(out, protocol.Ran{Step: d.done.Step, Err: d.settings.Lost(string(d.done.Step), in.Err)})
	}
	for _, n := range slices.Sorted(maps.Keys(d.calls)) {
		c := d.calls[n]
		out = append(out, protocol.Complete{ID: c.id, Err: d.settings.Lost("the call of "+clip(c.key), in.Err)})
	}
	out = d.loseRoutes(in.Err, out)
	out = d.streams.end(out)
	out = d.requests.Abandon(out)
	*d = driver{settings: d.settings, supported: d.supported, closed: true}
	return out
}
