package actors

import (
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// Phases, and the plugin's own channel.

// enter passes into a phase if the table allows it; else the session fails, since
// its own code asked for it.
func (s *session) enter(to lifecycle.State, reason string) bool {
	from := s.phase
	next, err := lifecycle.Session.Move(s.h.module.ID, from, to)
	if err != nil {
		s.fail(err)
		return false
	}
	if s.end == failing && to != lifecycle.Failed || s.end == stopping && to != lifecycle.Stopped {
		return false // nothing new begins
	}
	s.phase = next
	s.h.enter(next, reason, s.now)
	if s.host.wants(KindPhase) { // making the event would be the dearest part of it
		s.host.publish(PhaseChanged{Origin: s.h.Origin, From: from, To: next, At: s.now, Reason: reason})
	}
	return true
}

// heard tells whether an event of the channel would reach anybody.
func (s *session) heard() bool {
	return s.dialect != nil && (s.link != nil && s.link.listens() || s.host.wants(KindChannel))
}

// say puts a moment on the plugin's channel, in its ecosystem's words.
func (s *session) say(m protocol.Moment) {
	if !s.heard() {
		return
	}
	m.Self = s.h.module
	for _, e := range s.dialect.Narrate(m) {
		if s.link != nil && !s.linkGone {
			s.link.emit(e)
		}
		s.host.publishChannel(s.h, false, e, s.phase)
	}
}
