package plugin

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/airi-host/airi-host/protocol"
)

// keptOutput is the largest buffer that is kept for the frames to come, in bytes.
const keptOutput = 1 << 20

// output writes frames, a line each, to a host that may be slow. Unlike the host's
// writers it makes its senders wait: they are handlers, and one that says more than
// the host reads is to be slowed down, and nothing of it lost.
//
// Whoever finds nobody writing writes, and what is added meanwhile goes out in one
// piece after it.
type output struct {
	dst   io.Writer
	codec protocol.Codec
	// limit is how many bytes may wait before a sender does; record is the length
	// of the longest frame.
	limit, record int
	// onFail is called once with the error of a write.
	onFail func(error)

	mu sync.Mutex
	// queued waits for whoever writes; writing is how much is being written, and
	// busy that somebody does. spare is an empty buffer.
	queued, spare []byte
	writing       int
	busy          bool
	err           error
	// settled is closed when a write is over; it is made when somebody waits.
	settled chan struct{}
}

// room waits until there is room for a frame. It returns early when ctx ends or
// nothing can be written any more.
func (o *output) room(ctx context.Context) {
	_ = o.await(ctx, func() bool { return len(o.queued)+o.writing < o.limit }) // add tells what is wrong
}

// drained waits until everything is written, and returns why it was not.
func (o *output) drained(ctx context.Context) error {
	return o.await(ctx, func() bool { return len(o.queued) == 0 && !o.busy })
}

// await waits until a condition holds, which is looked at under the lock.
func (o *output) await(ctx context.Context, holds func() bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && !holds() {
		if o.settled == nil {
			o.settled = make(chan struct{})
		}
		settled := o.settled
		o.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
		}
		o.mu.Lock()
		if ctx.Err() != nil && !holds() {
			return ctx.Err()
		}
	}
	return o.err
}

// add queues a frame; flush writes it. A frame that cannot be written leaves
// nothing behind.
func (o *output) add(m protocol.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	begin := len(o.queued)
	frame, err := o.codec.Encode(o.queued, m)
	if size := len(frame) - begin; err == nil && size > o.record {
		err = &protocol.Error{Code: protocol.CodeInvalid, Message: fmt.Sprintf(
			"a frame of %d bytes is above the limit of %d: send less, or in parts", size, o.record)}
	}
	if err != nil {
		o.queued = o.queued[:begin]
		return err
	}
	o.queued = append(frame, '\n')
	return nil
}

// flush writes what is queued, unless somebody does already. What others add while
// it writes is left to a goroutine, so that a handler is not kept from its work by
// what the others say. others tells that some are about to say something.
func (o *output) flush(others bool) {
	if !o.begin() {
		return
	}
	if others {
		runtime.Gosched() // what they add goes with this write
	}
	if more := o.write(); more {
		go o.drain()
	}
}

// flushAside is flush for the one who reads: it must not wait for the host to read.
func (o *output) flushAside() {
	if o.begin() {
		go o.drain()
	}
}

// begin takes the turn to write, if there is anything to write and it is free.
func (o *output) begin() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy || len(o.queued) == 0 || o.err != nil {
		return false
	}
	o.busy = true
	return true
}

// drain writes until nothing is queued. It has the turn.
func (o *output) drain() {
	for o.write() {
	}
}

// write writes what is queued and gives the turn back, unless there is more.
func (o *output) write() (more bool) {
	o.mu.Lock()
	data := o.queued
	o.queued, o.spare = o.spare, nil
	o.writing = len(data)
	o.mu.Unlock()

	_, err := o.dst.Write(data)

	o.mu.Lock()
	o.writing = 0
	if cap(data) <= keptOutput {
		o.spare = data[:0]
	}
	if err != nil {
		o.err, o.queued = err, nil
	}
	more = len(o.queued) > 0
	o.busy = more
	if o.settled != nil {
		close(o.settled)
		o.settled = nil
	}
	o.mu.Unlock()
	if err != nil {
		o.onFail(err)
	}
	return more
}
