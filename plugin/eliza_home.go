package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// elizaHome is what an elizaOS host does for a session.
type elizaHome struct {
	workerHome
	w *elizaWorker
}

var (
	_ protocol.Home = elizaHome{}
	_ configured    = elizaHome{}
)

// Config is the configuration that the host's init told.
func (h elizaHome) Config() json.RawMessage {
	if k := h.w.known.Load(); k != nil {
		return k.config
	}
	return nil
}

// method is a call as this wire has it. Models and events are called as any elizaOS host has
// them; for other capabilities, and for those of one plugin, a host of this project is asked.
//
//	getSetting {key}            a method of the runtime, its args
//	model:TYPE params           useModel {modelType, params, timeoutMs}, of which the last is this host's own
//	event:NAME object or none   emitEvent {name, payload?}
//	any other key               invoke {key, input?, plugin?, timeoutMs}
func (w *elizaWorker) method(ctx context.Context, c protocol.Call) (method string, args json.RawMessage) {
	kind, name, isKey := strings.Cut(c.Key, ":")
	isNull := len(c.Input) == 0 || string(c.Input) == "null"
	switch {
	case !isKey && isNull:
		return c.Key, nil
	case !isKey:
		return c.Key, c.Input
	case c.Plugin != "":
	case kind == "model":
		return "useModel", argsOf(map[string]any{"modelType": name, "params": c.Input, "timeoutMs": remaining(ctx)})
	case kind == "event" && isNull:
		return "emitEvent", argsOf(map[string]any{"name": name})
	case kind == "event" && isObject(c.Input):
		return "emitEvent", argsOf(map[string]any{"name": name, "payload": c.Input})
	}
	return "invoke", invokeParams(ctx, c)
}

func argsOf(members map[string]any) json.RawMessage {
	args, _ := json.Marshal(members) // texts, numbers and JSON
	return args
}

// Wait fails, unless there is nothing to wait for.
func (h elizaHome) Wait(_ context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	return h.w.fault(protocol.CodeNotFound, fmt.Sprintf(
		`an elizaOS host has no call to wait for %s: name it in the manifest's "airi-host".requires, then the plugin starts when it is ready`,
		strings.Join(keys, ", ")))
}

// Offer tells the host of a capability: with the end of init where that runs, at once else.
// What the host knows already is called by the same id.
func (h elizaHome) Offer(o protocol.Offer) error {
	w := h.w
	what, none := announcements(w.definition.name, []protocol.Offer{o}, w.has)
	if len(none) > 0 {
		return w.fault(protocol.CodeNotFound, o.Key+": "+none[0].why)
	}
	now, err := w.add(o)
	if err != nil || !now {
		return err
	}
	w.out.room(w.ctx)
	w.step(eliza.Adding{Added: what[0]})
	w.out.flush(false)
	return nil
}

// add notes an offer, and tells whether it is to be announced now.
func (w *elizaWorker) add(o protocol.Offer) (now bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.announced[o.Key]:
		return false, nil
	case len(w.announced) >= eliza.MaxHandlers:
		return false, w.fault(protocol.CodeOverloaded, fmt.Sprintf("%s: %d handlers are announced, the limit: offer fewer", o.Key, eliza.MaxHandlers))
	}
	w.announced[o.Key] = true
	if w.starting {
		w.offered = append(w.offered, o)
	}
	return !w.starting && !validatesAnother(o.Key), nil
}

// Retract takes back what was not announced yet.
func (h elizaHome) Retract(key string) error {
	w := h.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.announced[key] {
		return nil
	}
	if i := slices.IndexFunc(w.offered, func(o protocol.Offer) bool { return o.Key == key }); i >= 0 {
		w.offered = slices.Delete(w.offered, i, i+1)
		delete(w.announced, key)
		return nil
	}
	return w.fault(protocol.CodeNotFound, key+": it is announced, and an elizaOS host has no call to take it back")
}

// Emit tells the host an event.
func (h elizaHome) Emit(e protocol.Event) error {
	payload, err := e.JSON()
	if err != nil {
		return fmt.Errorf("the payload of %s: %w", e.Name, err)
	}
	h.w.out.room(h.w.ctx)
	h.w.step(protocol.Emit{Event: protocol.Event{Name: e.Name, Payload: payload}})
	h.w.out.flush(false)
	return nil
}
