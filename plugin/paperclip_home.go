package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

// methodInvoke is the method of this project's host that calls a capability, of
// whichever plugin.
const methodInvoke = "airi-host.invoke"

// paperclipHome is what a Paperclip host does for a session.
type paperclipHome struct {
	workerHome
	w *paperclipWorker
}

var (
	_ protocol.Home = paperclipHome{}
	_ configured    = paperclipHome{}
)

func (w *paperclipWorker) pluginName() string {
	if k := w.known.Load(); k != nil && k.Manifest.ID != "" {
		return k.Manifest.ID
	}
	return w.definition.name
}

// Config is the configuration in force.
func (h paperclipHome) Config() json.RawMessage {
	if k := h.w.known.Load(); k != nil {
		return k.Config
	}
	return nil
}

// method is a call as this wire has it.
func (w *paperclipWorker) method(ctx context.Context, c protocol.Call) (method string, params json.RawMessage) {
	switch {
	case strings.Contains(c.Key, ":"):
		return methodInvoke, invokeParams(ctx, c)
	case string(c.Input) == "null":
		return c.Key, nil
	}
	return c.Key, c.Input
}

// Wait fails, unless there is nothing to wait for: the host starts a worker when what
// its manifest requires is ready, and has no call for more.
func (h paperclipHome) Wait(_ context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	return h.w.fault(protocol.CodeNotFound, fmt.Sprintf(
		`a Paperclip host has no call to wait for %s: name it in the manifest's "airi-host".requires, then the plugin starts when it is ready`,
		strings.Join(keys, ", ")))
}

// Offer takes what the host needs no word of (data, actions), subscribes to events,
// and takes of the rest what the manifest declares.
func (h paperclipHome) Offer(o protocol.Offer) error {
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
func (h paperclipHome) Retract(key string) error {
	if k := h.w.known.Load(); k != nil && k.declared[key] {
		return h.w.fault(protocol.CodeNotFound, key+": the manifest declares it, and a Paperclip host has no call to take it back")
	}
	return nil
}

// Emit fails: there is no channel.
func (h paperclipHome) Emit(e protocol.Event) error {
	return h.w.fault(protocol.CodeNotFound, e.Name+
		`: a Paperclip host listens to no channel of its plugins: call "events.emit" with {name, companyId, payload}`)
}

// logLine sends a line of the log, and waits before if the host is behind. After the
// end nobody reads it.
func (w *paperclipWorker) logLine(ctx context.Context, line logLine) {
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
