package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
)

// backlog holds the items of one stream that wait for whoever takes them, within
// bounds: who puts them in is a peer's reader, which must not wait.
type backlog struct {
	mostItems, mostBytes int
	// wake has a value when there is something to look for.
	wake chan struct{}

	mu    sync.Mutex
	items []json.RawMessage
	bytes int
	// ended tells that no more come, err why if that is no good end; left that nobody
	// takes any more.
	ended, left bool
	err         error
}

func newBacklog(l Limits) *backlog {
	return &backlog{mostItems: l.StreamItems, mostBytes: l.StreamBytes, wake: make(chan struct{}, 1)}
}

// put adds an item; it tells whether that was taken, or says why there is no room.
func (b *backlog) put(item json.RawMessage) (taken bool, full error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.ended || b.left:
		return false, nil
	case len(b.items) >= b.mostItems:
		return false, fmt.Errorf("%d items wait, the limit (streamItems)", len(b.items))
	case b.bytes >= b.mostBytes:
		return false, fmt.Errorf("%d bytes of items wait, the limit is %d (streamBytes)", b.bytes, b.mostBytes)
	}
	b.items = append(b.items, item)
	b.bytes += len(item)
	b.ring()
	return true, nil
}

// end tells that no more items come.
func (b *backlog) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended, b.err = true, err
		b.ring()
	}
}

func (b *backlog) ring() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take takes the first item out, if there is one. After the last one of an ended
// stream over is true, and err tells how it ended.
func (b *backlog) take() (item json.RawMessage, some, over bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items) == 0 {
		return nil, false, b.ended, b.err
	}
	item, b.items[0] = b.items[0], nil
	b.items = b.items[1:]
	b.bytes -= len(item)
	return item, true, false, nil
}

// leave tells that nobody takes items any more, and returns how many were left.
func (b *backlog) leave() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.items)
	b.left, b.items, b.bytes = true, nil, 0
	return n
}

// isHalfFull tells that whoever takes items should get a chance to.
func (b *backlog) isHalfFull() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return 2*len(b.items) >= b.mostItems || 2*b.bytes >= b.mostBytes
}

// all are the items as they come, until the stream's end or that of ctx. It is for one
// reader.
func (b *backlog) all(ctx context.Context) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		defer b.leave()
		for ctx.Err() == nil {
			item, some, over, err := b.take()
			switch {
			case some && !yield(item, nil):
				return
			case some:
			case over:
				if err != nil {
					yield(nil, err)
				}
				return
			default:
				select {
				case <-b.wake:
				case <-ctx.Done():
				}
			}
		}
		yield(nil, context.Cause(ctx))
	}
}
