package actors

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// handle is what the rest of the host holds of a session: its names, its phase
// as last published, and the link that calls go through. It outlives the actor.
type handle struct {
	Origin
	// module identifies the session to its ecosystem.
	module protocol.Module
	man    *manifest.Manifest
	// dialect is the ecosystem's; nil if this host does not speak it.
	dialect protocol.Dialect
	self    *ref
	// guest is who has come by itself; nil for the host's own plugins.
	guest *Guest
	// sup is the plugin's supervisor, crashes its memory.
	sup     *ref
	crashes *crashes
	// timeouts are the limits on time in force for this session, bounds all others.
	timeouts Timeouts
	bounds   *bounds

	// config is the configuration in force; nil before there is one, and for the empty
	// one of a plugin that was given none.
	config atomic.Pointer[protocol.Config]

	// link is set before anything is offered, and never changed.
	link     atomic.Pointer[linkBox]
	inFlight atomic.Int64
	// busy counts what runs of a compiled-in plugin beside the calls in flight:
	// its hooks, and handlers that nobody waits for any more.
	busy  atomic.Int64
	drops counters
	// routes counts those that were asked for.
	routes routeTally
	// serves are the calls that it serves, if untold tells that its wire may not say for
	// the sake of which of them it makes one.
	serves serves
	untold bool
	// hears are the events that the session has still to hear.
	hears lane
	// calls counts the calls that are over, callErrors those that failed.
	calls, callErrors atomic.Uint64
	// up tells that it answers calls: it is ready, or degraded.
	up atomic.Bool
	// former tells that it was never started, since its plugin crashed under the former host.
	former atomic.Bool
	// offered are the keys, sorted, that it offered at its end; nil before that.
	offered atomic.Pointer[[]string]
	// draining tells that the session is being stopped: no call may begin, and the
	// last one that ends tells the session.
	draining atomic.Bool
	// drainTime is how long its calls in flight may take to end when the host shuts
	// down, if that is less than usual; 0 for no other limit.
	drainTime atomic.Int64

	mu     sync.Mutex
	phase  lifecycle.State
	since  time.Time
	reason string
	// needs is what the session requires, waits what of it is missing.
	needs capability.Requirements
	waits []string
	// comeback tells whether another session will take the place of this one,
	// and nextTry when, if that is planned.
	comeback comeback
	nextTry  time.Time
	// requests are those for another phase, of late; nil before there was one.
	requests *phaseRequests
	// taken is what the session has still to be told that its plugin has, nil for nothing.
	taken *taken
	// schema is what a configuration that is asked for has to be like, nil if nobody said.
	schema json.RawMessage
	// changed closes when the phase or comeback changes; nil while nobody looks.
	changed chan struct{}
}

type linkBox struct{ link }

// phaseNow returns the phase as last published.
func (h *handle) phaseNow() lifecycle.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.phase
}

// standing is where a session stands.
type standing struct {
	phase    lifecycle.State
	reason   string
	comeback comeback
	nextTry  time.Time
}

// watch returns where the session stands, and a channel that closes when that
// changes.
func (h *handle) watch() (standing, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return standing{h.phase, h.reason, h.comeback, h.nextTry}, h.changed
}

// enter publishes a phase to all that look at the handle.
func (h *handle) enter(phase lifecycle.State, reason string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase, h.reason, h.since = phase, reason, now
	h.up.Store(isUp(phase))
	h.wake()
}

// because changes why the session is in its phase.
func (h *handle) because(reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reason = reason
}

// setComeback tells all that look whether there will be another session in this
// one's place.
func (h *handle) setComeback(c comeback, next time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.comeback == noComeback && c == noComeback {
		return
	}
	h.comeback, h.nextTry = c, next
	h.wake()
}

// wake lets those go on who look; mu is held.
func (h *handle) wake() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

func (h *handle) owner() capability.Owner {
	return capability.Owner{Plugin: h.Plugin, Instance: h.instance()}
}

func (h *handle) setNeeds(needs capability.Requirements) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.needs = needs
}

func (h *handle) setSchema(schema json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.schema = schema
}

// asksFor is what a configuration has to be like, as far as anybody has said.
func (h *handle) asksFor() json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.schema
}

// requires is what the session needs, as far as it is known.
func (h *handle) requires() capability.Requirements {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.needs
}

func (h *handle) setWaits(keys []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits = keys
}

