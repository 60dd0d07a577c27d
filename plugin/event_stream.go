package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// streaming is a Home that takes event streams.
type streaming interface {
	Stream(ctx context.Context, s protocol.Streamed) error
}

// EventStream is a channel of the plugin's own on which it tells a tenant something, item by
// item, whoever listens. Its methods may be called from any number of goroutines.
type EventStream struct {
	session *Session
	channel string
}

// OpenStream opens an event stream for the company of the call whose handler got ctx. The
// channel's name has 1 to 256 bytes, and no other stream of the plugin's that is open has
// it; there are at most 1024. It stays open until it is closed, or the plugin ends.
//
// Each item, and the close, says for which call it is told, by its context: a host passes
// over what is told for a call that is over. A host that knows no event streams, as one into which the plugin
// is compiled, is an [ErrNotOffered].
func (s *Session) OpenStream(ctx context.Context, channel string) (*EventStream, error) {
	if err := s.stream(ctx, protocol.Streamed{What: protocol.StreamOpen, Channel: channel, Scope: Scope(ctx)}); err != nil {
		return nil, err
	}
	return &EventStream{s, channel}, nil
}

// Channel is the stream's name.
func (e *EventStream) Channel() string { return e.channel }

// Emit tells an item, which is encoded to JSON. It waits while the host is behind.
func (e *EventStream) Emit(ctx context.Context, item any) error {
	encoded, err := json.Marshal(item)
	if err != nil {
		return fmt.Errorf("the item for the event stream %s: %w", e.channel, err)
	}
	return e.session.stream(ctx, protocol.Streamed{What: protocol.StreamItem, Channel: e.channel, Item: encoded})
}

// Close closes it, also when ctx has ended: that bounds only how long a host that is behind
// is waited for.
func (e *EventStream) Close(ctx context.Context) error {
	return e.session.stream(ctx, protocol.Streamed{What: protocol.StreamClose, Channel: e.channel})
}

func (s *Session) stream(ctx context.Context, part protocol.Streamed) error {
	home, ok := s.home.(streaming)
	if !ok {
		return notOffered(s.Plugin(), "an event stream")
	}
	return home.Stream(ctx, part)
}

var _ streaming = paperclipHome{}

// Stream tells a Paperclip host something on an event stream.
func (h paperclipHome) Stream(ctx context.Context, s protocol.Streamed) error {
	w := h.w
	if w.out.room(ctx); ctx.Err() != nil && s.What != protocol.StreamClose {
		return ctx.Err()
	}
	if err := w.trackStream(s); err != nil {
		return err
	}
	w.step(paperclip.Streaming{Stream: protocol.Stream{Streamed: s}, Invocation: w.invocation(ctx)})
	w.out.flush(false)
	return nil
}

// trackStream keeps which streams are open.
func (w *paperclipWorker) trackStream(s protocol.Streamed) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	open := w.streams[s.Channel]
	switch {
	case s.What != protocol.StreamOpen && !open:
		return w.fault(protocol.CodeConflict, fmt.Sprintf("the event stream %q is closed: open it first", s.Channel))
	case s.What == protocol.StreamClose:
		delete(w.streams, s.Channel)
		return nil
	case s.What == protocol.StreamItem:
		return nil
	case s.Channel == "" || len(s.Channel) > paperclip.MaxStreamName:
		return w.fault(protocol.CodeInvalid, fmt.Sprintf("the name of an event stream: expected 1 to %d bytes, got %d", paperclip.MaxStreamName, len(s.Channel)))
	case open:
		return w.fault(protocol.CodeConflict, fmt.Sprintf("the event stream %q is open already: emit on that one, or choose another name", s.Channel))
	case len(w.streams) >= paperclip.MaxStreams:
		return w.fault(protocol.CodeOverloaded, fmt.Sprintf("%d event streams are open, the limit: close one first", paperclip.MaxStreams))
	}
	w.streams[s.Channel] = true
	return nil
}
