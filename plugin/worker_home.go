package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// defaultCallTime is how long a call of the host may take when its context has no
// deadline: that of Paperclip's SDK.
const defaultCallTime = 30 * time.Second

// methodInvoke is the method of this project's host that calls a capability, of
// whichever plugin.
const methodInvoke = "airi-host.invoke"

// home is what a Paperclip host does for a session.
type home struct{ w *worker }

var (
	_ protocol.Home = home{}
	_ configured    = home{}
)

// answer is how a call of the host ended.
type answer struct {
	result json.RawMessage
	err    error
}

// asked is a call of the host in flight.
type asked struct {
	id    protocol.CallID
	key   string
	begun time.Time
	done  chan answer
}

// Module identifies the plugin by its manifest's id.
func (h home) Module() protocol.Module {
	name := h.w.pluginName()
	return protocol.Module{Name: name, ID: name, Plugin: name}
}

func (w *worker) pluginName() string {
	if k := w.known.Load(); k != nil && k.Manifest.ID != "" {
		return k.Manifest.ID
	}
	return w.definition.name
}

// Config is the configuration in force.
func (h home) Config() json.RawMessage {
	if k := h.w.known.Load(); k != nil {
		return k.Config
	}
	return nil
}

// Log is the plugin's own log: a line of it is a notification.
func (h home) Log() *slog.Logger { return h.w.log }

// Serve calls the host: a method of its own ("state.get"), or what has a colon in
// its key and is thus a capability, of which a host of this project is asked.
func (h home) Serve(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	if c.Feed != nil {
		return nil, h.w.fault(protocol.CodeInvalid, c.Key+" was not called: a Paperclip host takes no request stream: give the call an input")
	}
	if c.Deadline.IsZero() {
		c.Deadline = time.Now().Add(defaultCallTime)
	}
	ctx, cancel := context.WithDeadline(ctx, c.Deadline)
	defer cancel()
	method, params := c.Key, c.Input
	if strings.Contains(c.Key, ":") {
		method, params = methodInvoke, invokeParams(ctx, c)
	} else if string(params) == "null" {
		params = nil
	}
	a, err := h.w.ask(ctx, method, params)
	if err != nil {
		return nil, err
	}
	a.key = c.Key
	return h.w.await(ctx, a)
}

// invokeParams are the parameters of methodInvoke. The host gives up when we do.
func invokeParams(ctx context.Context, c protocol.Call) json.RawMessage {
	deadline, _ := ctx.Deadline()
	params, _ := json.Marshal(struct {
		Key     string          `json:"key"`
		Input   json.RawMessage `json:"input,omitempty"`
		Plugin  string          `json:"plugin,omitempty"`
		Timeout int64           `json:"timeoutMs"`
	}{c.Key, c.Input, c.Plugin, max(time.Until(deadline).Milliseconds(), 1)}) // the input is JSON already
	return params
}

// ask sends a call, for the invocation that ctx belongs to.
func (w *worker) ask(ctx context.Context, method string, params json.RawMessage) (asked, error) {
	a := asked{key: method, begun: time.Now(), done: make(chan answer, 1)}
	// An envelope with the longest of ids fits into what is left.
	if most := w.opts.MaxRecord - len(method) - 256; len(params) > most {
		return a, w.fault(protocol.CodeInvalid, fmt.Sprintf(
			"the input of %s has %d bytes, the limit is %d: send less, or in parts", method, len(params), most))
	}
	if w.out.room(ctx); ctx.Err() != nil {
		return a, w.gaveUp(ctx, a)
	}
	w.mu.Lock()
	w.lastCall++
	a.id = w.lastCall
	w.calls[a.id] = a.done
	w.mu.Unlock()
	w.step(paperclip.Asking{
		Invoke:     protocol.Invoke{ID: a.id, Call: protocol.Call{Key: method, Input: params}},
		Invocation: w.invocation(ctx),
	})
	w.out.flush(false)
	return a, nil
}

// invocation is the id that the host gave to the task of ctx. A context of another
// worker's has none here.
func (w *worker) invocation(ctx context.Context) string {
	h := handlingOf(ctx)
	if h.session != w.session || h.route != nil && h.route.accepted.Load() {
		return "" // the host forgets that of a route when it is open
	}
	return h.invocation
}

// await waits for the end of a call. The wire has no word for giving up, so the host
// is not told; its late answer is not used.
func (w *worker) await(ctx context.Context, a asked) (json.RawMessage, error) {
	select {
	case end := <-a.done:
		return end.result, end.err
	case <-ctx.Done():
	}
	w.step(protocol.Cancel{ID: a.id})
	w.mu.Lock()
	delete(w.calls, a.id)
	w.mu.Unlock()
	return nil, w.gaveUp(ctx, a)
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

func (w *worker) fault(code protocol.Code, message string) *protocol.Error {
	return &protocol.Error{Code: code, Plugin: w.pluginName(), Message: message}
}

// Wait fails, unless there is nothing to wait for: the host starts a worker when what
// its manifest requires is ready, and has no call for more.
func (h home) Wait(_ context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	return h.w.fault(protocol.CodeNotFound, fmt.Sprintf(
		`a Paperclip host has no call to wait for %s: name it in the manifest's "airi-host".requires, then the plugin starts when it is ready`,
		strings.Join(keys, ", ")))
}

// Offer takes what the host needs no word of (data, actions), subscribes to events,
// and takes of the rest what the manifest declares.
func (h home) Offer(o protocol.Offer) error {
	kind, _, _ := strings.Cut(o.Key, ":")
	kind += ":"
	switch {
	case kind == kindEvent:
		h.w.subscribeTo(h.w.ctx, strings.TrimPrefix(o.Key, kindEvent))
		return nil
	case (kind == kindWebhook || kind == kindHTTP) && !h.w.definition.offersAny(kind):
		return h.w.fault(protocol.CodeNotFound, o.Key+
			": a Paperclip host is told before the plugin runs whether it takes requests: offer one of the kind on the Definition")
	}
	if kind == kindEnvironment && h.w.definition.handler(o.Key) == nil {
		return h.w.fault(protocol.CodeNotFound, o.Key+": a Paperclip host is told of environment drivers before the plugin runs: call plugin.Environment with the Definition")
	}
	return h.w.offerable(o.Key, h.w.known.Load())
}

// Retract takes back what the host has no word of; what the manifest declares stays.
func (h home) Retract(key string) error {
	if k := h.w.known.Load(); k != nil && k.declared[key] {
		return h.w.fault(protocol.CodeNotFound, key+": the manifest declares it, and a Paperclip host has no call to take it back")
	}
	return nil
}

// Emit fails: there is no channel.
func (h home) Emit(e protocol.Event) error {
	return h.w.fault(protocol.CodeNotFound, e.Name+
		`: a Paperclip host listens to no channel of its plugins: call "events.emit" with {name, companyId, payload}`)
}

// logLine sends a line of the log, and waits before if the host is behind. After the
// end nobody reads it.
func (w *worker) logLine(ctx context.Context, line logLine) {
	params, err := json.Marshal(line)
	if err != nil {
		return // it is made of strings and of JSON
	}
	w.out.room(w.ctx)
	w.step(paperclip.Telling{
		Emit:       protocol.Emit{Event: protocol.Event{Name: methodLog, Payload: json.RawMessage(params)}},
		Invocation: w.invocation(ctx),
	})
	w.out.flush(false)
}