// callOver counts a call that is over.
func (h *handle) callOver() {
	if h.inFlight.Add(-1) == 0 && h.draining.Load() {
		h.self.tell(drained{})
	}
}

// tally counts a call that is over, whatever became of it. A tool's result that says
// in its "error" that the call failed is a failure too; it returns that.
func (h *handle) tally(key string, result json.RawMessage, err error) error {
	h.calls.Add(1)
	if err == nil && capability.Key(key).Is(capability.KindTool) {
		err = toolFailure(result)
	}
	if err != nil {
		h.callErrors.Add(1)
	}
	return err
}

// through returns the session's link, or nil before there is one.
func (h *handle) through() link {
	if box := h.link.Load(); box != nil {
		return box.link
	}
	return nil
}

// SessionInfo is a session as it was at one moment.
type SessionInfo struct {
	// ID is unique in the host and never used again, e.g. "plugin-session-0".
	ID string `json:"session"`
	// Plugin is the plugin's name; Module the id under which its ecosystem
	// knows this session, e.g. "hello-0".
	Plugin string `json:"plugin"`
	Module string `json:"module"`
	// Instance tells guests of one name apart; "" for the host's own plugins.
	Instance string `json:"instance,omitempty"`
	Index    int    `json:"index"`
	// File is the manifest, "" for one made in code.
	File   string          `json:"file,omitempty"`
	Phase  lifecycle.State `json:"phase"`
	Since  time.Time       `json:"since"`
	Reason string          `json:"reason,omitempty"`
	// Waits are the capabilities that the session lacks.
	Waits []string `json:"waits,omitempty"`
	// InFlight is how many calls it is handling.
	InFlight int64 `json:"inFlight"`
	// Calls is how many calls it had that are over; CallErrors, how many of them
	// failed, for whatever reason: those that were refused or given up are among them.
	Calls      uint64 `json:"calls,omitempty"`
	CallErrors uint64 `json:"callErrors,omitempty"`
	// Busy is how many hooks of compiled-in code run, and handlers whose callers
	// have given up. In a session that has ended it is code that does not heed
	// its context; nothing can end that.
	Busy int64 `json:"busy,omitempty"`
	// Dropped counts what was not used, by kind.
	Dropped map[string]uint64 `json:"dropped,omitempty"`
	// Routes are what became of its terminals and channels, by kind; nil for none.
	Routes map[protocol.RouteKind]RouteCounts `json:"routes,omitempty"`
	// Process describes the worker process, where there is one.
	Process *ProcessInfo `json:"process,omitempty"`
	// Worker is what the plugin's supervisor knows, over all its sessions.
	Worker WorkerInfo `json:"worker"`
}

// ProcessInfo is a session's worker process.
type ProcessInfo struct {
	PID int `json:"pid"`
	// Started is when it was started.
	Started time.Time `json:"started"`
	// Reach says by which means its descendants are found when it ends; Note, why
	// it is not the best one.
	Reach string `json:"reach"`
	Note  string `json:"note,omitempty"`
	// Limits are those that were asked for, in words, and whether they are in force.
	Limits []string `json:"limits,omitempty"`
}

func (h *handle) info() SessionInfo {
	h.mu.Lock()
	info := SessionInfo{
		ID: h.Session, Plugin: h.Plugin, Module: h.module.ID, Instance: h.instance(), Index: h.module.Index, File: h.man.File,
		Phase: h.phase, Since: h.since, Reason: h.reason, Waits: h.waits,
	}
	h.mu.Unlock()
	info.InFlight, info.Busy = h.inFlight.Load(), max(h.busy.Load(), 0)
	info.Calls, info.CallErrors = h.calls.Load(), h.callErrors.Load()
	info.Dropped, info.Routes, info.Worker = h.drops.snapshot(), h.routes.snapshot(), h.crashes.snapshot(time.Now())
	if l := h.through(); l != nil {
		info.Process = l.process()
	}
	return info
}

// counters counts things by name. The zero value works.
type counters struct {
	mu sync.Mutex
	by map[string]uint64
}

func (c *counters) add(what string, n uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]uint64{}
	}
	c.by[what] += n
	return c.by[what]
}

func (c *counters) snapshot() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by) == 0 {
		return nil
	}
	all := make(map[string]uint64, len(c.by))
	for what, n := range c.by {
		all[what] = n
	}
	return all
}
