package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// open announces the plugin and begins its init, which the host is not told of before it is over.
func (w *elizaWorker) open() {
	w.step(eliza.Begin{})
	w.out.flushAside()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin(task{own: w.init, after: w.initialized, Serve: named("init")}, &w.hooks)
}

// named is a task of the worker's own.
func named(name string) protocol.Serve { return protocol.Serve{Call: protocol.Call{Key: name}} }

// init runs the hooks of the start, when the configuration is there or is not to come.
func (w *elizaWorker) init(ctx context.Context) error {
	w.warn(ctx)
	for _, step := range []protocol.Step{protocol.StepInit, protocol.StepSetup} {
		if w.definition.hooks[step] == nil {
			continue
		}
		w.awaitInit(ctx)
		if err := w.session.Run(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// awaitInit waits for the host's init, which hosts send first that send one.
func (w *elizaWorker) awaitInit(ctx context.Context) {
	limit := time.NewTimer(w.opts.InitWait)
	defer limit.Stop()
	select {
	case <-w.heard:
	case <-limit.C:
		w.hear()
	case <-ctx.Done():
	}
}

// initialized tells the host how init ended; a worker whose init has failed ends.
func (w *elizaWorker) initialized(err error) {
	in := eliza.Initialized{Err: err}
	w.mu.Lock()
	w.starting = false
	if len(w.added) > 0 && err == nil {
		more, _ := described(w.definition.name, w.added, w.has)
		in.Added = &more
	}
	w.added = nil
	w.mu.Unlock()
	w.ready.Store(err == nil)
	w.step(in)
	if err != nil {
		w.finish(fmt.Errorf("the start: %w", err))
	}
}

// started takes the host's init. One that comes when the hooks have begun is another
// configuration.
func (w *elizaWorker) started(e eliza.Started) {
	k := &elizaKnown{}
	protocol.EachMember(e.Manifest, func(key, value []byte) {
		if string(key) == "id" {
			k.id = string(protocol.TextOf(value))
		}
	})
	_, k.config = pick(e.Context, "", "config")
	w.known.Store(k)
	late := false
	select {
	case <-w.heard:
		late = true
	default:
		w.hear()
	}
	if late && w.definition.hooks[protocol.StepSetup] != nil {
		w.begin(task{own: w.setUp, after: w.wasSetUp, Serve: named("setup")}, &w.hooks)
	}
}

func (w *elizaWorker) setUp(ctx context.Context) error { return w.session.Run(ctx, protocol.StepSetup) }

func (w *elizaWorker) wasSetUp(err error) {
	if err != nil {
		w.log.ErrorContext(w.ctx, "the configuration could not be taken", "error", err)
	}
}

// close lets what runs come to its end, as long as it may, and stops the plugin. Nothing
// that is asked of the host is answered any more.
func (w *elizaWorker) close() {
	w.step(protocol.Closed{})
	if w.err != nil { // no good end
		return
	}
	w.waitForTasks(w.opts.Settle)
	if !w.ready.Load() || !w.session.Has(protocol.StepStop) {
		return
	}
	w.mu.Lock()
	w.begin(task{own: func(ctx context.Context) error { return w.session.Run(ctx, protocol.StepStop) }, after: w.wasStopped, Serve: named("stop")}, &w.hooks)
	w.mu.Unlock()
	w.waitForTasks(w.opts.Settle)
}

func (w *elizaWorker) wasStopped(err error) {
	if err != nil {
		w.log.ErrorContext(w.ctx, "the plugin did not stop well", "error", err)
	}
}

// warn tells what of the plugin such a host cannot call.
func (w *elizaWorker) warn(ctx context.Context) {
	_, missing := described(w.definition.name, w.definition.Offers(), w.has)
	for _, m := range missing {
		w.log.LogAttrs(ctx, slog.LevelWarn, "the host cannot call this", slog.String("key", m.key), slog.String("reason", m.why))
	}
}

// emitted hands an event of the host's to those who listen, in order.
func (w *elizaWorker) emitted(e protocol.Event) {
	if !w.session.Listens() {
		return
	}
	w.begin(task{own: func(context.Context) error {
		w.session.Emit(e)
		return nil
	}, after: w.wasHeard, Serve: named("event " + e.Name)}, &w.events)
}

func (w *elizaWorker) wasHeard(err error) {
	if err != nil {
		w.log.ErrorContext(w.ctx, "whoever listens failed", "error", err)
	}
}

// has tells whether something is offered.
func (w *elizaWorker) has(key string) bool { return w.session.handler(key) != nil }

// isObject tells whether a value of JSON is an object.
func isObject(value json.RawMessage) bool {
	s := protocol.Scanner{Data: value}
	s.Space()
	return s.Peek() == '{'
}
