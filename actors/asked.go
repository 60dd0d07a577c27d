package actors

import "slices"

// What an actor panics on is lost, but not whoever waits for its answer.

// asked is a message whose sender waits for an answer.
type asked interface {
	// unanswered tells the sender that there will be none. Who has one already, or is about
	// to get one, hears the first.
	unanswered(err error)
}

// reply answers, if anybody waits. It never blocks: each answer's channel has room for
// one, and a second one is for nobody.
func reply[T any](to chan<- T, answer T) {
	select {
	case to <- answer:
	default: // also where to is nil
	}
}

func (m probed) unanswered(err error)            { reply(m.reply, err) }
func (m subscribe) unanswered(err error)         { reply(m.reply, err) }
func (m unsubscribe) unanswered(err error)       { reply(m.reply, err) }
func (m endAll) unanswered(err error)            { reply(m.reply, err) }
func (m setCapability) unanswered(err error)     { reply(m.reply, described{err: err}) }
func (m addOffer) unanswered(err error)          { reply(m.reply, err) }
func (m dropOffer) unanswered(err error)         { reply(m.reply, err) }
func (m watchNeeds) unanswered(err error)        { m.session.tell(needsRefused{err}) }
func (m heirOf) unanswered(err error)            { reply(m.reply, made{err: err}) }
func (m remove) unanswered(err error)            { reply(m.reply, err) }
func (m load) unanswered(err error)              { reply(m.reply, err) }
func (m initialize) unanswered(err error)        { reply(m.reply, err) }
func (m configure) unanswered(err error)         { reply(m.reply, err) }
func (m needConfiguration) unanswered(err error) { reply(m.reply, err) }
func (m stop) unanswered(err error)              { reply(m.reply, err) }
func (m offered) unanswered(err error)           { reply(m.reply, err) }
func (m retracted) unanswered(err error)         { reply(m.reply, err) }

// unanswered tells both that wait: for the session, and for the outcome of its load.
func (m begin) unanswered(err error) {
	reply(m.made, made{err: err})
	reply(m.loaded, err)
}

// unanswered ends the session all the same; it is not started again.
func (m sessionCrashed) unanswered(error) { m.h.self.tell(verdict{err: m.err}) }

// owes tells that whoever sent a message will hear how the session ends.
func (s *session) owes(msg any) bool {
	var to chan<- error
	switch m := msg.(type) {
	case load:
		to = m.reply
	case initialize:
		to = m.reply
	case configure:
		to = m.reply
	}
	return to != nil && (to == s.loadReply || slices.Contains(s.settleReplies, to))
}
