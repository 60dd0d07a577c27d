package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/services/store"
)

// crashBook keeps how plugins crash in the store, for the next host. Whoever tells it
// something does not wait: one goroutine writes what has changed, of each plugin the
// newest, so that no more waits than there are plugins. Its close must follow, before the
// store's.
type crashBook struct {
	db  *store.DB
	log *slog.Logger

	// keeping is held while something is written: who forgets a plugin waits for that.
	keeping sync.Mutex

	mu      sync.Mutex
	known   map[string]actors.CrashRecord
	changed map[string]bool
	closed  bool

	wake   chan struct{} // holds one: look at what has changed
	live   context.Context
	giveUp context.CancelFunc
	done   chan struct{}
}

var _ actors.CrashMemory = (*crashBook)(nil)

// openCrashBook reads what former hosts have kept.
func openCrashBook(ctx context.Context, db *store.DB, log *slog.Logger) (*crashBook, error) {
	all, err := db.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	b := &crashBook{
		db: db, log: log, known: make(map[string]actors.CrashRecord, len(all)), changed: map[string]bool{},
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	for _, one := range all {
		b.known[one.Name] = actors.CrashRecord{
			Crashes: one.Crashes.All, InARow: one.Crashes.InARow, GivenUp: one.Crashes.GivenUp,
			LastCrash: one.Crashes.Last, LastCrashAt: one.Crashes.LastAt, NextRestart: one.Crashes.Next,
		}
	}
	b.live, b.giveUp = context.WithCancel(context.Background())
	go b.write()
	return b, nil
}

// Recall implements actors.CrashMemory.
func (b *crashBook) Recall(plugin string) actors.CrashRecord {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known[plugin]
}

// Remember implements actors.CrashMemory.
func (b *crashBook) Remember(plugin string, r actors.CrashRecord) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.known[plugin] == r {
		return
	}
	b.known[plugin], b.changed[plugin] = r, true
	b.signal()
}

// forget drops what is known of a plugin, whose row in the store goes then.
func (b *crashBook) forget(plugin string) {
	if b == nil {
		return
	}
	b.keeping.Lock()
	defer b.keeping.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.known, plugin)
	delete(b.changed, plugin)
}

func (b *crashBook) signal() {
	select {
	case b.wake <- struct{}{}:
	default: // it is awake
	}
}

// take returns what has changed, and whether more may.
func (b *crashBook) take() (changed map[string]actors.CrashRecord, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed = make(map[string]actors.CrashRecord, len(b.changed))
	for plugin := range b.changed {
		changed[plugin] = b.known[plugin]
	}
	clear(b.changed)
	return changed, !b.closed
}

func (b *crashBook) write() {
	defer close(b.done)
	for {
		changed, more := b.take()
		for plugin, r := range changed {
			b.keep(plugin, r)
		}
		switch {
		case len(changed) > 0:
		case !more:
			return
		default:
			<-b.wake
		}
	}
}

// keep writes what is known of a plugin, unless that was forgotten. What cannot be kept is
// told; the next change of the plugin tries again.
func (b *crashBook) keep(plugin string, r actors.CrashRecord) {
	b.keeping.Lock()
	defer b.keeping.Unlock()
	if !b.knows(plugin) {
		return
	}
	ctx, cancel := context.WithTimeout(b.live, keepTime)
	defer cancel()
	err := b.db.SetCrashes(ctx, plugin, store.Crashes{
		All: r.Crashes, InARow: r.InARow, GivenUp: r.GivenUp, Last: r.LastCrash, LastAt: r.LastCrashAt, Next: roundUp(r.NextRestart),
	})
	if err != nil {
		b.log.Warn("how a plugin crashed is not kept for the next host", "plugin", plugin, "error", err)
	}
}

func (b *crashBook) knows(plugin string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, known := b.known[plugin]
	return known
}

// roundUp gives a time in whole milliseconds, as the store has them, and not before it.
func roundUp(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(time.Millisecond - 1).Truncate(time.Millisecond)
}

// close writes what has changed until ctx ends, and keeps no more. It may be called again,
// and on a nil book.
func (b *crashBook) close(ctx context.Context) {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.closed = true
	b.signal()
	b.mu.Unlock()
	defer context.AfterFunc(ctx, b.giveUp)()
	<-b.done
	b.giveUp()
}

// resumes says how a plugin is started with the host: where the former one has left it.
func (h *house) resumes(m *manifest.Manifest) actors.StartOptions {
	opts := h.configs.start(m)
	opts.Resume = true
	return opts
}
