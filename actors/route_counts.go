package actors

import (
	"maps"
	"sync"

	"github.com/airi-host/airi-host/protocol"
)

// RouteCounts are what became of routes of one kind.
type RouteCounts struct {
	// Open is how many are open at this moment.
	Open int64 `json:"open"`
	// Opened is how many ever were, Refused how many were asked for and not opened, for
	// whatever reason: that the caller gave up is among them.
	Opened  uint64 `json:"opened"`
	Refused uint64 `json:"refused"`
	// Lost is how many of those that were open have ended without that it is known how
	// their program did, and not by their owner: by a limit, by the plugin, or with its
	// session.
	Lost uint64 `json:"lost"`
}

// routeTally counts routes by kind. The zero value works.
type routeTally struct {
	mu sync.Mutex
	by map[protocol.RouteKind]RouteCounts
}

func (t *routeTally) change(kind protocol.RouteKind, by func(*RouteCounts)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[protocol.RouteKind]RouteCounts{}
	}
	counts := t.by[kind]
	by(&counts)
	t.by[kind] = counts
}

// snapshot is nil before there was any.
func (t *routeTally) snapshot() map[protocol.RouteKind]RouteCounts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.by)
}

// Routes are what became of the routes of all plugins since the host began, by kind, also
// of those that run no more.
func (h *Host) Routes() map[protocol.RouteKind]RouteCounts { return h.routes.snapshot() }

// tallyRoute counts for a session, nil for none, and for the host.
func (h *Host) tallyRoute(who *handle, kind protocol.RouteKind, by func(*RouteCounts)) {
	h.routes.change(kind, by)
	if who != nil {
		who.routes.change(kind, by)
	}
}

func routeRefused(c *RouteCounts) { c.Refused++ }

func routeOpened(c *RouteCounts) {
	c.Opened++
	c.Open++
}

func routeEnded(c *RouteCounts) { c.Open-- }

func routeLost(c *RouteCounts) {
	c.Open--
	c.Lost++
}

// countOpened counts a route that is open, and countEnded that it is no more; mu is held.
func (r *Route) countOpened() {
	r.isCounted = true
	r.peer.host.tallyRoute(r.peer.h, r.kind, routeOpened)
}

func (r *Route) countEnded() {
	if !r.isCounted {
		return
	}
	r.isCounted = false
	how := routeEnded
	if byOwner := r.isClosed || r.ctx.Err() != nil; !byOwner && (!r.hasExit || r.exit.Lost) {
		how = routeLost
	}
	r.peer.host.tallyRoute(r.peer.h, r.kind, how)
}
