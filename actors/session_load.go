package actors

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// A plugin's code is read, and its life is a few steps: load, init, setup, stop. One
// runs at a time, each with a limit.

func (s *session) onLoad(m load) {
	if s.end != living { // it was stopped the moment that it was listed
		reply(m.reply, errStopped(s.h.Plugin))
		return
	}
	s.loadReply, s.resume = m.reply, m.resume
	if m.former != nil {
		s.h.former.Store(true)
		s.host.formers.Add(1)
		s.offerKnown() // so that who calls it is told when it is tried again
		s.crash(m.former, true)
		return
	}
	if s.h.guest != nil {
		s.openGuest()
		return
	}
	entry, err := s.man.Entrypoint(m.runtime)
	if err != nil {
		s.fail(err)
		return
	}
	if entry.Builtin != "" {
		l, err := s.openPort(entry.Builtin)
		s.onLinked(linked{l, err})
		return
	}
	if late, ok := s.dialect.(protocol.Initializer); ok {
		s.unborn = &unborn{late, entry}
		s.passed(protocol.StepLoad)
		return
	}
	s.openPeer(entry)
}

func (s *session) onLinked(m linked) {
	s.dialing = nil
	if s.end != living {
		s.linkedLate(m.link)
		return
	}
	if m.err != nil {
		s.fail(m.err)
		return
	}
	s.link = m.link
	s.h.link.Store(&linkBox{m.link})
	switch {
	case s.unborn == nil:
		s.run(protocol.StepLoad)
	case s.phase == lifecycle.Configured: // else it was sent back for a configuration meanwhile
		s.run(protocol.StepSetup)
	}
}

// linkedLate lets go of a plugin that was still on its way when its session
// ended: the session goes when it is gone.
func (s *session) linkedLate(l link) {
	if l == nil {
		s.onEnded()
		return
	}
	s.link = l
	l.kill()
}

// loaded ends the load, well or not.
func (s *session) loaded(err error) {
	if s.loadReply != nil {
		reply(s.loadReply, err)
		s.loadReply = nil
	}
}

// run passes through a step of the plugin's life; what comes next is in onRan.
func (s *session) run(step protocol.Step) {
	switch {
	case s.link == nil && step != protocol.StepSetup:
		s.passed(step) // it is not born yet
		return
	case s.link == nil:
		s.bear()
		return
	case !s.link.has(step):
		s.passed(step)
		return
	}
	params, err := s.params(step)
	if err != nil {
		s.fail(err)
		return
	}
	s.step = step
	gen, limit := s.gen, s.h.timeouts.step(step)
	s.stepTimer = time.AfterFunc(limit, func() { s.self.tell(stepExpired{gen, step, limit}) })
	s.link.run(step, gen, params)
}

// bear starts a worker that could not be started before.
func (s *session) bear() {
	if s.dialing == nil { // else it is on its way, and will be told the newest configuration
		s.openPeer(s.unborn.entry)
	}
}

// params is what a step needs to be told; nil for nothing.
func (s *session) params(step protocol.Step) (json.RawMessage, error) {
	if step != protocol.StepSetup || s.unborn == nil {
		return nil, nil
	}
	birth := protocol.Birth{Host: s.host.id, Version: s.host.version}
	if c := s.h.config.Load(); c != nil {
		birth.Config = *c
	}
	switch {
	case s.man.Paperclip != nil:
		birth.Manifest = s.man.Paperclip.Raw
	case s.man.Eliza != nil:
		birth.Manifest = s.man.Eliza.Raw
	}
	params, err := s.unborn.Initialize(birth)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %s: %w", s.h.Plugin, place(s.man), err)
	}
	return params, nil
}

func (s *session) onRan(m ran) {
	if m.gen != s.gen || m.step != s.step {
		return
	}
	if s.stepTimer != nil {
		s.stepTimer.Stop()
	}
	s.step = ""
	switch {
	case m.step == stepValidate && s.phase != lifecycle.Prepared: // it was given another one meanwhile
		s.proceed()
	case m.step == stepValidate && s.start.Config == s.itsOwn: // it has taken another one meanwhile
		s.applyConfig(*s.itsOwn)
	case m.err == nil:
		s.passed(m.step)
	case m.step == protocol.StepStop: // it is stopped all the same
		s.host.drop(s.h, "stop-hook", m.err.Error(), 1)
		s.passed(m.step)
	case protocol.CodeOf(m.err) == protocol.CodeConfiguration:
		s.refused(m.err)
	default:
		s.fail(m.err)
	}
}

func (s *session) passed(step protocol.Step) {
	switch step {
	case protocol.StepLoad:
		if s.enter(lifecycle.Loaded, "") {
			s.loaded(nil)
			if s.resume != nil {
				opts := *s.resume
				s.resume = nil
				s.onInitialize(initialize{opts: opts, reply: make(chan error, 1)})
			}
		}
	case protocol.StepInit:
		s.inited = true
		s.proceed()
	case stepValidate:
		s.useConfig()
	case protocol.StepSetup:
		s.settled, s.reconfigured = !s.reconfigured, false
		s.proceed()
	case protocol.StepStop:
		s.link.end(nil)
	}
}

func (s *session) onStepExpired(m stepExpired) {
	if m.gen != s.gen || m.step != s.step {
		return
	}
	s.step = ""
	if m.step == protocol.StepStop {
		s.host.drop(s.h, "late-stop", fmt.Sprintf("the stop hook did not finish within %s", m.limit), 1)
		s.link.end(nil)
		return
	}
	how := "mend its hook, or raise airi-host.timeouts.%s in its manifest"
	if s.h.guest != nil {
		how = "it has to tell the host when it is over" + s.finishing(m.step) + "; or raise timeouts.%s in the host's settings"
	}
	s.fail(failure(protocol.CodeTimeout, s.h.Plugin, fmt.Sprintf(
		"%s of plugin %s did not finish within %s: "+how, m.step, s.h.Plugin, m.limit, m.step)))
}

// finishing is by which event a step is over, where its dialect has one.
func (s *session) finishing(step protocol.Step) string {
	if d, ok := s.h.dialect.(protocol.Finishing); ok {
		if event := d.Finishes(step); event != "" {
			return ", by " + event
		}
	}
	return ""
}
