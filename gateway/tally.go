package gateway

import (
	"maps"
	"sync"
)

// tally is what a gateway counts. It has a lock of its own, which nobody holds for long, so that
// who asks for the counts does not wait in line with all the connections.
type tally struct {
	mu            sync.Mutex
	modules, away int
	dropped       map[string]uint64
}

// drop counts what was not used, and returns how many there were of its kind.
func (t *tally) drop(what string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped == nil {
		t.dropped = map[string]uint64{}
	}
	t.dropped[what]++
	return t.dropped[what]
}

// add counts modules in, or out, and those of them that are away.
func (t *tally) add(modules, away int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.modules += modules
	t.away += away
}

// count enters what there is.
func (t *tally) count(n *Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n.Modules, n.Away, n.Dropped = t.modules, t.away, maps.Clone(t.dropped)
	if n.Dropped == nil {
		n.Dropped = map[string]uint64{}
	}
}
