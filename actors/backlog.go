package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"
)

// backlog holds the items of one stream that wait for whoever takes them, within
// bounds: who puts them in is a peer's reader, which others wait for.
type backlog struct {
	mostItems, mostBytes int
	// itemsName and bytesName are what the limits are called, perByte is for how long a
	// reader is held up for a byte that is taken, beside its item.
	itemsName, bytesName string
	perByte              time.Duration
	// joins is up to which size an item is joined with the one before it; 0 where each is
	// to stay what it is.
	joins int
	// wake has a value when there is something to look for.
	wake chan struct{}

	mu    sync.Mutex
	items []json.RawMessage
	bytes int
	// ended tells that no more come, err why if that is no good end; left that nobody
	// takes any more.
	ended, left bool
	err         error
	// patience is for how long the reader may yet be held up for whoever takes items,
	// and room has a value when it need not be any more.
	patience time.Duration
	room     chan struct{}
}

// A reader is held up for 20 ms at most by one who takes no items, and by one who does
// for 50 µs an item: who is quicker than that never loses a stream to a peer that is
// quicker still, or because it had no turn on a processor.
const (
	mostPatience = 20 * time.Millisecond
	itemPatience = 50 * time.Microsecond
)

func newBacklog(l Limits) *backlog {
	return &backlog{
		mostItems: l.StreamItems, mostBytes: l.StreamBytes, itemsName: "streamItems", bytesName: "streamBytes",
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1), patience: mostPatience,
	}
}

// bytePatience has a reader held up for who takes 64 MiB a second of a route.
const bytePatience = 15 * time.Nanosecond

// joinedChunk is up to which size short chunks of a route are one: a program that writes
// byte by byte is held to the bytes that may wait then, and not to so many chunks.
const joinedChunk = 4 << 10

// newChunkQueue is for the chunks of a route.
func newChunkQueue(l Limits) *backlog {
	b := newBacklog(l)
	b.mostItems, b.mostBytes, b.itemsName, b.bytesName = l.RouteChunks, l.RouteBytes, "routeChunks", "routeBytes"
	b.perByte, b.joins = bytePatience, joinedChunk
	return b
}

// join puts an item behind the newest one that waits, if the two are short.
func (b *backlog) join(item json.RawMessage) bool {
	last := len(b.items) - 1
	if last < 0 || len(b.items[last])+len(item) > b.joins {
		return false
	}
	b.items[last] = append(b.items[last], item...)
	return true
}

// put adds an item; it tells whether that was taken, or says why there is no room.
func (b *backlog) put(item json.RawMessage) (taken bool, full error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.ended || b.left:
		return false, nil
	case b.bytes >= b.mostBytes:
		return false, fmt.Errorf("%d bytes of items wait, the limit is %d (%s)", b.bytes, b.mostBytes, b.bytesName)
	case b.join(item):
	case len(b.items) >= b.mostItems:
		return false, fmt.Errorf("%d items wait, the limit (%s)", len(b.items), b.itemsName)
	default:
		b.items = append(b.items, item)
	}
	b.bytes += len(item)
	signal(b.wake)
	return true, nil
}

// end tells that no more items come.
func (b *backlog) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended, b.err = true, err
		signal(b.wake)
	}
}

// signal leaves a value for who looks.
func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
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
	b.patience = min(b.patience+itemPatience+time.Duration(len(item))*b.perByte, mostPatience)
	if !b.isHalfFull() {
		signal(b.room)
	}
	return item, true, false, nil
}

// leave tells that nobody takes items any more, and returns how many were left.
func (b *backlog) leave() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.items)
	b.left, b.items, b.bytes = true, nil, 0
	signal(b.room)
	return n
}

// isHalfFull tells that whoever takes items should get a chance to; mu is held.
func (b *backlog) isHalfFull() bool {
	return 2*len(b.items) >= b.mostItems || 2*b.bytes >= b.mostBytes
}

// isCrowded is isHalfFull for others.
func (b *backlog) isCrowded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isHalfFull()
}

// giveWay holds up a reader, for a moment, while the backlog is half full. The reader
// calls it, when it is, without a lock.
func (b *backlog) giveWay() {
	runtime.Gosched()
	b.mu.Lock()
	wait := b.patience
	select {
	case <-b.room: // it may be of an earlier time
	default:
	}
	crowded := b.isHalfFull()
	b.mu.Unlock()
	if !crowded || wait <= 0 {
		return
	}
	began := time.Now()
	bell := time.NewTimer(wait)
	defer bell.Stop()
	select {
	case <-b.room:
	case <-bell.C:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.patience -= time.Since(began)
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
