package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// lane is a queue of tasks of which one runs at a time. Its length is bounded as
// that of all tasks.
type lane struct {
	waiting []paperclip.Task
	busy    bool
}

// begin starts a task, or queues it behind those before which it must not run.
func (w *worker) begin(t paperclip.Task) {
	w.running++
	var l *lane
	switch t.Call.Key {
	case "initialize", "configChanged", "shutdown":
		l = &w.hooks
	case "onEvent", "agents.sessions.event":
		l = &w.events
	default:
		select {
		case w.hands <- t:
		default:
			go w.work(t)
		}
		return
	}
	l.waiting = append(l.waiting, t)
	if !l.busy {
		l.busy = true
		go w.follow(l)
	}
}

// maxIdle is how many goroutines without a task are kept: their stacks have grown,
// which costs a new one more than all else that it does in a short call.
const maxIdle = 256

// work does a task, and others after it, as long as they come soon.
func (w *worker) work(t paperclip.Task) {
	for {
		w.do(t)
		if w.idlers.Add(1) > maxIdle {
			w.idlers.Add(-1)
			return
		}
		select {
		case t = <-w.hands:
			w.idlers.Add(-1)
		case <-w.ctx.Done():
			return
		}
	}
}

// follow does the tasks of a lane until there are none.
func (w *worker) follow(l *lane) {
	for {
		w.mu.Lock()
		if len(l.waiting) == 0 {
			l.waiting, l.busy = nil, false
			w.mu.Unlock()
			return
		}
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		w.mu.Unlock()

		returned := false
		func() {
			defer func() {
				if !returned { // the handler has ended this goroutine
					go w.follow(l)
				}
			}()
			w.do(next)
			returned = true
		}()
	}
}

// do does a task and answers it, whatever its handler does: a panic becomes the
// call's error, and so does the end of the goroutine.
func (w *worker) do(t paperclip.Task) {
	ctx := &handling{Context: w.ctx, session: w.session, scope: t.Call.Scope, request: t.Call.Input, invocation: t.Invocation}
	if t.Follows {
		ctx.flow = &flow{log: func(ctx context.Context, item json.RawMessage) error { return w.logChunk(ctx, t.ID, item) }}
	}
	var result json.RawMessage
	err := errNotReturned
	defer func() {
		if err == errNotReturned { //nolint:errorlint // this very value
			err = w.contain(ctx, t.Call.Key, recover())
		}
		w.reply(protocol.Reply{ID: t.ID, Result: result, Err: err})
	}()
	result, err = w.handle(ctx, t.Call.Key, t.Call.Input)
}

var errNotReturned = errors.New("not returned")

// contain makes an error of a panic; the stack goes to the log. Without a value it
// was runtime.Goexit.
func (w *worker) contain(ctx context.Context, method string, value any) error {
	if value == nil {
		return fmt.Errorf("plugin %s: the handler of %s ended its goroutine without an answer", w.pluginName(), method)
	}
	w.log.ErrorContext(ctx, "a handler panicked", "method", method, "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
	return fmt.Errorf("plugin %s: the handler of %s panicked: %v", w.pluginName(), method, value)
}

// reply answers a task, and waits before if the host is behind.
func (w *worker) reply(r protocol.Reply) {
	w.out.room(w.ctx)
	w.step(r)
	w.out.flush(w.settle())
}

// settle counts a handler that has returned, and tells whether others run.
func (w *worker) settle() (others bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if w.running == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	return w.running > 0
}
