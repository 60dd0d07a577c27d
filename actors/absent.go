package actors

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// Who would offer a key that nobody does.

const (
	// mostAbsent is how many plugins a caller is told of.
	mostAbsent = 3
	// mostLeft is of how many plugins that have stopped it is remembered what they offered.
	mostLeft = 1024
)

// leaves remembers what a session offers that is about to end.
func (h *handle) leaves(offers map[string]struct{}) {
	keys := slices.Sorted(maps.Keys(offers))
	h.offered.Store(&keys)
}

// leave remembers what a plugin offered whose session is gone. The caller holds h.mu.
func (h *Host) leave(who *handle) {
	if keys := who.offered.Load(); keys != nil && len(*keys) > 0 && len(h.left) < mostLeft {
		h.left[who.Plugin] = *keys
	}
}

// absent says which plugins offer the key of a call when they run, and do not; "" for none.
// One that has failed is not among them: what it offered is there, not ready, with why.
func (h *Host) absent(c protocol.Call) string {
	if h.unstarted != nil {
		if text := h.unstarted(c.Key, c.Plugin); text != "" {
			return text
		}
	}
	all := h.stopped(c)
	return strings.Join(all[:min(len(all), mostAbsent)], "; ")
}

// stopped lists the plugins that have stopped and offered the key of a call.
func (h *Host) stopped(c protocol.Call) (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(h.left)) {
		if asksFor(c, name, h.left[name]) {
			all = append(all, fmt.Sprintf("plugin %s offers it when it runs, and is stopped: start it", name))
		}
	}
	return all
}

// asksFor tells whether a call may be for a plugin that offered the sorted keys.
func asksFor(c protocol.Call, plugin string, keys []string) bool {
	_, found := slices.BinarySearch(keys, c.Key)
	return found && (c.Plugin == "" || c.Plugin == plugin)
}
