package actors

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// router is the actor that hands the host's events to subscribers, in the order
// in which they were published.
//
// It owns the list of subscriptions. The host is its parent. It accepts look,
// subscribe and unsubscribe. Its death is the host's: every subscription's
// channel is closed then.
type router struct {
	log  *slog.Logger
	self *ref
	// news are the events that it hands on, at its own pace.
	news *news
	pace pace
	// wanted is the union of all subscriptions' kinds: publishers read it to
	// leave out what nobody would hear.
	wanted *atomic.Uint32
	subs   []*Subscription
	// ended tells that all subscriptions are closed, also those to come.
	ended bool
}

type (
	// look tells that there are news, or that the rest is over.
	look struct{}
	// subscribe adds a subscription.
	subscribe struct {
		sub   *Subscription
		reply chan<- error
	}
	// unsubscribe takes one away.
	unsubscribe struct {
		sub   *Subscription
		reply chan<- error
	}
	// endAll closes every subscription.
	endAll struct{ reply chan<- error }
)

func (r *router) receive(msg any) {
	switch m := msg.(type) {
	case look:
		r.onLook()
	case subscribe:
		r.onSubscribe(m)
	case unsubscribe:
		r.onUnsubscribe(m)
	case endAll:
		r.onEndAll(m)
	case probed:
		reply(m.reply, nil)
	default:
		r.log.Error("unhandled message", "actor", "router", "message", m)
	}
}

// panicked looks again for what waits, after a while: nobody else would wake it.
func (r *router) panicked(_ any, err *panicError) error {
	r.log.Error("the event router panicked", "error", err, "stack", string(err.stack))
	time.AfterFunc(afterPanic, func() { r.self.tell(look{}) })
	return failure(protocol.CodeInternal, "", "the event router: "+err.Error())
}

// afterPanic is how long the router rests after a panic, so that one which comes at
// every look does not take the processor.
const afterPanic = 20 * time.Millisecond

// onLook hands on what there is. While there is more, or time to rest, it looks again
// without being woken.
func (r *router) onLook() {
	began := time.Now()
	r.handOn(max(1, roundWork/max(1, len(r.subs))))
	if pause := r.pace.rest(began, time.Now()); pause > 0 {
		time.AfterFunc(pause, func() { r.self.tell(look{}) })
	} else if !r.news.leave() {
		r.self.tell(look{})
	}
}

// handOn hands the first events to all subscriptions.
func (r *router) handOn(most int) {
	list, lost := r.news.take(most)
	var all perKind
	for _, e := range list {
		all.add(e.Kind())
	}
	for _, s := range r.subs {
		s.offer(list, &all, &lost)
	}
	clear(list)
}

func (r *router) onSubscribe(m subscribe) {
	r.handOn(mostNews) // none of it is for the one that comes
	if r.ended {
		m.sub.end()
	} else {
		r.subs = append(r.subs, m.sub)
	}
	r.tally()
	reply(m.reply, nil)
}

func (r *router) onUnsubscribe(m unsubscribe) {
	defer r.take(m) // also when handing on panics
	r.handOn(mostNews)
}

func (r *router) take(m unsubscribe) {
	for i, s := range r.subs {
		if s == m.sub {
			r.subs = append(r.subs[:i:i], r.subs[i+1:]...)
			s.end()
			break
		}
	}
	r.tally()
	reply(m.reply, nil)
}

func (r *router) onEndAll(m endAll) {
	defer r.closeAll(m) // also when handing on panics
	r.handOn(mostNews)
}

func (r *router) closeAll(m endAll) {
	for _, s := range r.subs {
		s.end()
	}
	r.subs, r.ended = nil, true
	r.tally()
	reply(m.reply, nil)
}

func (r *router) tally() {
	var all Kind
	for _, s := range r.subs {
		all |= s.kinds
	}
	r.wanted.Store(uint32(all))
}

// Subscription is a stream of the host's events, in order. A reader that is too
// slow loses events, never holds up the host; how many is counted.
type Subscription struct {
	// C gives the events. It is closed by Close and by the host's shutdown.
	C <-chan Event

	kinds   Kind
	queue   chan Event
	dropped atomic.Uint64
	// closing is Close's once, ending the channel's.
	closing, ending sync.Once
	err             error
	close           func(*Subscription)
}

// DefaultEventQueue is how many events wait for a slow subscriber when it does
// not say.
const DefaultEventQueue = 8192

// Dropped is how many events the subscription lost because its queue was full.
func (s *Subscription) Dropped() uint64 { return s.dropped.Load() }

// Err is why there was nothing to subscribe to, C being closed from the beginning: the
// host's own code failed. Nil for all others, also after Close and the host's shutdown.
func (s *Subscription) Err() error { return s.err }

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() { s.closing.Do(func() { s.close(s) }) }

// offer gives it those of a list that it wants; all counts the list by kind, and lost
// what was lost behind it.
func (s *Subscription) offer(list []Event, all, lost *perKind) {
	dropped := lost.of(s.kinds)
	if len(s.queue) == cap(s.queue) {
		dropped, list = dropped+all.of(s.kinds), nil // one that is stuck takes next to no time
	}
	for _, e := range list {
		if s.kinds&e.Kind() == 0 {
			continue
		}
		select {
		case s.queue <- e:
		default:
			dropped++
		}
	}
	if dropped > 0 {
		s.dropped.Add(dropped)
	}
}

func (s *Subscription) end() { s.ending.Do(func() { close(s.queue) }) }

// Subscribe gives the events of the kinds from now on; what was published before
// it returns is not among them. queue is how many events may wait for the reader;
// 0 means DefaultEventQueue. After shutdown the subscription is closed at once; if it
// fails otherwise, Err says how.
func (h *Host) Subscribe(kinds Kind, queue int) *Subscription {
	if queue <= 0 {
		queue = DefaultEventQueue
	}
	c := make(chan Event, queue)
	sub := &Subscription{C: c, queue: c, kinds: kinds, close: h.unsubscribe}
	if err := h.askRouter(func(reply chan<- error) any { return subscribe{sub, reply} }); err != nil {
		return h.neverSubscribed(sub, err)
	}
	return sub
}

// neverSubscribed is a subscription in the place of one that came to nothing, of which
// the router may have got hold all the same.
func (h *Host) neverSubscribed(sub *Subscription, err error) *Subscription {
	h.router.tell(unsubscribe{sub: sub})
	c := make(chan Event)
	close(c)
	none := &Subscription{C: c, queue: c, kinds: sub.kinds, close: func(*Subscription) {}}
	if !errors.Is(err, ErrShutdown) {
		none.err = err
	}
	return none
}

func (h *Host) unsubscribe(sub *Subscription) {
	_ = h.askRouter(func(reply chan<- error) any { return unsubscribe{sub, reply} }) // it is logged, and sub is closed
}

// askRouter asks the router and waits for its answer; ErrShutdown where it has ended.
func (h *Host) askRouter(build func(chan<- error) any) error {
	err, gone := ask(context.Background(), h.router, build)
	if gone != nil {
		return ErrShutdown
	}
	return err
}

// wants tells whether anybody hears events of the kinds, the log included.
func (h *Host) wants(kinds Kind) bool {
	return (Kind(h.wanted.Load())|h.logEvents)&kinds != 0
}

// publish hands an event to whoever wants its kind, and to the log.
func (h *Host) publish(e Event) {
	if Kind(h.wanted.Load())&e.Kind() != 0 {
		h.news.add(e)
	}
	if h.logEvents&e.Kind() != 0 {
		e.Log(h.log)
	}
}
