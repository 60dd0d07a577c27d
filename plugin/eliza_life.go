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
	w.mu.Lock()
	w.starting = false
	offered, added := w.offered, w.added
	w.offered, w.added = nil, nil
	w.mu.Unlock()
	if err == nil {
		more, _ := announcements(w.definition.name, offered, w.has)
		for _, what := range append(added, more...) {
			w.step(eliza.Adding{Added: what})
		}
	}
	w.ready.Store(err == nil)
	w.step(eliza.Initialized{Err: err})
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
	select {
	case <-w.heard:
	default:
		w.hear()
		return
	}
	if !w.isStale && w.definition.hooks[protocol.StepSetup] != nil {
		w.isStale = true
		w.begin(task{own: w.setUp, after: w.wasSetUp, Serve: named("setup")}, &w.hooks)
	}
}

func (w *elizaWorker) setUp(ctx context.Context) error {
	w.mu.Lock()
	w.isStale = false
	w.mu.Unlock()
	if !w.ready.Load() { // its start has failed
		return nil
	}
	return w.session.Run(ctx, protocol.StepSetup)
}

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
	_, none := announcements(w.definition.name, w.definition.Offers(), w.has)
	for _, m := range none {
		w.log.LogAttrs(ctx, slog.LevelWarn, "the host cannot call this", slog.String("key", m.key), slog.String("reason", m.why))
	}
}

// emitted hands an event of the host's to those who listen, in order.
func (w *elizaWorker) emitted(e protocol.Event) {
	if !w.session.Listens() {
		return
	}
	if len(w.events.waiting) >= w.pending() {
		w.passOver(func(count uint64) {
			w.log.WarnContext(w.ctx, "an event was not heard: too many wait for whoever listens", "event", e.Name, "count", count)
		})
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

// pending is how much may wait.
func (w *elizaWorker) pending() int {
	return protocol.Settings{MaxPending: w.opts.MaxPending}.Pending()
}

// has tells whether something is offered.
func (w *elizaWorker) has(key string) bool { return w.session.handler(key) != nil }

// isObject tells whether a value of JSON is an object.
func isObject(value json.RawMessage) bool {
	s := protocol.Scanner{Data: value}
	s.Space()
	return s.Peek() == '{'
}
