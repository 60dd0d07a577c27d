package capability

import (
	"container/list"
	"slices"
	"sync"
)

// watches finds the needs that a key can meet. It belongs to the writer.
type watches map[Key]*list.List // of *need, in the order of registration

// watch is one caller's interest in requirements.
type watch struct {
	needs  []*need
	notify func(met bool, unmet []Key)
	// open counts the needs that are not met.
	open int
	// told is what notify was told last.
	told      bool
	cancelled bool
}

// need is one requirement of one watch.
type need struct {
	watch *watch
	anyOf []Key
	// ready counts those keys that are.
	ready int
}

// Watch calls notify at once, and then whenever the answer changes: met tells that
// all requirements are met at the same time, unmet lists the keys of those that are
// not. It does so until cancel is called. It is for actors: no goroutine waits.
//
// Watch and cancel are called by the goroutine that changes the registry, and notify
// is called in it, from within the change, after the snapshot was published. It must
// not block, and must not change the registry; it may call Watch and cancel. Watches
// are told in the order of their registration. A change of one key costs only those
// who watch the key.
//
// It fails when a requirement is not valid, and with a [*WaitLimitError].
func (r *Registry) Watch(needs Requirements, notify func(met bool, unmet []Key)) (cancel func(), err error) {
	if err := needs.Validate(); err != nil {
		return nil, err
	}
	if !r.waits.reserve(1, r.opts.MaxWaiters) {
		return nil, &WaitLimitError{Waiting: needs.String(), Limit: r.opts.MaxWaiters}
	}
	w := &watch{notify: notify}
	leave := r.watches.add(w, needs, r.Snapshot())
	w.told = w.open == 0
	notify(w.told, w.unmet())
	return sync.OnceFunc(func() {
		w.cancelled = true
		leave()
		r.waits.reserve(-1, 0)
	}), nil
}

// add enters a watch under all of its keys and counts what is ready. It returns what
// takes it out again.
func (ws watches) add(w *watch, needs Requirements, s *Snapshot) (leave func()) {
	var places []func()
	for i := range needs {
		n := &need{watch: w, anyOf: appendNew(nil, needs[i].AnyOf)}
		w.needs = append(w.needs, n)
		for _, key := range n.anyOf {
			places = append(places, ws.enter(key, n))
			if s.Ready(key) {
				n.ready++
			}
		}
		if n.ready == 0 {
			w.open++
		}
	}
	return func() {
		for _, leave := range places {
			leave()
		}
	}
}

func (ws watches) enter(key Key, n *need) (leave func()) {
	line := ws[key]
	if line == nil {
		line = list.New()
		ws[key] = line
	}
	place := line.PushBack(n)
	return func() {
		if line.Remove(place); line.Len() == 0 && ws[key] == line {
			delete(ws, key)
		}
	}
}

// flip counts the keys that became ready, or are not any more, and then tells those
// watches whose answer is another.
func (ws watches) flip(flips []flip) {
	var touched []*watch
	for _, f := range flips {
		line := ws[f.key]
		if line == nil {
			continue
		}
		touched = slices.Grow(touched, line.Len())
		for place := line.Front(); place != nil; place = place.Next() {
			if n := place.Value.(*need); n.count(f.ready) {
				touched = append(touched, n.watch)
			}
		}
	}
	for _, w := range touched {
		if met := w.open == 0; met != w.told && !w.cancelled {
			w.told = met
			w.notify(met, w.unmet())
		}
	}
}

// count takes a key's news and reports whether the need was met, or is open, by it.
func (n *need) count(ready bool) bool {
	if ready {
		n.ready++
		if n.ready > 1 {
			return false
		}
		n.watch.open--
		return true
	}
	n.ready--
	if n.ready > 0 {
		return false
	}
	n.watch.open++
	return true
}

// unmet lists the keys of the needs that are not met, each once.
func (w *watch) unmet() []Key {
	if w.open == 0 {
		return nil
	}
	var missing []Key
	for _, n := range w.needs {
		if n.ready == 0 {
			missing = appendNew(missing, n.anyOf)
		}
	}
	return missing
}
