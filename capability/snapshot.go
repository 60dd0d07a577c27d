package capability

import (
	"cmp"
	"slices"
)

// Snapshot is what was offered at one moment. It never changes, and any number of
// goroutines may read it, without a lock.
type Snapshot struct {
	revision uint64
	keys     trie
}

// entry is what a snapshot knows about one key. It is replaced, not written to.
type entry struct {
	key Key
	// hash and twin belong to the trie.
	hash uint64
	twin *entry
	// touched is the revision at which the key was first offered.
	touched uint64
	line    lineup
	// first is the first of the line, at hand because calls ask for little else.
	first *record
	// alone tells that there is no other to choose; shared, that instances of the
	// first one's plugin may take turns.
	alone, shared bool
}

func newEntry(key Key, touched uint64, line lineup) *entry {
	e := &entry{key: key, touched: touched, line: line, first: line.first(), alone: line.len() == 1}
	e.shared = !e.alone && line.shared(e.first.offer.Owner.Plugin)
	return e
}

// ready tells whether any owner of the key is; nil is a key that nobody offers.
func (e *entry) ready() bool { return e != nil && e.first.ready() }

func (e *entry) descriptor() Descriptor {
	o := &e.first.offer
	return Descriptor{Key: o.Key, State: o.State, Metadata: o.Metadata, UpdatedAt: o.UpdatedAt.UnixMilli()}
}

// Revision counts the changes up to the snapshot. A registry's next snapshot has a
// higher one.
func (s *Snapshot) Revision() uint64 { return s.revision }

// Ready tells whether at least one owner of the key is ready.
func (s *Snapshot) Ready(key Key) bool { return s.keys.get(key).ready() }

// Describe returns the key's descriptor, and false if nobody offers the key.
func (s *Snapshot) Describe(key Key) (Descriptor, bool) {
	e := s.keys.get(key)
	if e == nil {
		return Descriptor{}, false
	}
	return e.descriptor(), true
}

// Get returns the offers of a key, whatever their states, in the order of choice.
// For an event these are its subscribers. It is nil if nobody offers the key.
func (s *Snapshot) Get(key Key) []Offer {
	if e := s.keys.get(key); e != nil {
		return e.appendOffers(nil)
	}
	return nil
}

// List returns a descriptor of every key, withdrawn ones too, in the order in which
// the keys were first offered.
func (s *Snapshot) List() []Descriptor {
	entries := s.entries()
	list := make([]Descriptor, len(entries))
	for i, e := range entries {
		list[i] = e.descriptor()
	}
	return list
}

// Offers returns all offers: the keys in the order of List, the offers of one key
// in the order of choice.
func (s *Snapshot) Offers() []Offer {
	var list []Offer
	for _, e := range s.entries() {
		list = e.appendOffers(list)
	}
	return list
}

// entries returns the entries in the order in which the keys were first offered.
func (s *Snapshot) entries() []*entry {
	var list []*entry
	s.keys.each(func(e *entry) { list = append(list, e) })
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.touched, b.touched) })
	return list
}

func (e *entry) appendOffers(list []Offer) []Offer {
	list = slices.Grow(list, e.line.len())
	for r := range e.line.all() {
		list = append(list, r.offer)
	}
	return list
}
