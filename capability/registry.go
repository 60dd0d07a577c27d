package capability

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
)

// The limits when [Options] say nothing.
const (
	// DefaultMaxOffers is how many keys one owner may offer.
	DefaultMaxOffers = 4096
	// DefaultMaxWaiters is how many may wait for capabilities at a time.
	DefaultMaxWaiters = 1 << 20
)

// withdrawn is short for the state that the registry treats unlike the others.
const withdrawn = lifecycle.CapWithdrawn

// events are what an owner says by putting its offer into a state.
var events = map[lifecycle.State]lifecycle.Event{
	lifecycle.CapAnnounced: lifecycle.CapAnnounce,
	lifecycle.CapReady:     lifecycle.CapMarkReady,
	lifecycle.CapDegraded:  lifecycle.CapMarkDegraded,
	lifecycle.CapWithdrawn: lifecycle.CapWithdraw,
}

// Options are a registry's limits. The zero value works.
type Options struct {
	// MaxOffers is how many keys one owner may offer, withdrawn ones included;
	// 0 stands for DefaultMaxOffers. The answer to more is an *OfferLimitError.
	MaxOffers int
	// MaxWaiters is how many waits (one for each key) and watches there may be at
	// a time; 0 stands for DefaultMaxWaiters. The answer to more is a
	// *WaitLimitError.
	MaxWaiters int
}

// Registry holds what is offered, and by whom. Make one with [New].
//
// One goroutine at a time changes it and calls Watch; any number may call Snapshot,
// Wait and WaitAll meanwhile. Each change publishes a new [Snapshot] first, then
// wakes who waits, then tells the watches, and then returns what changed, so that
// whatever is told about a change finds it in the snapshot.
type Registry struct {
	opts     Options
	snapshot atomic.Pointer[Snapshot]
	// held lists the keys of each owner, in the order in which it offered them.
	// It belongs to the writer.
	held    map[Owner][]Key
	waits   waits
	watches watches
}

// New returns an empty registry.
func New(opts Options) *Registry {
	if opts.MaxOffers <= 0 {
		opts.MaxOffers = DefaultMaxOffers
	}
	if opts.MaxWaiters <= 0 {
		opts.MaxWaiters = DefaultMaxWaiters
	}
	r := &Registry{opts: opts, held: make(map[Owner][]Key), watches: make(watches)}
	r.snapshot.Store(&Snapshot{keys: newTrie()})
	return r
}

// Snapshot returns what is offered now. It costs one atomic load.
func (r *Registry) Snapshot() *Snapshot { return r.snapshot.Load() }

// Announce says that the host is going to offer a key. It returns the key's
// descriptor. Metadata that is nil leaves the old as it is. The host's own offers
// take any state after any other, and a key that is not known is created, as in the
// reference host. The same goes for Ready, Degrade and Withdraw.
func (r *Registry) Announce(now time.Time, key Key, metadata json.RawMessage) (Descriptor, []Change, error) {
	return r.own(now, key, lifecycle.CapAnnounced, metadata)
}

// Ready says that the host serves a key. Whoever waits for the key goes on.
func (r *Registry) Ready(now time.Time, key Key, metadata json.RawMessage) (Descriptor, []Change, error) {
	return r.own(now, key, lifecycle.CapReady, metadata)
}

// Degrade says that the host cannot serve a key at the moment.
func (r *Registry) Degrade(now time.Time, key Key, metadata json.RawMessage) (Descriptor, []Change, error) {
	return r.own(now, key, lifecycle.CapDegraded, metadata)
}

// Withdraw says that the host does not offer a key any more. The key stays listed.
func (r *Registry) Withdraw(now time.Time, key Key, metadata json.RawMessage) (Descriptor, []Change, error) {
	return r.own(now, key, lifecycle.CapWithdrawn, metadata)
}

// own puts an offer of the host's own into a state.
func (r *Registry) own(now time.Time, key Key, to lifecycle.State, metadata json.RawMessage) (Descriptor, []Change, error) {
	if err := key.Validate(); err != nil {
		return Descriptor{}, nil, err
	}
	if err := validateJSON("metadata", metadata); err != nil {
		return Descriptor{}, nil, fmt.Errorf("capability %s: %w", key, err)
	}
	if err := r.room(HostOwner, key, 0); err != nil {
		return Descriptor{}, nil, err
	}
	d := r.draft(now)
	old := d.find(HostOwner, key)
	next := Offer{Key: key, Owner: HostOwner}
	if old != nil {
		next = old.offer
	}
	if len(metadata) > 0 {
		next.Metadata = metadata
	}
	next.State = to
	d.put(old, next)
	changes := d.publish()
	descriptor, _ := r.Snapshot().Describe(key)
	return descriptor, changes, nil
}

