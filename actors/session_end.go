package actors

import (
	"fmt"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// The end of a session, and what it offers. Whatever the reason, the order is
// the same: nothing new begins, the capabilities are withdrawn, then the end is
// announced. Stopping waits for the plugin to be gone before that; failing does
// not, since the plugin may be what hangs.

// fail ends the session with a reason. It stays listed until it is stopped.
func (s *session) fail(err error) {
	if s.end != living {
		return
	}
	why := fmt.Sprintf("plugin %s failed: %s", s.h.Plugin, err)
	s.void(failing, why)
	s.withdraw(why, func() { s.failed(err) })
}

// crash is fail for a plugin that went without being asked to: the supervisor says
// first what becomes of it. former tells that it did so under the host before this one.
func (s *session) crash(err error, former bool) {
	s.crashed = true
	s.void(failing, crashReason(s.h.Plugin, err, time.Time{}))
	s.open = false
	var start *StartOptions
	if s.initialized {
		opts := s.start
		start = &opts
	}
	s.sup.tell(sessionCrashed{s.h, err, start, former})
}

// onVerdict carries it out: what is offered is degraded while a restart is planned.
func (s *session) onVerdict(m verdict) {
	if s.end != failing {
		return
	}
	reason, then := crashReason(s.h.Plugin, m.err, m.next), func() { s.failed(m.err) }
	switch {
	case m.next.IsZero():
		s.withdraw(reason, then)
	case !s.listed:
		then()
	default:
		s.register(setOffers{owner: s.owner(), to: lifecycle.CapDegraded, reason: reason}, then)
	}
}

func (s *session) failed(err error) {
	if s.end != failing {
		return
	}
	s.why = err
	if g := s.h.guest; g != nil && g.Failed != nil {
		g.Failed(err)
	}
	defer func() { // also when telling it panics
		s.letGo(err)
		replies := s.handOver()
		if s.loadReply != nil {
			replies = append(replies, s.loadReply)
			s.loadReply = nil
		}
		s.sup.tell(sessionFailed{s.h, err, s.crashed, replies})
	}()
	if s.enter(lifecycle.Failed, err.Error()) {
		s.say(protocol.Moment{What: protocol.MomentFailed, Reason: err.Error()})
	}
}

// letGo ends the link, or the making of it; an ended or linked message follows
// unless nothing of the plugin runs.
func (s *session) letGo(why error) {
	switch {
	case s.dialing != nil:
		s.dialing()
	case !s.linkGone:
		s.link.end(why)
	}
}

// void makes everything that is under way mean nothing any more; why is told to whoever has
// a route.
func (s *session) void(how ending, why string) {
	s.end = how
	s.linkGone = s.linkGone || s.link == nil && s.dialing == nil
	s.gen++
	s.step = ""
	if s.link != nil {
		s.link.endRoutes(errEnding(s.h.Plugin, why))
	}
	s.stopTimers()
	if s.watching {
		s.watching = false
		s.host.registry.tell(unwatchNeeds{s.self, s.h.key()})
	}
	s.h.setWaits(nil)
}

// shut makes what is offered wait until the session is ready again; then, if
// any, follows.
func (s *session) shut(reason string, then func()) {
	was := s.open
	s.open = false
	if then == nil {
		then = func() {}
	}
	if !was || !s.listed {
		then()
		return
	}
	s.register(setOffers{owner: s.owner(), to: lifecycle.CapAnnounced, reason: reason}, then)
}

func (s *session) withdraw(reason string, then func()) {
	s.open = false
	if !s.listed {
		then()
		return
	}
	s.h.leaves(s.offers)
	s.register(setOffers{owner: s.owner(), to: lifecycle.CapWithdrawn, reason: reason}, then)
}

func (s *session) stopTimers() {
	for _, t := range []*time.Timer{s.stepTimer, s.waitTimer} {
		if t != nil {
			t.Stop()
		}
	}
}

func (s *session) onStop(m stop) {
	s.stopReplies = append(s.stopReplies, m.reply)
	if s.end == stopping {
		s.stopInstead()
		return
	}
	graceful := s.end == living && s.step == "" && s.inited && s.link != nil
	why := "plugin " + s.h.Plugin + " is being stopped"
	s.void(stopping, why)
	s.sup.tell(sessionStopping{s.h})
	s.withdraw(why, func() { s.drain(graceful) })
}

// drain lets the calls in flight end before the plugin is told to stop.
func (s *session) drain(graceful bool) {
	s.leaving = true
	s.h.draining.Store(true)
	if !graceful || s.linkGone || s.h.inFlight.Load() == 0 {
		s.leave(graceful)
		return
	}
	s.draining = true
	s.stepTimer = time.AfterFunc(s.drainTime(), func() { s.self.tell(drained{late: true}) })
}

func (s *session) drainTime() time.Duration {
	if least := time.Duration(s.h.drainTime.Load()); least > 0 {
		return min(least, s.h.timeouts.Drain)
	}
	return s.h.timeouts.Drain
}

func (s *session) onDrained(m drained) {
	if !s.draining {
		return
	}
	s.draining = false
	s.stopTimers()
	if left := s.h.inFlight.Load(); m.late && left > 0 {
		s.host.drop(s.h, "drain", fmt.Sprintf("%d calls in flight did not end within %s", left, s.drainTime()), uint64(left))
	}
	s.leave(true)
}

// onReplace makes room for the plugin's next session, which takes over what is
// offered.
func (s *session) onReplace() {
	if s.end == stopping {
		return
	}
	s.void(stopping, "plugin "+s.h.Plugin+" is being started anew")
	s.replaced = true
	s.leave(false)
}

// stopInstead is a stop that comes while the session makes room: there will be no
// other one.
func (s *session) stopInstead() {
	if !s.replaced {
		return
	}
	s.replaced = false
	s.sup.tell(sessionStopping{s.h})
	s.withdraw("plugin "+s.h.Plugin+" is being stopped", func() {})
}

// leave ends the plugin, in good order or not, and retires when it is gone.
func (s *session) leave(graceful bool) {
	s.leaving = true
	switch {
	case s.linkGone:
		s.retire()
	case graceful:
		s.run(protocol.StepStop)
	default:
		s.letGo(nil)
	}
}

func (s *session) onKill() {
	if s.end != stopping {
		s.onStop(stop{reply: make(chan error, 1)})
	}
	s.draining = false
	if s.link != nil {
		s.link.kill()
	}
}

// onLost: the plugin went without being asked to.
func (s *session) onLost(m lost) {
	if s.end != living {
		s.step, s.draining = "", false
		s.stopTimers()
		s.link.end(m.why)
		return
	}
	if m.retired || m.fault && s.h.guest != nil {
		s.fail(m.why)
		return
	}
	if s.h.guest != nil {
		s.left(m.why)
		return
	}
	s.crash(m.why, false)
}

// left ends a guest's session that has gone of its own will, or whose peer is lost.
func (s *session) left(why error) {
	reason := "plugin " + s.h.Plugin + " has left: " + why.Error()
	s.void(stopping, reason)
	s.sup.tell(sessionStopping{s.h})
	s.withdraw(reason, func() { s.leave(false) })
}

func (s *session) onEnded() {
	s.linkGone, s.draining = true, false
	if s.leaving {
		s.retire()
	}
}

// retire is the last of a stop: the plugin is gone, so its offers go, then the
// session.
func (s *session) retire() {
	if !s.listed || s.replaced {
		s.stopped()
		return
	}
	s.register(dropOffers{owner: s.owner()}, s.stopped)
}

func (s *session) stopped() {
	if s.h.former.CompareAndSwap(true, false) {
		s.host.formers.Add(-1)
	}
	if g := s.h.guest; g != nil { // also of one that never came to use it
		_ = g.Conn.Close()
	}
	if !s.replaced { // else the supervisor forgets it when there is the next one
		s.host.forget(s.h)
	}
	defer func() { // also when telling it panics
		err := errStopped(s.h.Plugin)
		s.loaded(err)
		s.settle(err)
		s.sup.tell(sessionEnded{s.h, s.why})
		tellAll(s.stopReplies, nil)
		s.self.stop()
	}()
	s.enter(lifecycle.Stopped, "")
}

// errEnding is what a route ends with whose session does.
func errEnding(plugin, why string) error {
	return failure(protocol.CodeNotReady, plugin, "the route has ended: "+why)
}

func errStopped(plugin string) error {
	return failure(protocol.CodeCancelled, plugin, "plugin "+plugin+" was stopped")
}
