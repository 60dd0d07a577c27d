package ws

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/airi-host/airi-host/protocol"
)

// What waits of a stream for who reads it.
const (
	mostItems = 1024
	mostBytes = 8 << 20
)

// queue are the items of a stream that nobody has taken yet, and its end. The next one above
// the limits fails the stream.
type queue struct {
	mu    sync.Mutex
	items []json.RawMessage
	bytes int
	over  bool
	err   error
	// arrived has room for one sign that there is something.
	arrived chan struct{}
}

func newQueue() *queue { return &queue{arrived: make(chan struct{}, 1)} }

// add takes an item. A nil queue takes none.
func (q *queue) add(item json.RawMessage) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.over:
		return
	case len(q.items) == mostItems || q.bytes > 0 && q.bytes+len(item) > mostBytes:
		q.over, q.err = true, &protocol.Error{Code: protocol.CodeOverloaded, Message: fmt.Sprintf(
			"who reads the stream is too slow: more than %d items or %d bytes wait", mostItems, mostBytes)}
	default:
		q.items, q.bytes = append(q.items, item), q.bytes+len(item)
	}
	q.sign()
}

// end ends the stream, with an error for one that has failed.
func (q *queue) end(err error) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.over {
		q.over, q.err = true, err
		q.sign()
	}
}

func (q *queue) sign() {
	select {
	case q.arrived <- struct{}{}:
	default:
	}
}

// signal is where a sign comes; nothing comes where there is no queue.
func (q *queue) signal() <-chan struct{} {
	if q == nil {
		return nil
	}
	return q.arrived
}

// take takes what is there, and tells whether that was all, and how the stream ended.
func (q *queue) take() (items []json.RawMessage, over bool, err error) {
	if q == nil {
		return nil, true, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	items, q.items, q.bytes = q.items, nil, 0
	return items, q.over, q.err
}

// each yields the items as they come, until the end or that of ctx.
func (q *queue) each(ctx context.Context) func(yield func(json.RawMessage, error) bool) {
	return func(yield func(json.RawMessage, error) bool) {
		for {
			items, over, err := q.take()
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if over {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			select {
			case <-q.signal():
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}
