package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// registry is the actor that changes what the host can do: the only writer of
// the capability table, which everybody reads without asking.
//
// It owns the table, who watches it, and who waits for what. The host is its
// parent. It accepts work from sessions and from the host. Its death is the
// host's.
type registry struct {
	host  *Host
	self  *ref
	table *capability.Registry
	// waiters are the plugins with needs, by name; waiting holds, by key, those
	// whose needs are not met now.
	waiters map[string]*waiter
	waiting map[capability.Key]map[*waiter]struct{}
}

// waiter is a plugin that needs something.
type waiter struct {
	session *ref
	plugin  string
	needs   capability.Requirements
	// passed tells that all was there once, so that the plugin waits no more.
	passed bool
	cancel func()
}

// registryWork is something that a session asks of the registry and may want to
// know the end of.
type registryWork interface{ isRegistryWork() }

type (
	// setCapability sets the state of one of the host's own capabilities.
	setCapability struct {
		key      capability.Key
		to       lifecycle.State
		metadata json.RawMessage
		reply    chan<- described
	}
	described struct {
		descriptor capability.Descriptor
		err        error
	}
	// addOffer adds or changes an offer; ready makes it ready at once.
	addOffer struct {
		offer   capability.Offer
		ready   bool
		session *handle
		reply   chan<- error
	}
	// setOffers sets the state of all that an owner offers. With of, only the
	// offers of that session stay: those of an earlier one are withdrawn.
	setOffers struct {
		owner  capability.Owner
		to     lifecycle.State
		reason string
		of     *handle
	}
	// withdrawOffer withdraws one offer with a reason.
	withdrawOffer struct {
		owner  capability.Owner
		key    capability.Key
		reason string
	}
	// dropOffer takes one offer away; reason may be "".
	dropOffer struct {
		owner  capability.Owner
		key    capability.Key
		reason string
		reply  chan<- error
	}
	// dropOffers takes away all that an owner offers.
	dropOffers struct{ owner capability.Owner }
	// watchNeeds tells a session whenever what it needs is there or not.
	watchNeeds struct {
		session *ref
		plugin  string
		needs   capability.Requirements
	}
	// unwatchNeeds ends that.
	unwatchNeeds struct {
		session *ref
		plugin  string
	}
	// tracked is work with something to do when it is done.
	tracked struct {
		work registryWork
		then func()
	}
)

func (setOffers) isRegistryWork()  {}
func (dropOffers) isRegistryWork() {}

func newRegistry(h *Host, self *ref) *registry {
	return &registry{
		host: h, self: self, table: h.caps,
		waiters: map[string]*waiter{}, waiting: map[capability.Key]map[*waiter]struct{}{},
	}
}

func (r *registry) receive(msg any) {
	switch m := msg.(type) {
	case tracked:
		defer m.then() // whatever happens: somebody waits for it
		r.receive(m.work)
	case setCapability:
		r.onSetCapability(m)
	case addOffer:
		r.onAddOffer(m)
	case setOffers:
		r.onSetOffers(m)
	case withdrawOffer:
		r.publish(r.table.SetState(time.Now(), m.owner, m.key, lifecycle.CapWithdrawn, m.reason))
	case dropOffer:
		r.onDropOffer(m)
	case dropOffers:
		r.publish(r.table.Remove(time.Now(), m.owner), nil)
	case watchNeeds:
		r.onWatchNeeds(m)
	case unwatchNeeds:
		r.onUnwatchNeeds(m)
	case probed:
		reply(m.reply, nil)
	default:
		r.host.log.Error("unhandled message", "actor", "registry", "message", fmt.Sprintf("%T", m))
	}
}

func (r *registry) panicked(_ any, err *panicError) error {
	r.host.log.Error("the registry panicked", "error", err, "stack", string(err.stack))
	return failure(protocol.CodeInternal, "", "the registry: "+err.Error())
}

func (r *registry) onSetCapability(m setCapability) {
	now := time.Now()
	set := map[lifecycle.State]func(time.Time, capability.Key, json.RawMessage) (capability.Descriptor, []capability.Change, error){
		lifecycle.CapAnnounced: r.table.Announce,
		lifecycle.CapReady:     r.table.Ready,
		lifecycle.CapDegraded:  r.table.Degrade,
		lifecycle.CapWithdrawn: r.table.Withdraw,
	}[m.to]
	if set == nil {
		reply(m.reply, described{err: fmt.Errorf("a capability cannot be %q: announced, ready, degraded or withdrawn", m.to)})
		return
	}
	d, changes, err := set(now, m.key, m.metadata)
	r.publish(changes, err)
	reply(m.reply, described{d, err})
}

func (r *registry) onAddOffer(m addOffer) {
	now := time.Now()
	changes, err := r.table.Offer(now, m.offer)
	if err == nil && m.ready {
		var more []capability.Change
		more, err = r.table.SetState(now, m.offer.Owner, m.offer.Key, lifecycle.CapReady, "")
		changes = append(changes, more...)
	}
	r.publish(changes, nil)
	if err != nil && !r.holds(m.offer) {
		m.session.self.tell(refusedOffer{string(m.offer.Key)})
	}
	if m.reply != nil {
		reply(m.reply, err)
	} else if err != nil {
		r.host.drop(m.session, "offer", err.Error(), 1)
	}
}

