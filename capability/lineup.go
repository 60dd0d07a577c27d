package capability

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"

	"github.com/airi-host/airi-host/lifecycle"
)

// maxFew is up to how many offers of one key are kept as a sorted slice. Nearly all
// keys have one or two; with more than this many, trees are cheaper to change.
const maxFew = 16

// standings are the states from best to worst.
var standings = [...]lifecycle.State{
	lifecycle.CapReady, lifecycle.CapDegraded, lifecycle.CapAnnounced, lifecycle.CapWithdrawn,
}

// record is an offer and its place among the others of its key. It is never written
// to once it is in a lineup.
type record struct {
	offer Offer
	// standing is the offer's state as an index of standings.
	standing int
	// foreign marks a key without a kind: the first to offer it goes first.
	foreign bool
	// seq and began are the revision and the time at which it was offered.
	seq   uint64
	began time.Time
	// readied is the revision at which it became ready, and 0 while it is not.
	readied uint64
	// turn is shared by all instances of one plugin that offer the key.
	turn *turn
}

// turn remembers which instance of a plugin was chosen last. It is the one thing in
// a snapshot that changes, and it decides only between equals.
type turn struct{ instance atomic.Pointer[string] }

func (r *record) ready() bool { return r.standing == 0 }

// compare orders the offers of one key by choice: the best state first, what can be
// called before what cannot, then as the kind has it. Revisions tell all apart.
func compare(a, b *record) int {
	if c := cmp.Compare(a.standing, b.standing); c != 0 {
		return c
	}
	if a.offer.Invocable != b.offer.Invocable {
		if a.offer.Invocable {
			return -1
		}
		return 1
	}
	priority := cmp.Compare(b.offer.Priority, a.offer.Priority)
	if a.foreign {
		return cmp.Or(a.began.Compare(b.began), priority, cmp.Compare(a.seq, b.seq))
	}
	return cmp.Or(priority, cmp.Compare(a.readied, b.readied), cmp.Compare(a.seq, b.seq))
}

// equals tells that only the turn decides between two instances of a plugin.
func equals(a, b *record) bool {
	return a.standing == b.standing && a.offer.Invocable == b.offer.Invocable && a.offer.Priority == b.offer.Priority
}

func compareOwners(a, b Owner) int {
	return cmp.Or(strings.Compare(a.Plugin, b.Plugin), strings.Compare(a.Instance, b.Instance))
}

// lineup holds the offers of one key, one an owner, in the order of choice. It is
// persistent: with and without return a new one and leave the old one as it is.
type lineup struct {
	few  []*record
	many *crowd // in the place of few, once there were more than maxFew
}

// crowd is a lineup that is too long for a slice.
type crowd struct {
	ranked *btree.BTreeG[*record] // by choice
	owned  *btree.BTreeG[*record] // by owner
}

func newCrowd(few []*record) *crowd {
	options := btree.Options{Degree: 8, NoLocks: true}
	c := &crowd{
		ranked: btree.NewBTreeGOptions(func(a, b *record) bool { return compare(a, b) < 0 }, options),
		owned: btree.NewBTreeGOptions(func(a, b *record) bool {
			return compareOwners(a.offer.Owner, b.offer.Owner) < 0
		}, options),
	}
	for _, r := range few {
		c.ranked.Set(r)
		c.owned.Set(r)
	}
	return c
}

// copied returns a crowd to be changed, sharing all nodes until they are. The trees
// it copies get a new owner's mark each, which is nothing that their readers read.
func (c *crowd) copied() *crowd { return &crowd{ranked: c.ranked.Copy(), owned: c.owned.Copy()} }

func (l lineup) len() int {
	if l.many != nil {
		return l.many.ranked.Len()
	}
	return len(l.few)
}

// first returns the offer that goes before all others, or nil.
func (l lineup) first() *record {
	if l.many != nil {
		r, _ := l.many.ranked.Min()
		return r
	}
	if len(l.few) == 0 {
		return nil
	}
	return l.few[0]
}

// all yields the offers in the order of choice.
func (l lineup) all() iter.Seq[*record] {
	if l.many != nil {
		return l.many.ranked.Scan
	}
	return slices.Values(l.few)
}

// find returns an owner's offer, or nil.
func (l lineup) find(o Owner) *record {
	if l.many != nil {
		r, _ := l.many.owned.Get(pivot(o))
		return r
	}
	for _, r := range l.few {
		if r.offer.Owner == o {
			return r
		}
	}
	return nil
}

// from yields a plugin's offers from an instance on: in the order of the instances
// if there are many, in no order if there are few.
func (l lineup) from(o Owner) iter.Seq[*record] {
	return func(yield func(*record) bool) {
		if l.many != nil {
			l.many.owned.Ascend(pivot(o), func(r *record) bool {
				return r.offer.Owner.Plugin == o.Plugin && yield(r)
			})
			return
		}
		for _, r := range l.few {
			if at := r.offer.Owner; at.Plugin == o.Plugin && at.Instance >= o.Instance && !yield(r) {
				return
			}
		}
	}
}

// several tells whether more than one plugin is in the lineup, in any state.
func (l lineup) several() bool {
	if l.many != nil {
		a, _ := l.many.owned.Min()
		b, _ := l.many.owned.Max()
		return a.offer.Owner.Plugin != b.offer.Owner.Plugin
	}
	return slices.ContainsFunc(l.few, func(r *record) bool { return r.offer.Owner.Plugin != l.few[0].offer.Owner.Plugin })
}

// with returns the lineup with r in the place of its owner's offer.
func (l lineup) with(r *record) lineup {
	if l.many == nil {
		few := append(l.others(r.offer.Owner), r)
		if len(few) <= maxFew {
			slices.SortFunc(few, compare)
			return lineup{few: few}
		}
		return lineup{many: newCrowd(few)}
	}
	many := l.many.copied()
	if old, replaced := many.owned.Set(r); replaced {
		many.ranked.Delete(old)
	}
	many.ranked.Set(r)
	return lineup{many: many}
}

// without returns the lineup without an owner's offer.
func (l lineup) without(o Owner) lineup {
	if l.many == nil {
		return lineup{few: l.others(o)}
	}
	many := l.many.copied()
	if old, removed := many.owned.Delete(pivot(o)); removed {
		many.ranked.Delete(old)
	}
	return lineup{many: many}
}

// others copies the few without an owner's offer, with room for one.
func (l lineup) others(o Owner) []*record {
	few := make([]*record, 0, len(l.few)+1)
	for _, r := range l.few {
		if r.offer.Owner != o {
			few = append(few, r)
		}
	}
	return few
}

// pivot stands for an owner's offer in a search.
func pivot(o Owner) *record { return &record{offer: Offer{Owner: o}} }
