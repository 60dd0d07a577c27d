package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// flow is what a call has beside an input and a result. It is the call's own, which may
// be over, and used again, while its handler's context is still held.
type flow struct {
	progress func(json.RawMessage) error
	alive    func()
	feed     iter.Seq2[json.RawMessage, error]
	// collects tells that nobody knows whether progress is followed: what a stream emits
	// is its result as well.
	collects bool
	// log takes a protocol.LogChunk where that is all that the wire takes; nil elsewhere.
	log func(context.Context, json.RawMessage) error
}

// flowOf returns that of a call; nil for most calls.
func flowOf(c *protocol.Call) *flow {
	if c.Progress == nil && c.Alive == nil && c.Feed == nil {
		return nil
	}
	return &flow{progress: c.Progress, alive: c.Alive, feed: c.Feed}
}

// Report tells whoever made the call, whose handler got ctx, what there is so far. The
// item is encoded to JSON. It waits while the caller is still at an earlier item, at
// most until ctx ends, and returns an error if the item was not taken. Where nobody
// follows the call it does nothing and returns nil. In any case it is a sign of life,
// which starts the call's idle limit anew. It may be called from any goroutine until
// the handler returns.
func Report(ctx context.Context, item any) error {
	f := handlingOf(ctx).flow
	switch {
	case f == nil:
		return nil
	case f.progress == nil:
		f.showLife()
		return nil
	}
	encoded, err := json.Marshal(item)
	if err != nil {
		return fmt.Errorf("the item to report: %w", err)
	}
	return f.progress(encoded)
}

func (f *flow) showLife() {
	if f != nil && f.alive != nil {
		f.alive()
	}
}

// Stream offers any key, as Handle does, whose answer is a stream: handle emits its
// items, which the caller gets as they come, and the result is null. emit is to the
// items what Report is; its error says that no more can be sent, and is for handle to
// return. A caller who does not follow gets all items at the end, as an array (of a
// tool or provider, whose result is an object, as its data); more than 1024 of them, or
// than 8 MiB, fail the call as overloaded.
func Stream[In, Out any](to Offerer, key string, handle func(ctx context.Context, in In, emit func(Out) error) error, opts ...Option) {
	Handle(to, key, func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := decode(input, &in); err != nil {
			return nil, err
		}
		if f := handlingOf(ctx).flow; f == nil || f.progress == nil || f.collects {
			items, err := collect(f, func(emit func(any) error) error {
				return handle(ctx, in, func(item Out) error { return emit(item) })
			})
			return collected(key, items), err
		}
		err := handle(ctx, in, func(item Out) error { return Report(ctx, item) })
		return json.RawMessage("null"), err
	}, opts...)
}

// What is collected of a stream for a caller who does not follow it.
const (
	mostCollected      = 1024
	mostBytesCollected = 8 << 20
)

// collection is the items of a stream, as a JSON array that is not closed yet.
type collection struct {
	mu    sync.Mutex
	items int
	array []byte
	err   error
}

// collect runs a handler and returns what it emitted.
func collect(f *flow, handle func(emit func(any) error) error) (json.RawMessage, error) {
	c := &collection{array: []byte{'['}}
	err := handle(func(item any) error {
		f.showLife()
		return c.add(f, item)
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		err = c.err
	}
	if err != nil {
		return nil, err
	}
	return append(c.array, ']'), nil
}

// collected is the result of a stream's items by the kind of what was called.
func collected(key string, items json.RawMessage) json.RawMessage {
	if items == nil || !strings.HasPrefix(key, kindTool) && !strings.HasPrefix(key, kindProvider) {
		return items
	}
	return slices.Concat(json.RawMessage(`{"data":`), items, json.RawMessage(`}`))
}

func (c *collection) add(f *flow, item any) error {
	encoded, err := json.Marshal(item)
	if err != nil {
		return fmt.Errorf("the item to emit: %w", err)
	}
	if f != nil && f.collects {
		if err := f.progress(encoded); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case c.items == mostCollected:
		c.err = tooMany(fmt.Sprintf("%d items", mostCollected))
		return c.err
	case len(c.array)+len(encoded) > mostBytesCollected:
		c.err = tooMany(fmt.Sprintf("%d bytes", mostBytesCollected))
		return c.err
	}
	if c.items++; c.items > 1 {
		c.array = append(c.array, ',')
	}
	c.array = append(c.array, encoded...)
	return nil
}

func tooMany(what string) error {
	return &protocol.Error{
		Code:    protocol.CodeOverloaded,
		Message: "the answer is a stream of more than " + what + ": follow the call, to get its items as they come",
	}
}

// Feed returns the request stream of the call whose handler got ctx, decoded item by
// item: what the caller sends while the handler runs. It can be read once, and ends
// with an error where the caller's stream has failed, an item is none of the type, or
// the call is over. It is empty for a call with one input.
func Feed[T any](ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		f := handlingOf(ctx).flow
		if f == nil || f.feed == nil {
			return
		}
		for encoded, err := range f.feed {
			var item T
			if err == nil {
				err = decode(encoded, &item)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// Follow takes the items of a call as they come, in order, before Call returns. The
// callee waits while take is at one; an error of take tells it that the item was not
// taken, and ends the call if the callee is another process. A Paperclip host tells
// nothing before the result; an elizaOS host does where it knows of streams.
func Follow[T any](take func(T) error) CallOption {
	return func(c *protocol.Call) {
		c.Progress = func(encoded json.RawMessage) error {
			var item T
			if err := json.Unmarshal(encoded, &item); err != nil {
				return fmt.Errorf("an item of %s: %w", c.Key, err)
			}
			return take(item)
		}
	}
}

// Feeding makes a call with a request stream; its input is nil then. The items are read
// once, on another goroutine, as fast as the callee takes them; an error among them is
// the last one, and tells the callee that the stream has failed. When the call is over
// the loop is left; where it waits for an item then, it has to end by itself. The
// plugin called must be compiled in or have a wire that knows request streams.
func Feeding[T any](items iter.Seq2[T, error]) CallOption {
	return func(c *protocol.Call) {
		c.Feed = func(yield func(json.RawMessage, error) bool) {
			for item, err := range items {
				var encoded json.RawMessage
				if err == nil {
					encoded, err = json.Marshal(item)
				}
				if !yield(encoded, err) || err != nil {
					return
				}
			}
		}
	}
}

// Idle bounds how long the callee may report nothing before it answers; each item that
// it reports, and each sign of life, starts the limit anew. Below zero there is none,
// whatever the callee's manifest says. A worker's host does not know such a limit.
func Idle(limit time.Duration) CallOption {
	return func(c *protocol.Call) { c.Idle = limit }
}
