package actors

import (
	"slices"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
)

// findCycle returns the plugins that wait for each other, from the given one back
// to itself, or nil. It knows who will offer a key from what plugins declare: in
// Go, or in the manifest's "airi-host".offers.
func (r *registry) findCycle(start string) []string {
	seen := map[string]bool{}
	var walk func(plugin string) []string
	walk = func(plugin string) []string {
		for _, next := range r.blockers(plugin) {
			if next == start {
				return []string{plugin, start}
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			if rest := walk(next); rest != nil {
				return append([]string{plugin}, rest...)
			}
		}
		return nil
	}
	return walk(start)
}

// blockers are the waiting plugins without which a waiting plugin cannot go on: a
// need that somebody else may still meet blocks nobody.
func (r *registry) blockers(plugin string) []string {
	w := r.waiters[plugin]
	if w == nil || w.passed {
		return nil
	}
	var all []string
	for _, need := range w.needs {
		owners, free := r.waitingOwners(need)
		if !free {
			all = append(all, owners...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// waitingOwners lists who waits and declares a key of the need; free tells that
// the need is met, or may be met by one that does not wait.
func (r *registry) waitingOwners(need capability.Requirement) (owners []string, free bool) {
	snap := r.table.Snapshot()
	for _, key := range need.AnyOf {
		for _, o := range snap.Get(key) {
			switch w := r.waiters[ownerKey(o.Owner)]; {
			case o.State == lifecycle.CapWithdrawn:
			case o.State != lifecycle.CapReady && w != nil && !w.passed: // degraded after a crash, too
				owners = append(owners, ownerKey(o.Owner))
			default:
				return nil, true
			}
		}
	}
	return owners, false
}

func keyNames(keys []string) []string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = keyName(key)
	}
	return names
}
