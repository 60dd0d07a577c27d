package paperclip

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// ask calls a service of the host's.
func (w *Worker) ask(in Asking, out []protocol.Effect) []protocol.Effect {
	if len(w.calls) >= w.settings.pending() {
		return append(out, protocol.Complete{ID: in.ID, Err: &protocol.Error{
			Code: protocol.CodeOverloaded,
			Message: fmt.Sprintf("%d calls of the host are in flight, the limit: call %s again later",
				w.settings.pending(), clip(in.Call.Key)),
		}})
	}
	w.last++
	w.calls[w.last] = asking{id: in.ID, method: in.Call.Key}
	w.numbers[in.ID] = w.last
	params := in.Call.Input
	if params == nil {
		params = json.RawMessage(`{}`)
	}
	return append(out, protocol.Send{Message: Request{
		ID: strconv.AppendUint(nil, w.last, 10), Method: in.Call.Key, Params: params, InvocationID: stamp(in.Invocation),
	}})
}

// tell notifies the host.
func (w *Worker) tell(in Telling, out []protocol.Effect) []protocol.Effect {
	params, err := in.Event.JSON()
	if err != nil {
		return append(out, protocol.Drop(DroppedEvent, in.Event.Name+": "+err.Error()))
	}
	return append(out, protocol.Send{Message: Notification{
		Method: in.Event.Name, Params: params, InvocationID: stamp(in.Invocation),
	}})
}

func stamp(invocation string) json.RawMessage {
	if invocation == "" {
		return nil
	}
	return quote(invocation)
}

// answered takes an answer of the host's.
func (w *Worker) answered(r Response, out []protocol.Effect) []protocol.Effect {
	n, other := protocol.CallNumber(r.ID)
	c, ok := w.calls[n]
	switch {
	case string(r.ID) == "null":
		return append(out, protocol.Drop(DroppedNoID, string(r.Error)))
	case !ok && (other != "" || n == 0 || n > w.last):
		return append(out, protocol.Drop(DroppedUnknown, string(r.ID[:min(len(r.ID), maxExcerpt)])))
	case !ok:
		return append(out, protocol.Drop(DroppedLate, strconv.FormatUint(n, 10)))
	}
	w.forget(n)
	result, err := r.outcome(c.method, "")
	if other != "" {
		result, err = nil, &protocol.Error{Code: protocol.CodeWire, Message: fmt.Sprintf(
			"%s was answered under the id %s, a %s; expected the number %d", clip(c.method), clip(string(r.ID)), other, n)}
	}
	return append(out, protocol.Complete{ID: c.id, Result: result, Err: err})
}

func (w *Worker) forget(n uint64) {
	delete(w.numbers, w.calls[n].id)
	delete(w.calls, n)
}

// end fails the calls of the host that are in flight, in the SDK's words, and lets
// the tasks go.
func (w *Worker) end(cause error, out []protocol.Effect) []protocol.Effect {
	for _, n := range slices.Sorted(maps.Keys(w.calls)) {
		out = append(out, protocol.Complete{ID: w.calls[n].id, Err: &protocol.Error{
			Code: protocol.CodeOutcomeUnknown, Message: "Worker RPC host is shutting down", Err: cause,
		}})
		w.forget(n)
	}
	for _, id := range slices.Sorted(maps.Keys(w.tasks)) {
		out = append(out, protocol.Abandon{ID: id})
		delete(w.tasks, id)
	}
	return w.routes.end(out)
}

// afterEnd refuses what still comes; of what would be sent, nothing is.
func (w *Worker) afterEnd(in protocol.Input, out []protocol.Effect) []protocol.Effect {
	a, ok := in.(Asking)
	if !ok {
		return out
	}
	return append(out, protocol.Complete{ID: a.ID, Err: &protocol.Error{
		Code: protocol.CodeNotReady, Message: fmt.Sprintf(`Cannot call "%s"`, clip(a.Call.Key)),
		Err: errors.New("worker RPC host is not running"),
	}})
}
