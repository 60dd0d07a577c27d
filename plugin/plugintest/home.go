package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/airi-host/airi-host/protocol"
)

// home is what the plugin finds.
type home struct {
	host    *Host
	answers map[string]Answer
	log     *slog.Logger

	calls     record[protocol.Call]
	published record[protocol.Call]
	sent      record[protocol.Event]
	lines     lines
	progress  record[Item]

	mu     sync.Mutex
	config json.RawMessage
	// offers are those in force, in the order in which they came.
	offers []protocol.Offer
}

var _ protocol.Home = (*home)(nil)

func newHome(h *Host, o Options) *home {
	home := &home{host: h, answers: o.answers()}
	home.calls.most, home.published.most, home.sent.most = o.Records, o.Records, o.Records
	home.lines.most, home.progress.most = o.Records, o.Records
	home.log = slog.New(slog.NewTextHandler(&home.lines, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: timeless}))
	return home
}

// timeless leaves out when a line was logged.
func timeless(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func (h *home) Module() protocol.Module {
	name := h.host.o.Name
	return protocol.Module{Name: name, ID: name + "-0", Plugin: name}
}

// Config is the configuration in force; nil for none.
func (h *home) Config() json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.config
}

func (h *home) configure(config json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.config = config
}

func (h *home) Serve(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	if err := h.host.gone(); err != nil {
		return nil, err
	}
	call.Caller, call.Ecosystem = h.host.o.Name, "go"
	if _, event := strings.CutPrefix(call.Key, eventPrefix); event {
		h.published.add(call)
	} else {
		h.calls.add(call)
	}
	if depth := call.Depth(); depth > callDepth {
		return nil, &protocol.Error{Code: protocol.CodeOverloaded, Message: fmt.Sprintf(
			"%s: %d calls are one within the other, %d is the most: %s", call.Key, depth, callDepth, protocol.ChainText(call.Chain()))}
	}
	ctx, cancel := h.host.within(ctx)
	defer cancel(nil)
	return h.serve(ctx, call)
}

// serve answers a call, or has the plugin itself do it.
func (h *home) serve(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	answer, ok := h.answers[call.Key]
	if name, event := strings.CutPrefix(call.Key, eventPrefix); event {
		h.host.tell(ctx, name, call)
		if !ok {
			return json.RawMessage("null"), nil
		}
	}
	switch {
	case ok:
		return contain(func() (json.RawMessage, error) { return answer(ctx, call) })
	case h.has(call.Key) && (call.Plugin == "" || call.Plugin == h.host.o.Name):
		return h.host.invoke(ctx, call)
	}
	return nil, &protocol.Error{
		Code: protocol.CodeNotFound, Message: "nobody offers " + call.Key + ": add it to Options.Answers",
	}
}

// Wait fails at once where a host would wait.
func (h *home) Wait(_ context.Context, keys ...string) error {
	if err := h.host.gone(); err != nil {
		return err
	}
	for _, key := range keys {
		if h.answers[key] == nil && !h.has(key) {
			return &protocol.Error{Code: protocol.CodeTimeout, Message: "capability " + key + " is not ready: add it to Options.Answers"}
		}
	}
	return nil
}

func (h *home) Offer(o protocol.Offer) error {
	if err := h.host.gone(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.indexOf(o.Key); i >= 0 {
		h.offers[i] = o
		return nil
	}
	if most := h.host.o.Records; len(h.offers) >= most {
		return &protocol.Error{Code: protocol.CodeOverloaded, Message: fmt.Sprintf(
			"%s: a plugin offers at most %d capabilities (Options.Records)", o.Key, most)}
	}
	h.offers = append(h.offers, o)
	return nil
}

func (h *home) Retract(key string) error {
	if err := h.host.gone(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.indexOf(key); i >= 0 {
		h.offers = slices.Delete(h.offers, i, i+1)
	}
	return nil
}

// indexOf is where an offer is, or -1; with mu held.
func (h *home) indexOf(key string) int {
	return slices.IndexFunc(h.offers, func(o protocol.Offer) bool { return o.Key == key })
}

func (h *home) has(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.indexOf(key) >= 0
}

func (h *home) listed() []protocol.Offer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.offers)
}

func (h *home) Emit(e protocol.Event) error {
	if err := h.host.gone(); err != nil {
		return err
	}
	h.sent.add(e)
	return nil
}

func (h *home) Log() *slog.Logger { return h.log }
