package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// defaultCallTime is how long a call of the host may take when its context has no
// deadline: that of Paperclip's SDK.
const defaultCallTime = 30 * time.Second

// answer is how a call of the host ended.
type answer struct {
	result json.RawMessage
	err    error
}

// waiting is somebody who waits for the end of a call.
type waiting struct {
	done chan answer
	// parts is what comes before the end; nil where nobody follows.
	parts *parts
}

// asked is a call of the host in flight.
type asked struct {
	*waiting
	id    protocol.CallID
	key   string
	begun time.Time
}

// call calls the host, as the plugin's session wants it.
func (w *worker) call(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	if c.Feed != nil {
		return nil, w.fault(protocol.CodeInvalid, c.Key+" was not called: "+w.end.host()+" takes no request stream: give the call an input")
	}
	if c.Deadline.IsZero() {
		c.Deadline = time.Now().Add(defaultCallTime)
	}
	ctx, cancel := context.WithDeadline(ctx, c.Deadline)
	defer cancel()
	method, params := w.end.method(ctx, c)
	a, err := w.ask(ctx, method, params, c.Progress != nil)
	if err != nil {
		return nil, err
	}
	a.key = c.Key
	return w.await(ctx, a, c.Progress)
}

// ask sends a call, for the invocation that ctx belongs to.
func (w *worker) ask(ctx context.Context, method string, params json.RawMessage, follows bool) (asked, error) {
	a := asked{key: method, begun: time.Now(), waiting: &waiting{done: make(chan answer, 1)}}
	if follows {
		a.parts = newParts()
	}
	// An envelope with the longest of ids fits into what is left.
	if most := w.wired.record - len(method) - 256; len(params) > most {
		return a, w.fault(protocol.CodeInvalid, fmt.Sprintf(
			"the input of %s has %d bytes, the limit is %d: send less, or in parts", method, len(params), most))
	}
	if w.out.room(ctx); ctx.Err() != nil {
		return a, w.gaveUp(ctx, a)
	}
	w.mu.Lock()
	w.lastCall++
	a.id = w.lastCall
	w.calls[a.id] = a.waiting
	w.mu.Unlock()
	in := protocol.Invoke{ID: a.id, Call: protocol.Call{Key: method, Input: params}, Follows: follows}
	w.step(w.end.asking(in, w.invocation(ctx)))
	w.out.flush(false)
	return a, nil
}

// invocation is what the host calls the task of ctx. A context of another
// worker's has none here.
func (w *worker) invocation(ctx context.Context) string {
	h := handlingOf(ctx)
	if h.session != w.session || h.route != nil && h.route.accepted.Load() {
		return "" // the host forgets that of a route when it is open
	}
	return h.invocation
}

// await waits for the end of a call, and hands on what comes before it.
func (w *worker) await(ctx context.Context, a asked, take func(json.RawMessage) error) (json.RawMessage, error) {
	for {
		select {
		case end := <-a.done:
			if err := a.parts.hand(take); err != nil {
				return nil, err
			}
			return end.result, end.err
		case <-a.parts.signal():
			if err := a.parts.hand(take); err != nil {
				w.leave(a)
				return nil, err
			}
		case <-ctx.Done():
			w.leave(a)
			return nil, w.gaveUp(ctx, a)
		}
	}
}

// leave forgets a call. The host is told where the wire has a word for it; else a late
// answer is not used.
func (w *worker) leave(a asked) {
	w.step(protocol.Cancel{ID: a.id})
	w.mu.Lock()
	delete(w.calls, a.id)
	w.mu.Unlock()
	w.out.flush(false)
}

// gaveUp says which limit ended a call.
func (w *worker) gaveUp(ctx context.Context, a asked) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return w.fault(protocol.CodeTimeout, fmt.Sprintf("%s: the host did not answer within the caller's limit of %s",
			a.key, time.Since(a.begun).Round(time.Millisecond)))
	}
	err := w.fault(protocol.CodeCancelled, "nobody waits for "+a.key+" any more")
	err.Err = ctx.Err()
	return err
}

// parts are the items of a call that its caller has not taken yet.
type parts struct {
	mu    sync.Mutex
	items []json.RawMessage
	bytes int
	err   error
	// arrived has room for one sign that there is something.
	arrived chan struct{}
}

func newParts() *parts { return &parts{arrived: make(chan struct{}, 1)} }

// signal is where a sign comes; nothing comes where there are no parts.
func (p *parts) signal() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.arrived
}

// add takes an item. What is too much, as for a stream that is collected, is the end.
func (p *parts) add(item json.RawMessage) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
		return
	case len(p.items) == mostCollected || p.bytes+len(item) > mostBytesCollected:
		p.err = &protocol.Error{Code: protocol.CodeOverloaded, Message: fmt.Sprintf(
			"who follows the call is too slow: more than %d items or %d bytes wait for it", mostCollected, mostBytesCollected)}
	default:
		p.items, p.bytes = append(p.items, item), p.bytes+len(item)
	}
	select {
	case p.arrived <- struct{}{}:
	default:
	}
}

// hand hands on what has arrived.
func (p *parts) hand(take func(json.RawMessage) error) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	items, err := p.items, p.err
	p.items, p.bytes = nil, 0
	p.mu.Unlock()
	for _, item := range items {
		if err := take(item); err != nil {
			return err
		}
	}
	return err
}
