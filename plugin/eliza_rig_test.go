package plugin_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// newElizaHost returns an elizaOS host of a plugin whose worker is not there yet.
func newElizaHost(t *testing.T, decided eliza.Plugin) *host {
	t.Helper()
	d := eliza.Dialect{Plugin: func(protocol.Settings) eliza.Plugin { return decided }}
	h := newHost(t)
	h.driver, h.codec = d.NewDriver(protocol.Settings{Plugin: "tested"}), d.Codec()
	h.services = map[string]func(protocol.Call) (json.RawMessage, error){}
	return h
}

// serveEliza runs the plugin at the other end, in this process.
func (h *host) serveEliza(ctx context.Context, d *plugin.Definition, o plugin.ElizaOptions) *host {
	h.t.Helper()
	in, toWorker := io.Pipe()
	fromWorker, out := io.Pipe()
	o.In, o.Out = in, out
	if o.Log == nil {
		o.Log = slog.NewTextHandler(testLog{h.t}, nil)
	}
	go func() { h.served <- plugin.ServeEliza(ctx, d, o) }()
	h.join(toWorker, fromWorker)
	h.t.Cleanup(func() {
		_ = toWorker.Close()
		<-h.gone
	})
	return h
}

// testLog shows what a worker logs.
type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("%s", p)
	return len(p), nil
}

// begun passes through the start, with a configuration.
func (h *host) begun() *host {
	h.t.Helper()
	require.NoError(h.t, h.start(`{"manifest":{"id":"tested"},"context":{"config":{"greeting":"Hello"}}}`))
	return h
}

// close ends the worker's input and returns how its serving ended.
func (h *host) close() error {
	h.t.Helper()
	require.NoError(h.t, h.stdin.Close())
	return <-h.served
}

// newElizaLines is the wire of an elizaOS worker as lines of text. What it logs is in the buffer.
func newElizaLines(ctx context.Context, t *testing.T, d *plugin.Definition, o plugin.ElizaOptions) (*lines, <-chan error, *logged) {
	t.Helper()
	log := &logged{}
	o.Log = slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})
	l, served := linesOf(t, func(in io.Reader, out io.Writer) error {
		o.In, o.Out = in, out
		return plugin.ServeEliza(ctx, d, o)
	})
	return l, served, log
}

// logged is what a worker has logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