// Offer adds a plugin's offers, or replaces what the same owner says about the same
// keys. A new offer begins announced, and so does one that was withdrawn; another
// stays in the state that it is in. It is all or nothing: if an offer is not valid
// or is above the limit, none is taken.
func (r *Registry) Offer(now time.Time, offers ...Offer) ([]Change, error) {
	if err := r.admit(offers); err != nil {
		return nil, err
	}
	d := r.draft(now)
	for _, next := range offers {
		old := d.find(next.Owner, next.Key)
		next.State, next.Reason = lifecycle.CapAnnounced, ""
		if old != nil && old.offer.State != withdrawn {
			next.State, next.Reason = old.offer.State, old.offer.Reason
		}
		d.put(old, next)
	}
	return d.publish(), nil
}

// admit finds the first offer that cannot be taken.
func (r *Registry) admit(offers []Offer) error {
	type place struct {
		owner Owner
		key   Key
	}
	fresh, counts := make(map[place]bool), make(map[Owner]int)
	for i := range offers {
		o := &offers[i]
		if err := o.validate(); err != nil {
			return err
		}
		if fresh[place{o.Owner, o.Key}] {
			continue // it replaces one of the same call
		}
		if err := r.room(o.Owner, o.Key, counts[o.Owner]); err != nil {
			return err
		}
		if r.Snapshot().find(o.Owner, o.Key) == nil {
			fresh[place{o.Owner, o.Key}] = true
			counts[o.Owner]++
		}
	}
	return nil
}

// room refuses a new key that would be one too many, coming after others that are to
// be taken as well.
func (r *Registry) room(o Owner, key Key, others int) error {
	if len(r.held[o])+others >= r.opts.MaxOffers && r.Snapshot().find(o, key) == nil {
		return &OfferLimitError{Owner: o, Key: key, Limit: r.opts.MaxOffers}
	}
	return nil
}

// SetState puts one offer of a plugin into a state, with the reason for people. It
// fails with a [*NotFoundError], or with a [*lifecycle.IllegalError] if the offer
// cannot go there: what was withdrawn has to be announced again before it can be
// ready or degraded. State and reason that are as they were are no change.
func (r *Registry) SetState(now time.Time, o Owner, key Key, to lifecycle.State, reason string) ([]Change, error) {
	d := r.draft(now)
	old := d.find(o, key)
	if old == nil || o == HostOwner {
		return nil, &NotFoundError{Key: key, Plugin: o.Plugin, Instance: o.Instance}
	}
	if err := move(old, to); err != nil {
		return nil, err
	}
	d.move(old, to, reason)
	return d.publish(), nil
}

// SetOwner puts all offers of a plugin into a state, in one step. Offers that were
// withdrawn stay so: to bring one back is its owner's business, by Offer. An owner
// that offers nothing has no changes. It fails with a [*lifecycle.IllegalError],
// and changes nothing, if an offer cannot go there.
func (r *Registry) SetOwner(now time.Time, o Owner, to lifecycle.State, reason string) ([]Change, error) {
	records := r.records(o)
	for _, old := range records {
		if err := move(old, to); err != nil {
			return nil, err
		}
	}
	d := r.draft(now)
	for _, old := range records {
		d.move(old, to, reason)
	}
	return d.publish(), nil
}

// records returns the offers of a plugin that are not withdrawn, in the order in
// which it offered them.
func (r *Registry) records(o Owner) []*record {
	if o == HostOwner {
		return nil
	}
	var list []*record
	for _, key := range r.held[o] {
		if rec := r.Snapshot().find(o, key); rec.offer.State != withdrawn {
			list = append(list, rec)
		}
	}
	return list
}

// move asks the table whether an offer can go into a state.
func move(old *record, to lifecycle.State) error {
	if lifecycle.Capability.Can(old.offer.State, events[to]) {
		return nil
	}
	_, err := lifecycle.Capability.Move(fmt.Sprintf("%s of %s", old.offer.Key, old.offer.Owner), old.offer.State, to)
	return err
}

// Remove takes offers of a plugin out of the registry, whatever their states: those
// of the given keys, or all when there are none. A key that nobody offers any more
// is not listed.
func (r *Registry) Remove(now time.Time, o Owner, keys ...Key) []Change {
	if o == HostOwner {
		return nil
	}
	if len(keys) == 0 {
		keys = r.held[o]
	}
	d := r.draft(now)
	gone := make(map[Key]bool, len(keys))
	for _, key := range keys {
		if old := d.find(o, key); old != nil {
			d.drop(old)
			gone[key] = true
		}
	}
	r.release(o, gone)
	return d.publish()
}

// release forgets that an owner holds these keys.
func (r *Registry) release(o Owner, gone map[Key]bool) {
	kept := slices.DeleteFunc(r.held[o], func(key Key) bool { return gone[key] })
	if len(kept) == 0 {
		delete(r.held, o)
	} else {
		r.held[o] = kept
	}
}
