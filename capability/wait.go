package capability

import (
	"context"
	"fmt"
	"time"
)

// DefaultWait is how long a wait lasts when its caller says nothing.
const DefaultWait = 15 * time.Second

const (
	// tick is what the ends of waits are rounded up to, so that waits which began at
	// about the same time can share one timer.
	tick = time.Millisecond
	// longest keeps the arithmetic of time from overflowing.
	longest = 24 * 365 * time.Hour
)

// Wait returns the key's descriptor as soon as any owner of it is ready: at once if
// one is. After the timeout it fails with a [*TimeoutError]; a timeout of zero or
// less stands for [DefaultWait], and none lasts for ever. When ctx ends it fails with
// an error that wraps [context.Cause]; when too many wait already, with a
// [*WaitLimitError]; after Close, with [ErrClosed]. Whoever gives up leaves nothing
// behind.
//
// All who wait for a key share one descriptor, which nobody may write to: a copy for
// each would cost more than all else there is to waking them. The timeout may be
// exceeded by a millisecond, never cut short. Any goroutine may call Wait but the one
// that changes the registry, which would wait for itself.
func (r *Registry) Wait(ctx context.Context, key Key, timeout time.Duration) (*Descriptor, error) {
	if e := r.Snapshot().keys.get(key); e.ready() {
		d := e.descriptor()
		return &d, nil
	}
	p, err := r.join(ctx, key, timeout)
	if err != nil {
		return nil, err
	}
	if done := p.other(ctx); done == nil {
		<-p.over // the usual way, which costs least
	} else if r.sleep(p, done) {
		return nil, gaveUp(ctx, key)
	}
	if p.end != cameReady {
		return nil, p.failure(ctx, timeout)
	}
	return p.ready, nil
}

// sleep waits with a party, or until the caller's own context is done, and reports
// whether it left the party.
func (r *Registry) sleep(p *party, done <-chan struct{}) (left bool) {
	select {
	case <-p.over:
		return false
	case <-done:
		r.waits.leave(p)
		return true
	}
}

// WaitAll returns when each of the keys has been ready, with the full timeout for
// each. A key that was ready once counts, even if it is withdrawn while others are
// awaited. The first error, in the order of the keys, ends it. Without keys it
// returns at once. Otherwise all is as in Wait.
func (r *Registry) WaitAll(ctx context.Context, keys []Key, timeout time.Duration) error {
	begun := make([]*party, 0, len(keys))
	defer func() {
		for _, p := range begun {
			r.waits.leave(p)
		}
	}()
	for _, key := range keys {
		p, err := r.join(ctx, key, timeout)
		if err != nil {
			return err
		}
		begun = append(begun, p)
	}
	for _, p := range begun {
		select {
		case <-p.over:
		case <-p.other(ctx):
			return gaveUp(ctx, p.key)
		}
		if p.end != cameReady {
			return p.failure(ctx, timeout)
		}
	}
	return nil
}

// other returns what a caller has to watch by itself: the channel of its context,
// unless that has none or the party watches it.
func (p *party) other(ctx context.Context) <-chan struct{} {
	if done := ctx.Done(); done != p.fate.done {
		return done
	}
	return nil
}

// failure is what a caller gets whose party gave up.
func (p *party) failure(ctx context.Context, timeout time.Duration) error {
	switch p.end {
	case abandoned:
		return gaveUp(ctx, p.key)
	case closed:
		return ErrClosed
	default:
		return &TimeoutError{Key: p.key, After: orDefault(timeout)}
	}
}

func gaveUp(ctx context.Context, key Key) error {
	return fmt.Errorf("waiting for capability %s: %w", key, context.Cause(ctx))
}

func orDefault(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return DefaultWait
	}
	return min(timeout, longest)
}

// join begins a wait for a key. It returns the party to wait with, which is over if
// the key is ready.
func (r *Registry) join(ctx context.Context, key Key, timeout time.Duration) (*party, error) {
	if e := r.Snapshot().keys.get(key); e.ready() {
		return readyParty(e), nil
	}
	if err := key.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, gaveUp(ctx, key)
	}
	r.waits.mu.Lock()
	defer r.waits.mu.Unlock()
	// This second look is under the lock that wake takes once the snapshot is
	// published: a key that becomes ready is seen here, or wake sees the party.
	if e := r.Snapshot().keys.get(key); e.ready() {
		return readyParty(e), nil
	}
	if r.waits.isClosed {
		return nil, ErrClosed
	}
	if r.waits.size >= r.opts.MaxWaiters {
		return nil, &WaitLimitError{Waiting: string(key), Limit: r.opts.MaxWaiters}
	}
	return r.waits.join(ctx, key, orDefault(timeout)), nil
}

// Close ends all waits, and those to come, with [ErrClosed], unless their key is
// ready. It may be called by any goroutine, more than once.
func (r *Registry) Close() { r.waits.closeAll() }

// Waiting returns how many waits and watches there are at the moment.
func (r *Registry) Waiting() int {
	r.waits.mu.Lock()
	defer r.waits.mu.Unlock()
	return r.waits.size
}
