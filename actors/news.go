package actors

import (
	"math/bits"
	"sync"
	"time"
)

// news are the events on their way to the router. Whoever publishes only adds one to
// them, however many hear it: it takes no part in handing on, and none in the waking of
// the router but at first.
type news struct {
	// wake makes the router look for what waits.
	wake func()

	mu      sync.Mutex
	waiting []Event
	// lost are the events for which there was no room.
	lost perKind
	// watched tells that the router will look without being woken.
	watched bool
}

// mostNews is how many events wait for the router; what comes then is lost to all.
const mostNews = 8192

// kindBits is how many kinds there may be: the bits of a Kind.
const kindBits = 16

// perKind counts events by kind.
type perKind [kindBits]uint64

func (t *perKind) add(k Kind) { t[bits.TrailingZeros(uint(k))%kindBits]++ }

// of is how many of some kinds there are.
func (t *perKind) of(kinds Kind) (n uint64) {
	for ; kinds != 0; kinds &= kinds - 1 {
		n += t[bits.TrailingZeros(uint(kinds))]
	}
	return n
}

func (n *news) add(e Event) {
	n.mu.Lock()
	if len(n.waiting) < mostNews {
		n.waiting = append(n.waiting, e)
	} else {
		n.lost.add(e.Kind())
	}
	asleep := !n.watched
	n.watched = true
	n.mu.Unlock()
	if asleep {
		n.wake()
	}
}

// take takes out the first events, so many at most, with what was lost behind them once
// these are the last.
func (n *news) take(most int) (list []Event, lost perKind) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if most < len(n.waiting) {
		list, n.waiting = n.waiting[:most:most], n.waiting[most:]
		return list, perKind{}
	}
	list, lost = n.waiting, n.lost
	n.waiting, n.lost = nil, perKind{}
	return list, lost
}

// leave lets the router be woken by the next event, unless some wait already.
func (n *news) leave() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watched = len(n.waiting) > 0
	return !n.watched
}

// pace holds back a router that has much to do, so that those whose events it hands on
// keep the processor: it rests after every long round, and after many short ones.
type pace struct {
	since  time.Time
	rounds int
}

const (
	// longRound is how long a round may take that needs no rest.
	longRound = 50 * time.Microsecond
	// restFactor is how many times longer than the round a rest is, mostRest its end.
	restFactor = 4
	mostRest   = 20 * time.Millisecond
	// mostRounds is how many short rounds there may be within roundsTime.
	mostRounds = 16
	roundsTime = time.Millisecond
	// roundWork is how many events are handed to how many at most in a round, multiplied.
	roundWork = 1 << 16
)

// rest says how long to rest after a round.
func (p *pace) rest(began, ended time.Time) (d time.Duration) {
	if began.Sub(p.since) >= roundsTime {
		p.since, p.rounds = began, 0
	}
	p.rounds++
	if took := ended.Sub(began); took > longRound {
		d = min(restFactor*took, mostRest)
	}
	if p.rounds >= mostRounds {
		d = max(d, roundsTime-ended.Sub(p.since))
	}
	return d
}
