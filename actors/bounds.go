package actors

import "github.com/airi-host/airi-host/transport/process"

// Bounds are the part of [Options] that can change while a host runs. Each field is that
// of the same name there.
type Bounds struct {
	Timeouts Timeouts
	Limits   Limits
	Ladder   process.Ladder
	Restart  RestartPolicy
}

// bounds are Bounds with the defaults.
type bounds struct {
	// given are the limits on time as they were given, timeouts with the defaults.
	given, timeouts Timeouts
	limits          Limits
	ladder          process.Ladder
	restart         RestartPolicy
}

// SetBounds changes what bounds sessions, for those that begin from now on; those that
// are there keep what they have. What follows a crash is what Restart says then. How many lines of a plugin's log are kept is settled by
// the first of its lines, for as long as the host runs.
func (h *Host) SetBounds(b Bounds) {
	h.bounds.Store(&bounds{
		given: b.Timeouts, timeouts: b.Timeouts.withDefaults(), limits: b.Limits.withDefaults(),
		ladder: b.Ladder, restart: b.Restart.withDefaults(),
	})
}

// pending is how many calls may be in flight at a session, in each direction.
func (h *handle) pending() int {
	return orDefault(h.man.Host.Limits.PendingCalls, h.bounds.limits.Pending)
}

// boundsOf are those of a session, or the host's where who is nil: a service is asked.
func (h *Host) boundsOf(who *handle) *bounds {
	if who == nil {
		return h.bounds.Load()
	}
	return who.bounds
}
