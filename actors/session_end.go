package actors

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/airi-host/airi-host/capability"
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
	s.void(failing)
	s.withdraw(fmt.Sprintf("plugin %s failed: %s", s.h.Plugin, err), func() { s.failed(err) })
}

// crash is fail for a plugin that went without being asked to: the supervisor says
// first what becomes of it.
func (s *session) crash(err error) {
	s.crashed = true
	s.void(failing)
	s.open = false
	var start *StartOptions
	if s.initialized {
		opts := s.start
		start = &opts
	}
	s.sup.tell(sessionCrashed{s.h, err, start})
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

// void makes everything that is under way mean nothing any more.
func (s *session) void(how ending) {
	s.end = how
	s.linkGone = s.linkGone || s.link == nil && s.dialing == nil
	s.gen++
	s.step = ""
	s.stopTimers()
	if s.watching {
		s.watching = false
		s.host.registry.tell(unwatchNeeds{s.self, s.h.Plugin})
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
	graceful := s.end == living && s.step == "" && s.inited
	s.void(stopping)
	s.sup.tell(sessionStopping{s.h})
	s.withdraw("plugin "+s.h.Plugin+" is being stopped", func() { s.leave(graceful) })
}

// onReplace makes room for the plugin's next session, which takes over what is
// offered.
func (s *session) onReplace() {
	if s.end == stopping {
		return
	}
	s.void(stopping)
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
	if s.link != nil {
		s.link.kill()
	}
}

// onLost: the plugin went without being asked to.
func (s *session) onLost(m lost) {
	if s.end != living {
		s.step = ""
		s.stopTimers()
		s.link.end(m.why)
		return
	}
	s.crash(m.why)
}

func (s *session) onEnded() {
	s.linkGone = true
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
	if !s.replaced { // else the supervisor forgets it when there is the next one
		s.host.forget(s.h)
	}
	defer func() { // also when telling it panics
		err := errStopped(s.h.Plugin)
		s.loaded(err)
		s.settle(err)
		s.sup.tell(sessionEnded{s.h})
		for _, reply := range s.stopReplies {
			reply <- nil
		}
		s.self.stop()
	}()
	s.enter(lifecycle.Stopped, "")
}

func errStopped(plugin string) error {
	return failure(protocol.CodeCancelled, plugin, "plugin "+plugin+" was stopped")
}

// Offers

// offerKnown announces what is known before the plugin runs: what a program
// declares, and what the manifest promises beside that.
func (s *session) offerKnown() {
	if p, ok := s.link.(*port); ok {
		for _, o := range p.program.Offers() {
			s.onOffered(offered{offer: o})
		}
	}
	promised := map[string]struct{}{}
	for _, key := range s.man.Host.Offers {
		if _, made := s.offers[string(key)]; !made {
			s.onOffered(offered{offer: protocol.Offer{Key: string(key)}})
			promised[string(key)] = struct{}{}
		}
	}
	s.promised = promised
}

// breakPromises withdraws what the manifest says that the plugin offers, and the
// plugin does not: nobody could call it.
func (s *session) breakPromises() {
	for _, key := range slices.Sorted(maps.Keys(s.promised)) {
		delete(s.offers, key)
		reason := "plugin " + s.h.Plugin + " did not offer it, though airi-host.offers in its manifest says so"
		s.host.registry.tell(withdrawOffer{owner: s.owner(), key: capability.Key(key), reason: reason})
		s.host.drop(s.h, "promise", key+": "+reason, 1)
	}
	s.promised = nil
}

func (s *session) onOffered(m offered) {
	defer m.gate.give()
	if s.end != living {
		reply(m.reply, errStopped(s.h.Plugin))
		return
	}
	o := m.offer
	if s.offers == nil {
		s.offers = map[string]struct{}{}
	}
	s.offers[o.Key], s.listed = struct{}{}, true
	delete(s.promised, o.Key)
	s.host.registry.tell(addOffer{offer: s.offerOf(o), ready: s.open, session: s.h, reply: m.reply})
}

func (s *session) offerOf(o protocol.Offer) capability.Offer {
	priority := o.Priority
	if priority == 0 {
		priority = s.man.Host.Priority
	}
	return capability.Offer{
		Key: capability.Key(o.Key), Owner: s.owner(), Priority: priority, Invocable: o.Invocable,
		Description: o.Description, InputSchema: o.InputSchema, Metadata: o.Metadata, Target: s.h,
	}
}

func (s *session) onRetracted(m retracted) {
	defer m.gate.give()
	if _, ok := s.offers[m.key]; !ok || s.end != living {
		reply(m.reply, failure(protocol.CodeNotFound, s.h.Plugin, "plugin "+s.h.Plugin+" does not offer "+m.key))
		return
	}
	delete(s.offers, m.key)
	s.host.registry.tell(dropOffer{owner: s.owner(), key: capability.Key(m.key), reply: m.reply})
}

func reply(to chan<- error, err error) {
	if to != nil {
		to <- err
	}
}

func (s *session) owner() capability.Owner { return s.h.owner() }

// register asks the registry for something and goes on when it is done.
func (s *session) register(what registryWork, then func()) {
	self := s.self
	s.host.registry.tell(tracked{what, func() { self.tell(registered{then}) }})
}

// Phases and the channel

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
	s.host.publish(PhaseChanged{Origin: s.h.Origin, From: from, To: next, At: s.now, Reason: reason})
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
