package plugin

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// workerHome is what hosts of all dialects do for a session.
type workerHome struct{ worker *worker }

// Module identifies the plugin by its manifest's id.
func (h workerHome) Module() protocol.Module {
	name := h.worker.end.pluginName()
	return protocol.Module{Name: name, ID: name, Plugin: name}
}

// Log is the plugin's own log.
func (h workerHome) Log() *slog.Logger { return h.worker.log }

// Serve calls the host: a method of its own ("state.get", "getSetting"), or what has a colon
// in its key and is thus a capability.
func (h workerHome) Serve(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	return h.worker.call(ctx, c)
}

// invokeParams are a call of a capability, of whichever plugin, as hosts of this project take
// it. The host gives up when we do.
func invokeParams(ctx context.Context, c protocol.Call) json.RawMessage {
	params, _ := json.Marshal(struct {
		Key     string          `json:"key"`
		Input   json.RawMessage `json:"input,omitempty"`
		Plugin  string          `json:"plugin,omitempty"`
		Timeout int64           `json:"timeoutMs"`
	}{c.Key, c.Input, c.Plugin, remaining(ctx)}) // the input is JSON already
	return params
}

// remaining is how long ctx lasts, at least a millisecond.
func remaining(ctx context.Context) int64 {
	deadline, _ := ctx.Deadline()
	return max(time.Until(deadline).Milliseconds(), 1)
}
