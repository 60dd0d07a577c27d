package eliza

import (
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// ask calls a method of the runtime.
func (w *Worker) ask(in protocol.Invoke, within json.RawMessage, out []protocol.Effect) []protocol.Effect {
	if len(w.calls) >= w.pending() {
		return append(out, protocol.Complete{ID: in.ID, Err: &protocol.Error{
			Code: protocol.CodeOverloaded,
			Message: fmt.Sprintf("%d calls of the host are in flight, the limit: call %s again later",
				w.pending(), protocol.Clip(in.Call.Key)),
		}})
	}
	w.last++
	w.calls[w.last] = asking{id: in.ID, method: in.Call.Key}
	w.numbers[in.ID] = w.last
	return append(out, protocol.Send{Message: HostRPC{
		RequestID: number(w.last), API: quote("runtime"), Method: quote(in.Call.Key),
		Args: or(in.Call.Input, json.RawMessage(`{}`)), StreamReply: in.Follows, Within: within,
	}})
}

// answered takes an answer of the host's.
func (w *Worker) answered(r Result, out []protocol.Effect) []protocol.Effect {
	n, other := protocol.CallNumber(r.RequestID)
	c, ok := w.calls[n]
	switch {
	case !ok && (other != "" || n == 0 || n > w.last):
		return append(out, protocol.Drop(DroppedUnknown, excerpt(r.RequestID)))
	case !ok:
		return r.late(n, out)
	case other != "":
		w.forget(n)
		return append(out, protocol.Complete{ID: c.id, Err: &protocol.Error{Code: protocol.CodeWire, Message: fmt.Sprintf(
			"%s was answered under the id %s, a %s; expected the number %d", protocol.Clip(c.method), excerpt(r.RequestID), other, n)}})
	case truthy(r.OK) && r.inParts():
		return w.streamBegin(n, c, r.StreamID, out)
	}
	w.forget(n)
	result, err := r.outcome(c.method, "")
	return append(out, protocol.Complete{ID: c.id, Result: result, Err: err})
}

// streamBegin takes the answer that says that more of it comes in parts.
func (w *Worker) streamBegin(n uint64, c asking, id json.RawMessage, out []protocol.Effect) []protocol.Effect {
	name := string(id)
	if _, taken := w.streams[name]; taken || c.stream != "" || len(name) > protocol.MaxExcerpt {
		w.forget(n)
		return append(out, protocol.Complete{ID: c.id, Err: &protocol.Error{Code: protocol.CodeWire, Message: fmt.Sprintf(
			"%s was answered as the stream %s: expected a short id that is not in use", protocol.Clip(c.method), excerpt(id))}})
	}
	c.stream = name
	w.calls[n], w.streams[name] = c, n
	return out
}

// chunk takes a part of the host's answer.
func (w *Worker) chunk(m StreamChunk, out []protocol.Effect) []protocol.Effect {
	n, ok := w.streams[string(m.StreamID)]
	if !ok {
		return append(out, protocol.Drop(DroppedLate, typeStreamChunk+" "+excerpt(m.StreamID)))
	}
	return append(out, protocol.Progress{ID: w.calls[n].id, Item: or(m.Chunk, isNull)})
}

// streamEnd takes the end of the host's answer.
func (w *Worker) streamEnd(m StreamEnd, out []protocol.Effect) []protocol.Effect {
	n, ok := w.streams[string(m.StreamID)]
	if !ok {
		return w.streamLeft(m, out)
	}
	done := protocol.Complete{ID: w.calls[n].id, Result: or(m.Value, isNull)}
	if !isAbsent(m.Error) {
		done.Result, done.Err = nil, remoteError(m.Error)
	}
	w.forget(n)
	return append(out, done)
}

// streamLeft takes the end of a model's answer that comes in parts: the host does not take
// more of it. The task counts until it is answered.
func (w *Worker) streamLeft(m StreamEnd, out []protocol.Effect) []protocol.Effect {
	id := protocol.RequestID(streamNumber(m.StreamID, workerStreams))
	one, runs := w.tasks[id]
	if !runs || one.stream == nil || one.left {
		return append(out, protocol.Drop(DroppedLate, typeStreamEnd+" "+excerpt(m.StreamID)))
	}
	one.left = true
	w.tasks[id] = one
	return append(out, protocol.Abandon{ID: id})
}

// cancel forgets a call of the runtime, and tells the host if it answers in parts.
func (w *Worker) cancel(in protocol.Cancel, out []protocol.Effect) []protocol.Effect {
	n, ok := w.numbers[in.ID]
	if !ok {
		return out
	}
	stream := w.calls[n].stream
	w.forget(n)
	if stream != "" {
		out = append(out, noMore(json.RawMessage(stream)))
	}
	return out
}

func (w *Worker) forget(n uint64) {
	c := w.calls[n]
	delete(w.numbers, c.id)
	delete(w.streams, c.stream)
	delete(w.calls, n)
}
