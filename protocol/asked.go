package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// MaxAsked is how many bytes the parameters of a peer's calls in flight may have together;
// one call alone may have more. The next call fails with [CodeOverloaded].
const MaxAsked = 256 << 20

// longParams is from which size on parameters are not kept by the id of their call.
const longParams = 4 << 10

// Asked are the calls of a peer that it waits for, by the numbers that their drivers give
// them; R is what a dialect keeps of one. The one that was answered last is remembered,
// should its answer turn out not to be sendable. The zero value has none.
type Asked[R any] struct {
	calls map[RequestID]askedCall[R]
	last  RequestID
	// bytes is what the parameters of all have together.
	bytes int
	// replied is the call that was answered last, with a result; its id is 0 for none.
	replied struct {
		id   RequestID
		call R
	}
}

type askedCall[R any] struct {
	call R
	size int
}

// Refusal is why one call more, with so many bytes of parameters, is not taken; nil where
// it is. name is what the plugin is told to call again.
func (a *Asked[R]) Refusal(s Settings, name string, size int) error {
	switch {
	case len(a.calls) >= s.Pending():
		return s.Fault(CodeOverloaded, fmt.Sprintf(
			"%d calls by this plugin are in flight, the limit: call %s again later", s.Pending(), name))
	case a.bytes > 0 && a.bytes+size > MaxAsked:
		return s.Fault(CodeOverloaded, fmt.Sprintf(
			"calls with %d bytes by this plugin are in flight, the limit is %d: call %s again later", a.bytes, MaxAsked, name))
	}
	return nil
}

// Add takes a call with so many bytes of parameters, and numbers it.
func (a *Asked[R]) Add(call R, size int) RequestID {
	if a.calls == nil {
		a.calls = make(map[RequestID]askedCall[R])
	}
	a.last++
	a.bytes += size
	a.calls[a.last] = askedCall[R]{call, size}
	return a.last
}

// KeptID is the id of a call as it may be kept: one whose parameters are long must not keep
// the frame that they stand in.
func KeptID(id json.RawMessage, size int) json.RawMessage {
	if size > longParams {
		return bytes.Clone(id)
	}
	return id
}

// Get returns a call that waits.
func (a *Asked[R]) Get(id RequestID) (call R, waits bool) {
	one, waits := a.calls[id]
	return one.call, waits
}

// Update changes what is kept of a call that waits.
func (a *Asked[R]) Update(id RequestID, call R) {
	if one, waits := a.calls[id]; waits {
		one.call = call
		a.calls[id] = one
	}
}

// Answered returns the call that a reply is for, and ends it: one that waits, or, where the
// reply is an error, the last one, whose result could not be sent.
func (a *Asked[R]) Answered(in Reply) (call R, ok bool) {
	one, ok := a.calls[in.ID]
	if !ok && in.Err != nil && in.ID != 0 && in.ID == a.replied.id {
		one.call, ok = a.replied.call, true
	}
	a.replied.id = 0
	if !ok {
		return call, false
	}
	if in.Err == nil {
		a.replied.id, a.replied.call = in.ID, one.call
	}
	a.bytes -= one.size
	delete(a.calls, in.ID)
	return one.call, true
}

// All are the calls that wait, in no order.
func (a *Asked[R]) All() iter.Seq[R] {
	return func(yield func(R) bool) {
		for _, one := range a.calls {
			if !yield(one.call) {
				return
			}
		}
	}
}

// Abandon gives all of them up, in the order in which they came.
func (a *Asked[R]) Abandon(out []Effect) []Effect {
	for _, id := range slices.Sorted(maps.Keys(a.calls)) {
		out = append(out, Abandon{ID: id})
	}
	*a = Asked[R]{}
	return out
}