// holds tells whether the owner offers the key, as it says now or otherwise.
func (r *registry) holds(o capability.Offer) bool {
	return slices.ContainsFunc(r.table.Snapshot().Get(o.Key), func(have capability.Offer) bool { return have.Owner == o.Owner })
}

func (r *registry) onSetOffers(m setOffers) {
	if m.of != nil {
		r.withdrawLeft(m.owner, m.of)
	}
	r.publish(r.table.SetOwner(time.Now(), m.owner, m.to, m.reason))
}

// withdrawLeft takes away what an earlier session offered and this one does not.
func (r *registry) withdrawLeft(owner capability.Owner, of *handle) {
	const reason = "it was not offered again after a crash"
	now := time.Now()
	for _, o := range r.host.offersOf(owner) {
		if o.Target != of {
			r.publish(r.table.SetState(now, owner, o.Key, lifecycle.CapWithdrawn, reason))
			r.publish(r.table.Remove(now, owner, o.Key), nil)
		}
	}
}

func (r *registry) onDropOffer(m dropOffer) {
	if m.reason != "" {
		r.publish(r.table.SetState(time.Now(), m.owner, m.key, lifecycle.CapWithdrawn, m.reason))
	}
	r.publish(r.table.Remove(time.Now(), m.owner, m.key), nil)
	reply(m.reply, nil)
}

// publish tells of changes; the snapshot that holds them is there already.
func (r *registry) publish(changes []capability.Change, err error) {
	if err != nil {
		r.host.log.Error("the registry refused a change", "error", err)
	}
	for _, c := range changes {
		e := eventOf(c)
		if e.From != e.To {
			r.host.publish(e)
		}
		r.retell(e.Key)
	}
}

// retell tells those who wait for a key what they wait for now, and why: one of
// several needs may be met, or an owner may have failed.
func (r *registry) retell(key capability.Key) {
	snap := r.table.Snapshot()
	for w := range r.waiting[key] {
		w.session.tell(requirements{unmet: w.needs.Unmet(snap)})
	}
}

// eventOf makes the event of one change; an offer that went is withdrawn.
func eventOf(c capability.Change) CapabilityChanged {
	e := CapabilityChanged{To: lifecycle.CapWithdrawn}
	for _, o := range []*capability.Offer{c.Before, c.After} {
		if o == nil {
			continue
		}
		e.Key, e.Plugin, e.At, e.Reason = o.Key, o.Owner.Plugin, o.UpdatedAt, o.Reason
		if who, ok := o.Target.(*handle); ok {
			e.Session = who.Session
		}
	}
	if c.Before != nil {
		e.From = c.Before.State
	}
	if c.After != nil {
		e.To = c.After.State
	}
	return e
}

func (r *registry) onWatchNeeds(m watchNeeds) {
	w := &waiter{session: m.session, plugin: m.plugin, needs: m.needs}
	r.waiters[m.plugin] = w
	cancel, err := r.table.Watch(m.needs, func(met bool, unmet []capability.Key) {
		w.passed = w.passed || met
		r.await(w, !met)
		m.session.tell(requirements{met, unmet})
	})
	if err != nil {
		m.session.tell(needsRefused{err})
		return
	}
	w.cancel = cancel
	r.tellCycle(m.plugin)
}

// await enters a waiter under the keys of its needs, or takes it out.
func (r *registry) await(w *waiter, waits bool) {
	for _, need := range w.needs {
		for _, key := range need.AnyOf {
			switch {
			case !waits:
				delete(r.waiting[key], w)
				if len(r.waiting[key]) == 0 {
					delete(r.waiting, key)
				}
			case r.waiting[key] == nil:
				r.waiting[key] = map[*waiter]struct{}{w: {}}
			default:
				r.waiting[key][w] = struct{}{}
			}
		}
	}
}

// tellCycle tells all that wait for each other, if the plugin is one of them.
func (r *registry) tellCycle(plugin string) {
	found := r.findCycle(plugin)
	if len(found) == 0 {
		return
	}
	for _, member := range found[1:] { // the first is also the last
		r.waiters[member].session.tell(cycle{keyNames(r.findCycle(member))})
	}
}

func (r *registry) onUnwatchNeeds(m unwatchNeeds) {
	w := r.waiters[m.plugin]
	if w == nil || w.session != m.session {
		return
	}
	delete(r.waiters, m.plugin)
	r.await(w, false)
	if w.cancel != nil {
		w.cancel()
	}
}

// SetCapability sets the state of one of the host's own capabilities: any state
// may follow any other. Nil metadata keeps what there was.
func (h *Host) SetCapability(ctx context.Context, key string, to lifecycle.State, metadata json.RawMessage) (capability.Descriptor, error) {
	if err := h.alive(); err != nil {
		return capability.Descriptor{}, err
	}
	got, err := ask(ctx, h.registry, func(reply chan<- described) any {
		return setCapability{capability.Key(key), to, metadata, reply}
	})
	if err == nil {
		err = got.err
	}
	return got.descriptor, err
}
