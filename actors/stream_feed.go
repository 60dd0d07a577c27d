package actors

import (
	"encoding/json"
	"errors"

	"github.com/airi-host/airi-host/protocol"
)

// The request stream of a call: the caller's iterator runs on a goroutine of the call's,
// so that one that waits holds up nobody but itself.

// feed is the request stream as a handler reads it.
func (s *stream) feed(yield func(json.RawMessage, error) bool) {
	if !s.isRead.CompareAndSwap(false, true) {
		yield(nil, failure(protocol.CodeInvalid, "", "a request stream can be read once"))
		return
	}
	items, left := make(chan fedItem), make(chan struct{})
	defer close(left)
	go s.pull(func(f fedItem) bool {
		select {
		case items <- f:
			return true
		case <-left:
		case <-s.ctx.Done():
		}
		return false
	})
	for {
		select {
		case f := <-items:
			if f.over && f.err == nil || !yield(f.item, f.err) || f.over {
				return
			}
		case <-s.ctx.Done():
			yield(nil, s.over())
			return
		}
	}
}

// fedItem is an item of a request stream, or its end.
type fedItem struct {
	item json.RawMessage
	err  error
	over bool
}

// pull reads the request stream for the callee until the callee takes no more. A panic
// in the caller's code is the stream's failure. A stream that ends when the call is given
// up has come to no end that the callee could go by: it hears that the call is over.
func (s *stream) pull(give func(fedItem) bool) {
	enough, err := false, errExited
	defer func() {
		if !enough && s.caller.Err() == nil && s.ctx.Err() == nil {
			give(fedItem{err: err, over: true})
		}
	}()
	err = contain(func() error {
		for item, err := range s.source {
			if err != nil {
				return err
			}
			if enough = !give(fedItem{item: item}); enough {
				return nil
			}
		}
		return nil
	})
	if caught, ok := errors.AsType[*panicError](err); ok {
		s.host.log.Error("a caller's request stream panicked", "callee", s.callee(), "error", caught.Error(), "stack", string(caught.stack))
	}
}
