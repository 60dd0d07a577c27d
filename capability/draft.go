package capability

import (
	"slices"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
)

// draft is the next snapshot in the making: the changes of one call, which readers
// see all at once. What may be refused is refused before there is a draft; nothing in
// it fails.
type draft struct {
	Snapshot
	registry *Registry
	now      time.Time
	changes  []Change
	flips    []flip
}

// flip is a key that became ready, or is not ready any more. One call puts all its
// offers into one state, so a key flips once in it at most.
type flip struct {
	key   Key
	ready bool
}

func (r *Registry) draft(now time.Time) *draft {
	return &draft{Snapshot: *r.Snapshot(), registry: r, now: now}
}

// find returns an owner's offer of a key, or nil.
func (s *Snapshot) find(o Owner, key Key) *record {
	if e := s.keys.get(key); e != nil {
		return e.line.find(o)
	}
	return nil
}

// move puts an offer into a state, unless it is there for the same reason.
func (d *draft) move(old *record, to lifecycle.State, reason string) {
	if old.offer.State == to && old.offer.Reason == reason {
		return
	}
	next := old.offer
	next.State, next.Reason = to, reason
	d.put(old, next)
}

// put adds an offer, or replaces an old one of the same owner and key.
func (d *draft) put(old *record, next Offer) {
	d.revision++
	next.Revision, next.UpdatedAt, next.ReadyAt = d.revision, d.now, time.Time{}
	r := &record{
		offer:    next,
		standing: slices.Index(standings[:], next.State),
		foreign:  next.Key.Kind() == "",
		seq:      d.revision,
		began:    d.now,
	}
	if r.ready() {
		r.readied, r.offer.ReadyAt = d.revision, d.now
	}
	e := d.keys.get(next.Key)
	if old == nil {
		held := d.registry.held
		held[next.Owner] = append(held[next.Owner], next.Key)
		r.turn = e.turn(next.Owner.Plugin)
	} else {
		r.follow(old)
	}
	line := lineup{}
	if e != nil {
		line = e.line
	}
	d.replace(e, next.Key, line.with(r))
	d.changes = append(d.changes, Change{Revision: d.revision, Before: old.value(), After: r.value()})
}

// follow keeps what an offer has from the one that it replaces. One that was withdrawn,
// and is not any more, is offered anew.
func (r *record) follow(old *record) {
	r.turn = old.turn
	if old.offer.State != withdrawn || r.offer.State == withdrawn {
		r.seq, r.began = old.seq, old.began
	}
	if r.ready() && old.ready() {
		r.readied, r.offer.ReadyAt = old.readied, old.offer.ReadyAt
	}
}

// turn returns what the instances of a plugin share, or a new one for the first.
func (e *entry) turn(plugin string) *turn {
	if e != nil {
		for r := range e.line.from(Owner{Plugin: plugin}) {
			return r.turn
		}
	}
	return &turn{}
}

// drop takes an offer out. The caller releases the key.
func (d *draft) drop(old *record) {
	d.revision++
	e := d.keys.get(old.offer.Key)
	d.replace(e, old.offer.Key, e.line.without(old.offer.Owner))
	d.changes = append(d.changes, Change{Revision: d.revision, Before: old.value()})
}

// replace gives a key another lineup; old is its entry so far, or nil.
func (d *draft) replace(old *entry, key Key, line lineup) {
	var next *entry
	switch {
	case line.len() == 0:
		d.keys = d.keys.without(key)
	case old == nil:
		next = newEntry(key, d.revision, line)
		d.keys = d.keys.with(next)
	default:
		next = newEntry(key, old.touched, line)
		d.keys = d.keys.with(next)
	}
	if is := next.ready(); is != old.ready() {
		d.flips = append(d.flips, flip{key, is})
	}
}

// value returns the offer of a record that may be nil.
func (r *record) value() *Offer {
	if r == nil {
		return nil
	}
	return &r.offer
}

// publish makes the draft the snapshot and tells of it.
func (d *draft) publish() []Change {
	if len(d.changes) == 0 {
		return nil
	}
	next := d.Snapshot
	d.registry.snapshot.Store(&next)
	for _, f := range d.flips {
		if f.ready {
			d.registry.waits.wake(f.key, next.keys.get(f.key).descriptor())
		}
	}
	d.registry.watches.flip(d.flips)
	return d.changes
}
