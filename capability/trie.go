package capability

import "hash/maphash"

// A trie's branches have fan children each, told apart by width bits of the
// key's hash. Sixteen keeps what a change copies small: some five branches for
// 100,000 keys.
const (
	width = 4
	fan   = 1 << width
)

// trie finds the entry of a key. It is persistent: with and without return a new
// trie, which shares with the old one all but the branches on the way to the key.
// A trie is never changed, so that any number of goroutines may read it.
//
// It is here because every call looks up its key: a B-tree of 100,000 strings
// compares some seventeen of them on the way down, most of them out of cache.
type trie struct {
	root *branch
	hash func(Key) uint64
}

type branch [fan]child

// child is a branch, or an entry, or nothing.
type child struct {
	branch *branch
	entry  *entry
}

func newTrie() trie {
	seed := maphash.MakeSeed()
	return trie{root: &branch{}, hash: func(k Key) uint64 { return maphash.String(seed, string(k)) }}
}

// get returns the entry of a key, or nil.
func (t trie) get(key Key) *entry {
	hash := t.hash(key)
	b := t.root
	for rest := hash; ; rest >>= width {
		c := &b[rest%fan]
		if c.branch == nil {
			return c.entry.find(key)
		}
		b = c.branch
	}
}

// with returns the trie with e in the place of the entry of e's key.
func (t trie) with(e *entry) trie {
	e.hash = t.hash(e.key)
	t.root = t.root.with(e, 0)
	return t
}

// without returns the trie without the key.
func (t trie) without(key Key) trie {
	if t.root = t.root.without(key, t.hash(key)); t.root == nil {
		t.root = &branch{}
	}
	return t
}

// each calls visit with every entry, in no order.
func (t trie) each(visit func(*entry)) { t.root.each(visit) }

func (b *branch) with(e *entry, depth int) *branch {
	next := *b
	c := &next[e.hash>>(depth*width)%fan]
	switch {
	case c.branch != nil:
		c.branch = c.branch.with(e, depth+1)
	case c.entry == nil || c.entry.hash == e.hash:
		e.twin = c.entry.drop(e.key)
		c.entry = e
	default: // two keys share the hash so far: a branch tells them apart
		var deeper branch
		deeper[c.entry.hash>>((depth+1)*width)%fan].entry = c.entry
		*c = child{branch: deeper.with(e, depth+1)}
	}
	return &next
}

// without returns nil for a branch that has become empty.
func (b *branch) without(key Key, rest uint64) *branch {
	next := *b
	c := &next[rest%fan]
	if c.branch != nil {
		c.branch = c.branch.without(key, rest>>width)
	} else {
		c.entry = c.entry.drop(key)
	}
	if next == (branch{}) {
		return nil
	}
	return &next
}

func (b *branch) each(visit func(*entry)) {
	for i := range b {
		if b[i].branch != nil {
			b[i].branch.each(visit)
		}
		for e := b[i].entry; e != nil; e = e.twin {
			visit(e)
		}
	}
}

// find returns the key's entry among those of one hash, or nil.
func (e *entry) find(key Key) *entry {
	for e != nil && e.key != key {
		e = e.twin
	}
	return e
}

// drop returns those of one hash without the key's entry. Published entries are
// not written to, so those in front of it are copied; two keys of one 64-bit hash
// are so rare that it hardly matters.
func (e *entry) drop(key Key) *entry {
	if e == nil {
		return nil
	}
	if e.key == key {
		return e.twin
	}
	next := *e
	next.twin = e.twin.drop(key)
	return &next
}
