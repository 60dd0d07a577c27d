package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/airi-host/airi-host/protocol"
)

// task is something that the host wants. One Reply is owed, unless it is the end's own.
type task struct {
	protocol.Serve
	// invocation is what the host calls it, "" for nothing.
	invocation string
	// isValidate tells that it is asked whether an action or an evaluator fits.
	isValidate bool
	// ctx ends with the task's own end; nil where it ends with the worker.
	ctx context.Context
	// own is what is done where it is not the host that wants it, after takes how that
	// ended.
	own   func(context.Context) error
	after func(error)
}

// lane is a queue of tasks of which one runs at a time. Its length is bounded as
// that of all tasks.
type lane struct {
	waiting []task
	busy    bool
}

// begin starts a task, or queues it behind those of its lane, where it has one.
func (w *worker) begin(t task, l *lane) {
	w.running++
	if l == nil {
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
func (w *worker) work(t task) {
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
func (w *worker) do(t task) {
	ctx := &handling{Context: w.ctx, session: w.session, scope: t.Call.Scope, request: t.Call.Input, invocation: t.invocation}
	if t.ctx != nil {
		ctx.Context = t.ctx
	}
	if t.Follows {
		ctx.flow = w.end.flow(t)
	}
	var result json.RawMessage
	err := errNotReturned
	defer func() {
		if err == errNotReturned { //nolint:errorlint // this very value
			err = w.contain(ctx, t.Call.Key, recover())
		}
		w.reply(t, protocol.Reply{ID: t.ID, Result: result, Err: err})
	}()
	if t.own != nil {
		err = t.own(ctx)
		return
	}
	result, err = w.end.handle(ctx, t)
}

var errNotReturned = errors.New("not returned")

// contain makes an error of a panic; the stack goes to the log. Without a value it
// was runtime.Goexit.
func (w *worker) contain(ctx context.Context, method string, value any) error {
	if value == nil {
		return fmt.Errorf("plugin %s: the handler of %s ended its goroutine without an answer", w.end.pluginName(), method)
	}
	w.log.ErrorContext(ctx, "a handler panicked", "method", method, "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
	return fmt.Errorf("plugin %s: the handler of %s panicked: %v", w.end.pluginName(), method, value)
}

// reply answers a task, and waits before if the host is behind.
func (w *worker) reply(t task, r protocol.Reply) {
	w.out.room(w.ctx)
	if t.own == nil {
		w.step(r)
	} else {
		t.after(r.Err)
	}
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
