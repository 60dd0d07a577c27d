package services

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plugins are a host's plugins as services see them: they remember what is asked.
type plugins struct {
	mu        sync.Mutex
	invoked   []protocol.Call
	published []protocol.Call
	offered   []protocol.Offer
	offeredTo []string
	log       slog.Handler

	onInvoke func(protocol.Call) (json.RawMessage, error)
	onOffer  func(context.Context) error
	err      error // of Publish
}

func (p *plugins) Invoke(_ context.Context, c protocol.Call) (json.RawMessage, error) {
	p.mu.Lock()
	p.invoked = append(p.invoked, c)
	p.mu.Unlock()
	if p.onInvoke == nil {
		return nil, nil
	}
	return p.onInvoke(c)
}

func (p *plugins) Publish(_ context.Context, c protocol.Call) error {
	p.published = append(p.published, c)
	return p.err
}

func (p *plugins) Offer(ctx context.Context, plugin string, o protocol.Offer) error {
	if p.onOffer != nil {
		if err := p.onOffer(ctx); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offered, p.offeredTo = append(p.offered, o), append(p.offeredTo, plugin)
	return nil
}

func (p *plugins) Log(plugin string) *slog.Logger { return slog.New(p.log).With("plugin", plugin) }

// worker calls services as the plugin "demo" does, in scope of company "c1".
type worker struct {
	t        *testing.T
	services map[string]protocol.Service
	name     string
	scope    string
}

func newWorker(t *testing.T, p *plugins, o Options) worker {
	t.Helper()
	return worker{t: t, services: Paperclip(p, o), name: "demo", scope: "c1"}
}

func (w worker) try(method, params string) (json.RawMessage, error) {
	return w.tryWith(w.t.Context(), method, params)
}

func (w worker) tryWith(ctx context.Context, method, params string) (json.RawMessage, error) {
	w.t.Helper()
	require.Contains(w.t, w.services, method)
	call := protocol.Call{Key: method, Scope: w.scope, Caller: w.name, Trace: "00-aa-bb-01"}
	if params != "" {
		call.Input = json.RawMessage(params)
	}
	return w.services[method].Serve(ctx, call)
}

// call returns the result of a call that must not fail.
func (w worker) call(method, params string) string {
	w.t.Helper()
	result, err := w.try(method, params)
	require.NoError(w.t, err)
	return string(result)
}

// wantRefused is a call that fails with a code and with words.
func (w worker) wantRefused(code protocol.Code, method, params, words string) {
	w.t.Helper()
	result, err := w.try(method, params)
	require.Nil(w.t, result)
	wantFault(w.t, err, code, words)
	require.ErrorContains(w.t, err, method+": ")
}

func wantFault(t *testing.T, err error, code protocol.Code, words string) {
	t.Helper()
	require.ErrorContains(t, err, words)
	require.Equal(t, code, protocol.CodeOf(err), err.Error())
}
