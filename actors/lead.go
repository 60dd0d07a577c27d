package actors

import "time"

// Who receives. A peer has a goroutine that reads. But when calls come one after the
// other, waking it for each answer, and the caller by it, costs more than all else: so
// it stands by after an answer that nobody else waits behind, and the next caller
// receives its own. If the answer does not come soon, or nobody calls, the reader goes
// on.

// receiver is who receives at this moment.
type receiver uint8

const (
	// theReader: the peer's own goroutine.
	theReader receiver = iota
	// nobody: the reader stands by, and a caller may.
	nobody
	// aCaller: one who has made a call, and waits for its answer.
	aCaller
)

const (
	// leadTime is how long a caller receives before it leaves that to the reader, twice if
	// the first that comes is something else.
	leadTime = time.Millisecond
	// standByTime is how long the reader stands by without a caller: what the peer
	// says of its own accord may wait for as long.
	standByTime = time.Millisecond
	// afterSlow is for how many answers the reader does not stand by once a caller
	// has waited in vain.
	afterSlow = 32
)

// standBy leaves the next answer to whoever calls next, if one may come soon.
func (p *peer) standBy() {
	if !p.stepsAside() {
		return
	}
	bell := time.NewTimer(standByTime)
	defer bell.Stop()
	for seen := uint64(0); ; {
		select {
		case <-p.resume:
			return
		case <-bell.C:
		}
		var over bool
		if seen, over = p.goesOn(seen); over {
			return
		}
		bell.Reset(standByTime)
	}
}

// stepsAside tells whether the reader does: what has arrived was one answer, nobody
// waits for another one, and nothing has arrived behind it. Several answers at once were
// for callers who go on by themselves, and whose next calls come in no order.
func (p *peer) stepsAside() bool {
	if p.waiter == nil || p.waiter.Ready() {
		return false
	}
	p.lock()
	defer p.unlock()
	answered := p.answered
	p.answered = 0
	if answered != 1 || !p.isQuiet() {
		return false
	}
	if p.patience > 0 {
		p.patience--
		return false
	}
	p.who = nobody
	return true
}

// isQuiet tells that nobody waits for the peer, nor for the host, that it has no route, and
// that nothing has arrived. It is called under the lock, by whoever receives.
func (p *peer) isQuiet() bool {
	return !p.closed && !p.asked && len(p.calls) == 0 && len(p.serving) == 0 && len(p.routes) == 0 && !p.waiter.Ready()
}

// goesOn lets the reader go on if no caller has received since it looked last.
func (p *peer) goesOn(seen uint64) (turns uint64, over bool) {
	p.lock()
	defer p.unlock()
	switch {
	case p.who == theReader: // it was told at the same moment
		<-p.resume
		return p.turns, true
	case p.who == aCaller || p.turns != seen:
		return p.turns, false
	}
	p.who = theReader
	return p.turns, true
}

// takeTurn tells whether the caller is to receive. It is called under the lock.
func (p *peer) takeTurn() bool {
	if p.who != nobody || p.closed {
		return false
	}
	p.who = aCaller
	p.turns++
	return true
}

// lead receives until the call is over, for a short time. The end of the connection
// is left for the reader to meet.
func (p *peer) lead(c *call) {
	var until time.Time // is zero while nothing has come, since it costs to look at the clock
	for left := leadTime; !c.over.Load() && !p.gate.isFull(); {
		record, err := p.waiter.RecvWithin(left)
		if err != nil {
			break
		}
		p.receive(record)
		if c.over.Load() {
			break
		}
		if until.IsZero() {
			until = time.Now().Add(leadTime)
		}
		left = time.Until(until)
	}
	p.giveTurn(c)
}

// giveTurn leaves receiving to the next caller, or to the reader if anybody waits for
// what the peer says.
func (p *peer) giveTurn(c *call) {
	p.lock()
	defer p.unlock()
	answered := p.answered
	p.answered = 0
	if !c.over.Load() {
		p.patience = afterSlow
	} else if answered == 1 && p.isQuiet() {
		p.who = nobody
		return
	}
	p.who = theReader
	p.resume <- struct{}{}
}
