package actors

import (
	"context"
	"sync"

	"github.com/airi-host/airi-host/capability"
)

// Shutdown stops all plugins in order, dependents before what they require, and
// then the host. When ctx ends first, what is left is killed. It returns when
// nothing runs any more; a second call waits for the first, or for its own ctx.
// From its beginning on, whatever else is asked of the host fails with
// ErrShutdown; plugins can call each other until they are stopped.
func (h *Host) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	first := h.isDown.CompareAndSwap(false, true)
	h.mu.Unlock()
	if !first {
		select {
		case <-h.router.gone:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	h.stopAll(ctx)
	h.caps.Close()
	h.mu.Lock()
	actors := []*ref{h.registry}
	for _, sup := range h.supervisors {
		actors = append(actors, sup)
	}
	h.mu.Unlock()
	for _, r := range append(actors, h.router) {
		if r == h.router {
			h.askRouter(func(reply chan<- struct{}) any { return endAll{reply} })
		}
		r.stop()
		<-r.gone
	}
	h.sys.shutdown()
	return nil
}

// stopAll stops the sessions in waves: those first that nobody left requires.
func (h *Host) stopAll(ctx context.Context) {
	left := h.handles()
	for len(left) > 0 {
		wave, rest := h.wave(left)
		var all sync.WaitGroup
		for _, who := range wave {
			all.Go(func() { h.stopOrKill(ctx, who) })
		}
		all.Wait()
		left = rest
	}
}

func (h *Host) stopOrKill(ctx context.Context, who *handle) {
	if _, err := h.request(ctx, who, func(reply chan<- error) any { return stop{reply} }); err == nil {
		return
	}
	who.self.tell(kill{})
	<-who.self.gone
}

// wave splits sessions into those that no other one requires and the rest; where
// all are required by some other one they are all one wave.
func (h *Host) wave(left []*handle) (wave, rest []*handle) {
	required := h.requiredBy(left)
	for _, who := range left {
		if required[who.Plugin] {
			rest = append(rest, who)
		} else {
			wave = append(wave, who)
		}
	}
	if len(wave) == 0 {
		return rest, nil
	}
	return wave, rest
}

// requiredBy is the set of plugins that offer what another session requires.
func (h *Host) requiredBy(sessions []*handle) map[string]bool {
	snap := h.snapshot()
	required := map[string]bool{}
	for _, who := range sessions {
		for _, need := range who.requires() {
			for _, key := range need.AnyOf {
				for _, offer := range snap.Get(key) {
					if offer.Owner.Plugin != who.Plugin {
						required[offer.Owner.Plugin] = true
					}
				}
			}
		}
	}
	return required
}

// Remove forgets a plugin whose session has stopped: its supervisor and its log.
// One that still has a session is refused.
func (h *Host) Remove(plugin string) error {
	h.mu.Lock()
	sup := h.supervisors[plugin]
	h.mu.Unlock()
	if sup == nil {
		return nil
	}
	err, gone := ask(context.Background(), sup, func(reply chan<- error) any { return remove{reply} })
	if gone != nil {
		return nil // somebody else has removed it
	}
	return err
}

// removed forgets a plugin on its supervisor's behalf.
func (h *Host) removed(plugin string, sup *ref) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.supervisors[plugin] == sup {
		delete(h.supervisors, plugin)
		delete(h.logs, plugin)
	}
}

// snapshotReasons quotes why the owners of missing capabilities cannot offer
// them.
func (h *Host) snapshotReasons(missing []capability.Key) []string {
	snap := h.snapshot()
	var reasons []string
	for _, key := range missing {
		for _, offer := range snap.Get(key) {
			if offer.Reason != "" {
				reasons = append(reasons, string(key)+": "+offer.Reason)
			}
		}
	}
	return reasons
}
