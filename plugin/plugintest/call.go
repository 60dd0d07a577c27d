package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

const eventPrefix = "event:"

// For makes a call, or an event, one for a tenant.
func For(scope string) plugin.CallOption {
	return func(c *protocol.Call) { c.Scope = scope }
}

// By makes a call one of another plugin.
func By(caller string) plugin.CallOption {
	return func(c *protocol.Call) { c.Caller = caller }
}

// Item is one item that a handler has reported to who followed its call.
type Item struct {
	// Key is what was called.
	Key   string
	Value json.RawMessage
}

// Collect follows a call and keeps its items, in order.
func Collect[T any](into *[]T) plugin.CallOption {
	return plugin.Follow(func(item T) error {
		*into = append(*into, item)
		return nil
	})
}

// Call calls what the plugin offers, e.g. "tool:greet", with [CallContext]'s rules, for as
// long as the test runs.
func (h *Host) Call(key string, input, out any, opts ...plugin.CallOption) error {
	return h.CallContext(h.t.Context(), key, input, out, opts...)
}

// CallContext calls what the plugin offers. input is encoded to JSON, nil for none, and the
// answer decoded into out, which may be nil. The options of [plugin.Session.Call] hold here,
// too: [plugin.Follow], [plugin.Feeding], [plugin.Idle].
//
// The error is the handler's own, or a [protocol.Error]: not-found for what is not offered,
// invalid for an input that the kind does not take, wire for such a result, timeout for a
// handler that is late, cancelled where ctx ends.
func (h *Host) CallContext(ctx context.Context, key string, input, out any, opts ...plugin.CallOption) error {
	encoded, err := encode("the input for "+key, input)
	if err != nil {
		return err
	}
	call := protocol.Call{Key: key, Input: encoded, Scope: h.o.Scope}
	for _, say := range opts {
		say(&call)
	}
	result, err := h.invoke(ctx, call)
	if err != nil || out == nil {
		return err
	}
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fmt.Errorf("the result of %s: %w", key, err)
	}
	return nil
}

// invoke makes a call as the host's registry would.
func (h *Host) invoke(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	if err := h.gone(); err != nil {
		return nil, err
	}
	if !h.home.has(call.Key) {
		return nil, h.notOffered(call.Key)
	}
	kind, _, _ := strings.Cut(call.Key, ":")
	var err error
	if call.Feed == nil {
		if call.Input, err = protocol.InputOf(kind, call.Key, call.Input); err != nil {
			return nil, err
		}
	}
	result, err := h.flow(ctx, call)
	if err != nil {
		return nil, err
	}
	return protocol.ResultOf(kind, call.Key, h.o.Name, result)
}

func (h *Host) notOffered(key string) error {
	var keys []string
	for _, o := range h.home.listed() {
		keys = append(keys, o.Key)
	}
	return &protocol.Error{
		Code: protocol.CodeNotFound, Plugin: h.o.Name,
		Message: fmt.Sprintf("plugin %s does not offer %s (it offers: %s)", h.o.Name, key, strings.Join(keys, ", ")),
	}
}

// Why the context of a call has ended.
var (
	errDeadline = errors.New("the deadline has passed")
	errIdle     = errors.New("nothing was reported")
)

// flow runs a handler within the call's limits, and takes its items.
func (h *Host) flow(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	ctx, cancel := h.within(ctx)
	defer cancel(nil)
	deadline := h.o.CallTime
	if !call.Deadline.IsZero() {
		deadline = time.Until(call.Deadline)
	}
	late := time.AfterFunc(deadline, func() { cancel(errDeadline) })
	defer late.Stop()
	if call.Idle > 0 {
		idle := time.AfterFunc(call.Idle, func() { cancel(errIdle) })
		defer idle.Stop()
		call.Alive = func() { idle.Reset(call.Idle) }
	}
	ended := h.follow(&call)
	defer ended()
	result, err := h.perform(ctx, func() (json.RawMessage, error) { return h.port.Invoke(ctx, &call) })
	if errors.Is(err, errLate) {
		return nil, h.whyEnded(ctx, call, deadline)
	}
	return result, err
}

