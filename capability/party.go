package capability

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// party is all who wait for one key and share a fate: the same moment to give up,
// and the same context. They sleep on one channel, and one timer and one callback of
// the context serve them all. If each of 10,000 sleepers had its own timer, and a
// select over it and the context, waking them would cost twice as much.
type party struct {
	key  Key
	fate fate
	// stop ends the timer and the context's callback.
	stop func()
	// size and settled belong to the lock of waits. Whoever sets settled decides
	// how it ends.
	size    int
	settled bool
	// over closes at the end; what the end was is written before.
	over  chan struct{}
	end   end
	ready *Descriptor
}

// readyParty is over before it began.
func readyParty(e *entry) *party {
	d := e.descriptor()
	p := &party{key: e.key, settled: true, over: make(chan struct{}), ready: &d}
	close(p.over)
	return p
}

// fate is what makes two who wait for the same key give up together.
type fate struct {
	// tick is the moment, counted from the first wait ever.
	tick int64
	// done is the channel of the context that the party watches, or nil.
	done <-chan struct{}
}

// end is how a party ended.
type end int

const (
	cameReady end = iota
	timedOut
	abandoned
	closed
)

// waits holds all who wait.
type waits struct {
	mu sync.Mutex
	// size counts those who wait, and the watches.
	size  int
	rooms map[Key]*room
	// epoch is when the first wait began.
	epoch time.Time
	// isClosed tells that nobody waits any more.
	isClosed bool
}

// room holds those who wait for one key.
type room struct {
	// home is the channel of the context of the first who came. Parties watch this
	// one and no other: usually the others have the same, and a callback for each
	// of many would cost more than it saves.
	home    <-chan struct{}
	parties map[fate]*party
}

// join puts one more into the party of its fate. The caller holds the lock.
func (ws *waits) join(ctx context.Context, key Key, timeout time.Duration) *party {
	now := time.Now()
	if ws.rooms == nil {
		ws.rooms, ws.epoch = make(map[Key]*room), now
	}
	at := ws.rooms[key]
	if at == nil {
		at = &room{home: ctx.Done(), parties: make(map[fate]*party)}
		ws.rooms[key] = at
	}
	since := now.Sub(ws.epoch)
	f := fate{tick: int64((since + timeout + tick - 1) / tick)}
	if at.home == ctx.Done() {
		f.done = at.home
	}
	p := at.parties[f]
	if p == nil {
		p = &party{key: key, fate: f, over: make(chan struct{})}
		at.parties[f] = p
		ws.limit(ctx, p, time.Duration(f.tick)*tick-since)
	}
	p.size++
	ws.size++
	return p
}

// limit makes a party give up after some time, or with its context.
func (ws *waits) limit(ctx context.Context, p *party, after time.Duration) {
	timer := time.AfterFunc(after, func() { ws.settle(p, timedOut) })
	p.stop = func() { timer.Stop() }
	if p.fate.done != nil {
		free := context.AfterFunc(ctx, func() { ws.settle(p, abandoned) })
		p.stop = func() { timer.Stop(); free() }
	}
}

// close takes a party out, unless it is out. The caller holds the lock.
func (ws *waits) close(p *party) bool {
	if p.settled {
		return false
	}
	p.settled = true
	ws.size -= p.size
	at := ws.rooms[p.key]
	if delete(at.parties, p.fate); len(at.parties) == 0 {
		delete(ws.rooms, p.key)
	}
	return true
}

// settle ends a party that gives up.
func (ws *waits) settle(p *party, how end) {
	ws.mu.Lock()
	mine := ws.close(p)
	ws.mu.Unlock()
	if mine {
		p.finish(how)
	}
}

// finish tells all of a party how it ended. Only who settled it may.
func (p *party) finish(how end) {
	p.stop()
	p.end = how
	close(p.over)
}

// leave takes one out of a party that may not be over yet.
func (ws *waits) leave(p *party) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	switch {
	case p.settled:
	case p.size > 1:
		p.size--
		ws.size--
	default:
		ws.close(p)
		p.stop()
	}
}

// wake ends the waits for a key that is ready.
func (ws *waits) wake(key Key, ready Descriptor) {
	for _, p := range ws.empty(key) {
		p.ready = &ready
		p.finish(cameReady)
	}
}

// empty takes out all who wait for a key.
func (ws *waits) empty(key Key) map[fate]*party {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	at := ws.rooms[key]
	if at == nil {
		return nil
	}
	delete(ws.rooms, key)
	for _, p := range at.parties {
		p.settled = true
		ws.size -= p.size
	}
	return at.parties
}

// closeAll ends all waits for good.
func (ws *waits) closeAll() {
	ws.mu.Lock()
	ws.isClosed = true
	keys := slices.Collect(maps.Keys(ws.rooms))
	ws.mu.Unlock()
	for _, key := range keys {
		for _, p := range ws.empty(key) {
			p.finish(closed)
		}
	}
}

// reserve counts one watch more, or fewer, among those who wait.
func (ws *waits) reserve(n, limit int) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if n > 0 && ws.size >= limit {
		return false
	}
	ws.size += n
	return true
}
