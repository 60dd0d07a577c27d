package actors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/airi-host/airi-host/capability"
)

// Shutdown stops all plugins in order, dependents before what they require, and
// then the host. When ctx ends first, what is left is killed. It returns when
// nothing runs any more, or with an error that names the plugins whose own code
// keeps their sessions from ending (see protocol.Port); a second call waits for the
// first, or for its own ctx.
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
	for _, sup := range h.everySupervisor() {
		sup.tell(shuttingDown{})
	}
	left := h.stopAll(ctx)
	h.caps.Close()
	// A supervisor that was about to start something clears up in the registry.
	for _, r := range append(h.everySupervisor(), h.registry, h.router) {
		if r == h.router {
			_ = h.askRouter(func(reply chan<- error) any { return endAll{reply} }) // all are closed, whatever it says
		}
		r.stop()
		<-r.gone
	}
	h.sys.shutdown()
	return left
}

func (h *Host) everySupervisor() []*ref {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.supervisors))
}

// stopAll stops the sessions in waves: those first that nobody left requires. The
// error names those that did not end.
func (h *Host) stopAll(ctx context.Context) error {
	var waves [][]*handle
	for left := h.handles(); len(left) > 0; {
		var wave []*handle
		wave, left = h.wave(left)
		waves = append(waves, wave)
	}
	var stuck []error
	for i, wave := range waves {
		stuck = append(stuck, h.stopWave(ctx, wave, len(waves)-i)...)
	}
	return errors.Join(stuck...)
}

// stopWave stops sessions side by side, in their share of the time that is left for so
// many waves: half of it is for their calls in flight, the rest for the plugins
// themselves. One that hangs must not take the time of those that come later.
func (h *Host) stopWave(ctx context.Context, wave []*handle, waves int) (stuck []error) {
	drain := time.Duration(0)
	if end, ok := ctx.Deadline(); ok {
		share := time.Until(end) / time.Duration(waves)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
		drain = max(share/2, 1)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, who := range wave {
		who.drainTime.Store(int64(drain))
		all.Go(func() {
			if err := h.stopOrKill(ctx, who); err != nil {
				mu.Lock()
				defer mu.Unlock()
				stuck = append(stuck, err)
			}
		})
	}
	all.Wait()
	return stuck
}

// killPatience is how long a session may take to end once it is killed, beside what
// the ladder grants to a process that is killed.
const killPatience = 10 * time.Second

func (h *Host) stopOrKill(ctx context.Context, who *handle) error {
	if _, err := h.request(ctx, who, func(reply chan<- error) any { return stop{reply} }); err == nil {
		return nil
	}
	who.self.tell(kill{})
	late := time.NewTimer(killPatience + max(who.bounds.ladder.Kill, 0))
	defer late.Stop()
	select {
	case <-who.self.gone:
		return nil
	case <-late.C:
		return fmt.Errorf("plugin %s does not end: its own code holds up its session in %s", who.Plugin, who.phaseNow())
	}
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
		delete(h.left, plugin)
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