// follow keeps the items of a call that is followed, one at a time, and none once it has
// ended.
func (h *Host) follow(call *protocol.Call) (ended func()) {
	if call.Progress == nil {
		return func() {}
	}
	var mu sync.Mutex
	over, take, alive, key := false, call.Progress, call.Alive, call.Key
	call.Progress = func(item json.RawMessage) error {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return &protocol.Error{Code: protocol.CodeCancelled, Message: key + ": the call is over"}
		}
		if alive != nil {
			alive()
		}
		h.home.progress.add(Item{key, slices.Clone(item)})
		return take(item)
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

func (h *Host) whyEnded(ctx context.Context, call protocol.Call, deadline time.Duration) error {
	what := "no answer from " + call.Key + " of plugin " + h.o.Name
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errDeadline):
		return &protocol.Error{Code: protocol.CodeTimeout, Message: fmt.Sprintf("%s within %s", what, deadline)}
	case errors.Is(cause, context.DeadlineExceeded):
		return &protocol.Error{Code: protocol.CodeTimeout, Message: what + " before the deadline of the caller's context"}
	case errors.Is(cause, errIdle):
		return &protocol.Error{Code: protocol.CodeTimeout, Message: fmt.Sprintf("%s, and nothing reported for %s", what, call.Idle)}
	case h.gone() != nil:
		return cause
	default:
		return &protocol.Error{Code: protocol.CodeCancelled, Message: what + ": the caller gave up", Err: cause}
	}
}

// Emit publishes an event, as others would, and returns when the plugin has heard it. Under
// a host nobody learns of a handler's error, which is logged; here it is returned, and so is
// not-found, where the plugin does not hear such an event.
func (h *Host) Emit(event string, payload any, opts ...plugin.CallOption) error {
	encoded, err := encode("the payload of "+event, payload)
	if err != nil {
		return err
	}
	call := protocol.Call{Key: eventPrefix + event, Input: encoded, Scope: h.o.Scope}
	for _, say := range opts {
		say(&call)
	}
	key := h.hearer(event)
	if key == "" {
		return h.notOffered(call.Key)
	}
	call.Key = key
	_, err = h.invoke(h.t.Context(), call)
	return err
}

// tell has the plugin hear what it has published itself.
func (h *Host) tell(ctx context.Context, event string, call protocol.Call) {
	if call.Key = h.hearer(event); call.Key == "" {
		return
	}
	if _, err := h.invoke(ctx, call); err != nil {
		h.home.log.Error("an event was not handled", "event", event, "error", err)
	}
}

// hearer is the key of the handler that hears an event: of its name, or else of the longest
// pattern that it fits; "" for none.
func (h *Host) hearer(event string) string {
	best := ""
	for _, o := range h.home.listed() {
		pattern, ok := strings.CutPrefix(o.Key, eventPrefix)
		if !ok {
			continue
		}
		if pattern == event {
			return o.Key
		}
		prefix, some := strings.CutSuffix(pattern, "*")
		if some && strings.HasSuffix(prefix, ".") && strings.HasPrefix(event, prefix) && len(o.Key) > len(best) {
			best = o.Key
		}
	}
	return best
}

// Tell puts an event on the plugin's own channel, for [plugin.Session.Listen]. It returns
// false where the plugin does not listen; a listener that panics fails the test.
func (h *Host) Tell(event string, payload any) bool {
	h.t.Helper()
	if h.gone() != nil || !h.port.Listens() {
		return false
	}
	_, err := h.perform(h.life, func() (json.RawMessage, error) {
		h.port.Emit(protocol.Event{Name: event, Payload: payload})
		return nil, nil
	})
	if err != nil {
		h.t.Errorf("plugin %s: its listener at %s: %v", h.o.Name, event, err)
	}
	return true
}

// Offers lists what the plugin offers now: its definition's, and what it has added.
func (h *Host) Offers() []protocol.Offer { return h.home.listed() }

// Log is what the plugin has logged, a line each, without the time:
//
//	level=INFO msg=greeting name=Ada
func (h *Host) Log() []string { return h.home.lines.list() }

// Progress lists the items that handlers have reported to who followed, in order.
func (h *Host) Progress() []Item { return h.home.progress.list() }

// Calls are what the plugin has called by a key, in order, answered or not; "" is all of
// them but events.
func (h *Host) Calls(key string) []protocol.Call {
	return slices.DeleteFunc(h.home.calls.list(), func(c protocol.Call) bool { return key != "" && c.Key != key })
}

// Inputs are the inputs of what the plugin has called by a key, in order. One that is no T
// fails the test.
func Inputs[T any](h *Host, key string) []T {
	h.t.Helper()
	var all []T
	for _, call := range h.Calls(key) {
		var in T
		if err := decodeInput(call, &in); err != nil {
			h.t.Fatal(err)
		}
		all = append(all, in)
	}
	return all
}

// Published are the events that the plugin has published, by Session.Call of "event:NAME":
// the Input of each is the payload.
func (h *Host) Published() []protocol.Call { return h.home.published.list() }

// Sent are the events that the plugin has put on its own channel, by Session.Send.
func (h *Host) Sent() []protocol.Event { return h.home.sent.list() }
