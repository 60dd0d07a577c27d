package paperclip

import (
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// Streaming puts something on one of the worker's event streams. Its Scope is needed to
// open one; then the stream knows it.
type Streaming struct {
	protocol.Stream
	// Invocation is as in an Asking.
	Invocation string
}

// report tells the host what a command writes; see protocol.LogChunk. Nothing else that a
// worker does has intermediate items on this wire.
func (w *Worker) report(in protocol.Report, out []protocol.Effect) []protocol.Effect {
	t, ok := w.tasks[in.ID]
	if !ok || t.method != methodExecute {
		return out
	}
	if chunk := member(in.Item, "chunk"); len(chunk) <= len(`""`) || protocol.TextUnits(chunk) <= MaxLogChunk {
		if string(chunk) == `""` {
			return out
		}
		return append(out, logNote(in.Item, t.invocation))
	}
	c, err := protocol.ReadLogChunk(in.Item)
	if err != nil {
		return append(out, protocol.Drop(DroppedLogChunk, err.Error()))
	}
	for rest := c.Text; len(rest) > 0; {
		n := wholeRunes(rest, min(len(rest), MaxLogChunk))
		out = append(out, logNote(protocol.LogChunk{Stream: c.Stream, Text: rest[:n]}.Item(), t.invocation))
		rest = rest[n:]
	}
	return out
}

func logNote(item json.RawMessage, invocation string) protocol.Send {
	return protocol.Send{Message: Notification{Method: methodLogChunk, Params: item, InvocationID: stamp(invocation)}}
}

// streamMethods are the notifications of event streams.
var streamMethods = map[protocol.StreamPart]string{
	protocol.StreamOpen: methodStreamOpen, protocol.StreamItem: methodStreamItem, protocol.StreamClose: methodStreamClose,
}

// stream tells the host of an event stream, as the SDK does: one that was never opened is
// for nobody.
func (w *Worker) stream(in Streaming, out []protocol.Effect) []protocol.Effect {
	s := in.Streamed
	scope, isOpen := w.streams[s.Channel]
	switch s.What {
	case protocol.StreamOpen:
		scope = s.Scope
		if !isOpen && len(w.streams) >= MaxStreams {
			return append(out, protocol.Drop(DroppedStreamLimit, s.Channel))
		}
		w.streams[s.Channel] = scope
	case protocol.StreamClose:
		delete(w.streams, s.Channel)
	case protocol.StreamItem:
	}
	o := newObject().str("channel", s.Channel).str("companyId", scope)
	if s.What == protocol.StreamItem {
		o = o.raw("event", s.Item)
	}
	return append(out, protocol.Send{Message: Notification{Method: streamMethods[s.What], Params: o.done(), InvocationID: stamp(in.Invocation)}})
}
