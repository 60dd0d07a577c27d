package actors

import (
	"fmt"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// supervisor is the actor that outlives a plugin's sessions: one a plugin.
//
// It owns the worker's state, the count of crashes and the next restart. Its
// parent is the host. It accepts begin, remove and heirOf, facts from its
// sessions, its timer, and shuttingDown. It ends without a session only: when the
// plugin is removed, or with the host.
type supervisor struct {
	host *Host
	// name is the plugin's, key is under which the host keeps this supervisor.
	name, key string
	self      *ref
	crashes   *crashes

	worker  lifecycle.State
	current *handle
	// removed tells that it is about to end, and begins nothing more.
	removed bool
	// next is a start that waits until an ended session is gone.
	next *begin
	// last is how the current session was started, for its successor.
	last begin
	// heirTo is the id of the crashed session that the current one was made for.
	heirTo string

	// notice is what is told of a crash once its session has failed, also when a
	// start by hand has overtaken that; retryAt is when the next session is started,
	// void when cancelRestart was called.
	notice  *Restart
	retryAt time.Time
	timer   *time.Timer
	gen     int
	// steady runs while a session earns forgiveness that is to be remembered.
	steady *time.Timer
}

type (
	// begin makes a session and loads it. made gets the handle or the refusal,
	// loaded the outcome of the load; both may be nil.
	begin struct {
		man     *manifest.Manifest
		runtime manifest.Runtime
		// start is how the session is to go on to ready once it is loaded; nil if
		// nobody asked for that yet.
		start  *StartOptions
		made   chan<- made
		loaded chan<- error
		// restart tells that the supervisor itself begins it; inherits, that it
		// takes over the offers of a session that crashed.
		restart, inherits bool
		// guest is who has come by itself; nil for the host's own plugins.
		guest *Guest
	}
	made struct {
		h   *handle
		err error
	}
	// sessionReady tells that a session reached ready; waiting get the outcome.
	sessionReady struct {
		h       *handle
		waiting []chan<- error
	}
	// sessionCrashed tells that its plugin went unasked; start is how it would go
	// on to ready again, if it was asked to; former, that it did so under the host
	// before this one. The answer is a verdict.
	sessionCrashed struct {
		h      *handle
		err    error
		start  *StartOptions
		former bool
	}
	// sessionFailed tells that it failed; crashed, that there was a verdict before;
	// waiting get the outcome.
	sessionFailed struct {
		h       *handle
		err     error
		crashed bool
		waiting []chan<- error
	}
	// sessionStopping tells that it was asked to stop.
	sessionStopping struct{ h *handle }
	// sessionEnded tells that it has stopped; why is what it failed of, or nil.
	sessionEnded struct {
		h   *handle
		why error
	}
	// retry tells that the time of a restart has come.
	retry struct{ gen int }
	// steadied tells that a session may have been ready for long enough.
	steadied struct{}
	// heirOf asks for the session that was made for one that crashed, or nil.
	heirOf struct {
		session string
		reply   chan<- made
	}
	// shuttingDown tells that nothing is started any more.
	shuttingDown struct{}
	// remove ends the supervisor, unless its plugin has a session.
	remove struct{ reply chan<- error }
)

func newSupervisor(h *Host, name, key string, self *ref) *supervisor {
	p := &supervisor{host: h, name: name, key: key, self: self, worker: lifecycle.Worker.Initial(), crashes: newCrashes(h.bounds.Load().restart)}
	if h.memory != nil && key == name {
		p.crashes.recall(h.memory.Recall(name))
	}
	return p
}

func (p *supervisor) receive(msg any) {
	switch m := msg.(type) {
	case begin:
		p.onBegin(m)
	case sessionReady:
		p.onSessionReady(m)
	case sessionCrashed:
		p.onSessionCrashed(m)
	case sessionFailed:
		p.onSessionFailed(m)
	case sessionStopping:
		p.onSessionStopping(m)
	case sessionEnded:
		p.onSessionEnded(m)
	case retry:
		p.onRetry(m)
	case steadied:
		p.onSteadied()
	case heirOf:
		p.onHeirOf(m)
	case shuttingDown:
		p.onShuttingDown()
	case remove:
		p.onRemove(m)
	default:
		p.host.log.Error("unhandled message", "actor", "supervisor", "plugin", p.name, "message", fmt.Sprintf("%T", m))
	}
}

func (p *supervisor) panicked(_ any, err *panicError) error {
	p.host.log.Error("the supervisor panicked", "plugin", p.name, "error", err, "stack", string(err.stack))
	return p.broken(err.Error())
}

// broken is what those are told whom a panic leaves without an answer.
func (p *supervisor) broken(how string) error {
	return failure(protocol.CodeInternal, p.name, "the supervisor of plugin "+p.name+": "+how)
}

func (p *supervisor) onBegin(m begin) {
	if p.removed {
		return // who asks hears that we are gone, and finds another one
	}
	restarts := p.next != nil && p.next.restart
	if !restarts && (p.next != nil || p.current != nil && !isOver(p.current.phaseNow()) && !p.leaves(m)) {
		m.answer(nil, p.occupied(m))
		return
	}
	if m.start == nil || !m.start.Resume {
		p.crashes.forgive()
		p.remember()
	}
	switch {
	case restarts: // this comes in its place
		m.inherits = true
		p.next = &m
	case !p.retryAt.IsZero():
		p.fire(p.current, lifecycle.WorkerStart)
		p.succeed(m)
	case p.current != nil: // what is over makes room
		p.next = &m
		p.current.self.tell(stop{reply: make(chan error, 1)})
	default:
		p.spawn(m, nil)
	}
}

// leaves tells that a guest is on its way out while it comes again.
func (p *supervisor) leaves(m begin) bool {
	return m.guest != nil && p.worker == lifecycle.WorkerStopping
}

// occupied is why there is no session beside the one that there is.
func (p *supervisor) occupied(m begin) error {
	if m.guest != nil {
		return failure(protocol.CodeInvalid, p.name, fmt.Sprintf(
			"plugin %s: instance %s is here already: choose another one, or wait until it has left", p.name, m.guest.Instance))
	}
	return failure(protocol.CodeInvalid, p.name, fmt.Sprintf(
		"plugin %s is already loaded as %s from %s: stop that first, or give %s another name",
		p.name, p.current.Session, place(p.current.man), place(m.man)))
}

func (m begin) answer(h *handle, err error) {
	reply(m.made, made{h, err})
}

// isOver tells whether a session in the phase has only to be cleared away.
func isOver(phase lifecycle.State) bool {
	return phase == lifecycle.Failed || phase == lifecycle.Stopped
}

func place(m *manifest.Manifest) string {
	if m.File == "" {
		return "code"
	}
	return m.File
}

// spawn makes a session; old is the one that it succeeds, if any, which is
// forgotten in the same moment, so that the plugin has always one.
func (p *supervisor) spawn(m begin, old *handle) {
	whole := false
	defer func() {
		if !whole {
			p.unmake(old)
		}
	}()
	h := p.host.newHandle(m.man, m.guest)
	h.sup, h.crashes = p.self, p.crashes
	h.self = p.host.sys.spawn(func(self *ref) behavior {
		return &session{
			host: p.host, h: h, sup: p.self, self: self, man: m.man, dialect: h.dialect,
			phase: lifecycle.Session.Initial(), listed: m.inherits, inherits: m.inherits,
		}
	})
	if err := p.host.remember(h, old); err != nil {
		h.self.stop()
		p.refused(old)
		m.answer(nil, err)
		whole = true
		return
	}
	if m.guest == nil {
		p.host.displace(p.name)
	}
	p.current, p.last, p.heirTo = h, m, ""
	p.last.made, p.last.loaded = nil, nil
	if old == nil {
		p.fire(h, lifecycle.WorkerStart)
	} else {
		p.bequeath(old, h)
	}
	next := load{runtime: m.runtime, reply: m.loaded}
	if m.restart {
		p.heirTo, next.resume = old.Session, m.start
	} else {
		next.former = p.former(m)
	}
	h.self.tell(next)
	m.answer(h, nil)
	whole = true
}

// unmake clears up after a panic in spawn: a session that is known ends as any other, and is
// told of as such; one that is not leaves its predecessor, whose offers go.
func (p *supervisor) unmake(old *handle) {
	if p.current == nil {
		p.refused(old)
		return
	}
	if old != nil {
		old.setComeback(noComeback, time.Time{})
	}
	p.current.self.tell(stop{reply: make(chan error, 1)})
}

// fire moves the worker; a fact of a session that is not the current one is late.
func (p *supervisor) fire(h *handle, ev lifecycle.Event) {
	if h != p.current {
		return
	}
	next, err := lifecycle.Worker.Fire(p.name, p.worker, ev)
	if err != nil {
		p.host.log.Debug("late fact", "plugin", p.name, "error", err)
		return
	}
	p.worker = next
	p.crashes.enter(next, time.Now())
}

func (p *supervisor) onSessionReady(m sessionReady) {
	defer tellAll(m.waiting, nil)
	p.fire(m.h, lifecycle.WorkerStarted)
	p.watchSteadiness()
}

func (p *supervisor) onSessionFailed(m sessionFailed) {
	defer func() {
		tellAll(m.waiting, m.err)
		if m.h.guest != nil { // all know of it
			m.h.self.tell(stop{reply: make(chan error, 1)})
		}
	}()
	switch {
	case m.h != p.current:
	case m.crashed:
		p.arm()
	case p.worker == lifecycle.WorkerRunning:
		p.fire(m.h, lifecycle.WorkerStop)
		p.fire(m.h, lifecycle.WorkerExited)
	default:
		p.fire(m.h, lifecycle.WorkerStartFailed)
	}
}

// onSessionStopping is a stop by hand, or our own of a session that makes room.
func (p *supervisor) onSessionStopping(m sessionStopping) {
	if m.h != p.current {
		return
	}
	p.notice = nil
	p.cancelRestart()
	p.crashes.forgive()
	p.remember()
	m.h.setComeback(noComeback, time.Time{})
	if p.next != nil && p.next.inherits {
		p.next.answer(nil, errStopped(p.name))
		p.next = nil
	}
	p.fire(m.h, lifecycle.WorkerStop)
}

func (p *supervisor) onSessionEnded(m sessionEnded) {
	if g := m.h.guest; g != nil && g.Ended != nil {
		defer g.Ended(m.why)
	}
	if m.h != p.current {
		return
	}
	if p.worker == lifecycle.WorkerStopping {
		p.fire(m.h, lifecycle.WorkerExited)
	}
	p.current = nil
	if p.next == nil {
		if m.h.guest != nil { // nobody but itself can bring it back
			p.retire()
		}
		return
	}
	next := *p.next
	p.next = nil
	var old *handle
	if next.inherits {
		old = m.h
	}
	begun := false
	defer func() {
		if !begun {
			next.unanswered(p.broken("it panicked when it came to start the plugin: the host's log says how"))
		}
	}()
	p.spawn(next, old)
	begun = true
}

func (p *supervisor) onRemove(m remove) {
	if p.current != nil {
		reply(m.reply, error(failure(protocol.CodeInvalid, p.name, "plugin "+p.name+" still has "+p.current.Session+": stop it first")))
		return
	}
	p.retire()
	reply(m.reply, nil)
}

// retire ends the supervisor of a plugin that is forgotten.
func (p *supervisor) retire() {
	p.removed = true
	p.forgetSteadiness()
	p.host.removed(p.key, p.self)
	p.self.stop()
}
