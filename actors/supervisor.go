package actors

import (
	"fmt"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// supervisor is the actor that outlives a plugin's sessions: one a plugin.
//
// It owns the worker's state and the count of crashes. Its parent is the host.
// It accepts begin and remove, and facts from its sessions. It ends without a
// session only: when the plugin is removed, or with the host.
type supervisor struct {
	host *Host
	name string
	self *ref

	worker  lifecycle.State
	current *handle
	crashes int
	// next is a start that waits until a failed session is gone.
	next *begin
}

type (
	// begin makes a session and loads it. made gets the handle or the refusal,
	// loaded the outcome of the load.
	begin struct {
		man     *manifest.Manifest
		runtime manifest.Runtime
		made    chan<- made
		loaded  chan<- error
	}
	made struct {
		h   *handle
		err error
	}
	// sessionReady tells that a session reached ready.
	sessionReady struct{ h *handle }
	// sessionFailed tells that it failed; crashed, that its plugin went unasked.
	sessionFailed struct {
		h       *handle
		err     error
		crashed bool
	}
	// sessionStopping tells that it was asked to stop.
	sessionStopping struct{ h *handle }
	// sessionEnded tells that it has stopped.
	sessionEnded struct{ h *handle }
	// remove ends the supervisor, unless its plugin has a session.
	remove struct{ reply chan<- error }
)

func (p *supervisor) receive(msg any) {
	switch m := msg.(type) {
	case begin:
		p.onBegin(m)
	case sessionReady:
		p.fire(m.h, lifecycle.WorkerStarted)
	case sessionFailed:
		p.onSessionFailed(m)
	case sessionStopping:
		p.fire(m.h, lifecycle.WorkerStop)
	case sessionEnded:
		p.onSessionEnded(m)
	case remove:
		p.onRemove(m)
	default:
		p.host.log.Error("unhandled message", "actor", "supervisor", "plugin", p.name, "message", fmt.Sprintf("%T", m))
	}
}

func (p *supervisor) panicked(err *panicError) {
	p.host.log.Error("the supervisor panicked", "plugin", p.name, "error", err, "stack", string(err.stack))
}

func (p *supervisor) onBegin(m begin) {
	if p.current != nil && !isOver(p.current.phaseNow()) || p.next != nil {
		m.made <- made{err: fmt.Errorf(
			"plugin %s is already loaded as %s from %s: stop that first, or give %s another name",
			p.name, p.current.Session, place(p.current.man), place(m.man))}
		return
	}
	if p.current != nil { // what is over makes room
		p.next = &m
		p.current.self.tell(stop{reply: make(chan error, 1)})
		return
	}
	p.spawn(m)
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

func (p *supervisor) spawn(m begin) {
	h := p.host.newHandle(m.man)
	dialect := p.host.dialects[m.man.Dialect]
	h.self = p.host.sys.spawn(func(self *ref) behavior {
		return &session{
			host: p.host, h: h, sup: p.self, self: self, man: m.man, dialect: dialect,
			phase: lifecycle.Session.Initial(),
		}
	})
	p.current = h
	if err := p.host.remember(h); err != nil {
		p.current = nil
		h.self.stop()
		m.made <- made{err: err}
		return
	}
	p.fire(h, lifecycle.WorkerStart)
	h.self.tell(load{m.runtime, m.loaded})
	m.made <- made{h: h}
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
}

func (p *supervisor) onSessionFailed(m sessionFailed) {
	switch {
	case m.crashed:
		p.crashes++
		p.fire(m.h, lifecycle.WorkerExited)
		p.fire(m.h, lifecycle.WorkerGiveUp)
	case p.worker == lifecycle.WorkerRunning:
		p.fire(m.h, lifecycle.WorkerStop)
		p.fire(m.h, lifecycle.WorkerExited)
	default:
		p.fire(m.h, lifecycle.WorkerStartFailed)
	}
}

func (p *supervisor) onSessionEnded(m sessionEnded) {
	if m.h != p.current {
		return
	}
	if p.worker == lifecycle.WorkerStopping {
		p.fire(m.h, lifecycle.WorkerExited)
	}
	p.current = nil
	if p.next != nil {
		next := *p.next
		p.next = nil
		p.spawn(next)
	}
}

func (p *supervisor) onRemove(m remove) {
	if p.current != nil {
		m.reply <- failure(protocol.CodeInvalid, p.name, "plugin "+p.name+" still has "+p.current.Session+": stop it first")
		return
	}
	p.host.removed(p.name, p.self)
	p.self.stop()
	m.reply <- nil
}
