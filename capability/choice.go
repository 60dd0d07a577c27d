package capability

import "slices"

// maxNamed is how many plugins an AmbiguousError names.
const maxNamed = 8

// Filter narrows a choice to a plugin, to an instance, or to both; "" admits all.
type Filter struct {
	Plugin, Instance string
}

// Choose picks who serves the key: of those that are ready, the one with the highest
// priority; among equals the one that has been ready for longest, so that a choice
// stays while its owner is ready. For a key without a kind it is the first to offer
// it, priority deciding between offers of the same moment. What can be called goes
// before what can only be awaited. Instances of one plugin that are equals take
// turns. (Nobody is chosen to hear an event: Get lists all who do.)
//
// It fails with a [*NotFoundError], a [*NotReadyError], or, for the kinds where that
// is no question of rank, an [*AmbiguousError] when more than one plugin has not
// withdrawn its offer and the filter names no plugin.
func (s *Snapshot) Choose(key Key, f Filter) (Offer, error) {
	e := s.keys.get(key)
	if e == nil {
		return Offer{}, &NotFoundError{Key: key, Plugin: f.Plugin, Instance: f.Instance}
	}
	r := e.first
	if !e.alone || f != (Filter{}) {
		var err error
		if r, err = e.choose(f); err != nil {
			return Offer{}, err
		}
	}
	if !r.ready() {
		return Offer{}, &NotReadyError{
			Key: key, Owner: r.offer.Owner, State: r.offer.State, Reason: r.offer.Reason, Target: r.offer.Target,
		}
	}
	return r.offer, nil
}

// choose is the choice between several offers, or from those that f admits.
func (e *entry) choose(f Filter) (*record, error) {
	r, shared := e.best(f)
	if r == nil {
		return nil, &NotFoundError{Key: e.key, Plugin: f.Plugin, Instance: f.Instance}
	}
	if f.Plugin == "" && e.ambiguous() {
		if err := e.rivals(); err != nil {
			return nil, err
		}
	}
	if shared && r.ready() {
		r = e.line.rotate(r)
	}
	return r, nil
}

// best returns the first offer, in the order of choice, that the filter admits, and
// whether other instances of its plugin are admitted too.
func (e *entry) best(f Filter) (r *record, shared bool) {
	switch {
	case f.Instance == "" && (f.Plugin == "" || f.Plugin == e.first.offer.Owner.Plugin):
		return e.first, e.shared
	case f.Instance == "":
		return e.line.bestOf(f.Plugin)
	case f.Plugin != "":
		return e.line.find(Owner(f)), false
	default:
		return e.line.instance(f.Instance), false
	}
}

// instance returns the best offer of any plugin's instance of that name, or nil.
func (l lineup) instance(name string) *record {
	for r := range l.all() {
		if r.offer.Owner.Instance == name {
			return r
		}
	}
	return nil
}

// bestOf returns the best offer of a plugin, and whether it has several.
func (l lineup) bestOf(plugin string) (best *record, several bool) {
	for r := range l.from(Owner{Plugin: plugin}) {
		several = best != nil
		if best == nil || compare(r, best) < 0 {
			best = r
		}
	}
	return best, several
}

// ambiguous tells whether several plugins offer a key for which that is an error.
func (e *entry) ambiguous() bool {
	switch e.key.Kind() {
	case KindData, KindJob, KindWebhook, KindHTTP, KindEnvironment:
		return e.line.several()
	default:
		return false
	}
}

// rivals returns the error that lists the plugins whose offers are not withdrawn, or
// nil if it is only one.
func (e *entry) rivals() error {
	err := &AmbiguousError{Key: e.key}
	for r := range e.line.all() {
		plugin := r.offer.Owner.Plugin
		if standings[r.standing] == withdrawn {
			break // the rest is too
		}
		if slices.Contains(err.Plugins, plugin) {
			continue
		}
		if len(err.Plugins) == maxNamed {
			err.More = true
			break
		}
		err.Plugins = append(err.Plugins, plugin)
	}
	if len(err.Plugins) < 2 {
		return nil
	}
	return err
}

// rotate returns the instance of r's plugin whose turn it is among r's equals: the
// one after the last, in the order of their names.
func (l lineup) rotate(r *record) *record {
	for {
		last := r.turn.instance.Load()
		next := l.after(r, last)
		if r.turn.instance.CompareAndSwap(last, &next.offer.Owner.Instance) {
			return next
		}
	}
}

// shared tells whether several instances of the plugin are in the lineup.
func (l lineup) shared(plugin string) bool {
	n := 0
	for range l.from(Owner{Plugin: plugin}) {
		if n++; n > 1 {
			return true
		}
	}
	return false
}

// after returns the first of r's equals behind the last instance, or of all.
func (l lineup) after(r *record, last *string) *record {
	plugin := r.offer.Owner.Plugin
	if last != nil {
		// No name lies between a name and itself followed by a zero byte.
		if next := l.lowest(r, Owner{plugin, *last + "\x00"}); next != nil {
			return next
		}
	}
	return l.lowest(r, Owner{Plugin: plugin})
}

// lowest returns that one of r's equals whose instance is the lowest from an owner
// on, or nil.
func (l lineup) lowest(r *record, from Owner) *record {
	var lowest *record
	for other := range l.from(from) {
		if equals(other, r) && (lowest == nil || compareOwners(other.offer.Owner, lowest.offer.Owner) < 0) {
			lowest = other
			if l.many != nil {
				break // they come in this order
			}
		}
	}
	return lowest
}
