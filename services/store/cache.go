package store

import (
	"container/list"
	"encoding/json"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/airi-host/airi-host/services"
)

// entryCost is about what an entry takes beside its key and value, in bytes.
const entryCost = 256

// cache keeps what was read or written last, that a key has no value too. What is
// written goes through: the writer puts it here once it is committed.
type cache struct {
	limit   int // bytes; not above 0 keeps nothing
	evicted *atomic.Int64
	seed    maphash.Seed

	mu      sync.Mutex
	bytes   int
	entries map[services.StateKey]*list.Element // of *entry
	used    *list.List                          // the last used first
	// writes count the writes of keys with one hash. Whoever read the database before
	// a write was committed sees by it that the value is old.
	writes [256]uint32
}

type entry struct {
	key   services.StateKey
	value json.RawMessage
}

func (e *entry) cost() int { return keySize(e.key) + len(e.value) + entryCost }

func newCache(limit int, evicted *atomic.Int64) *cache {
	return &cache{
		limit: limit, evicted: evicted, seed: maphash.MakeSeed(),
		entries: map[services.StateKey]*list.Element{}, used: list.New(),
	}
}

// get returns a value; if it is not known, the moment before which it has to be put.
func (c *cache) get(key services.StateKey) (value json.RawMessage, known bool, moment uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return nil, false, c.writes[c.slot(key)]
	}
	c.used.MoveToFront(e)
	return e.Value.(*entry).value, true, 0
}

// put keeps what was read, unless a write has come since.
func (c *cache) put(key services.StateKey, value json.RawMessage, moment uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes[c.slot(key)] == moment {
		c.keep(key, value)
	}
}

// write keeps what was committed.
func (c *cache) write(key services.StateKey, value json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes[c.slot(key)]++
	c.keep(key, value)
}

// forget drops what goes, and all that is being read.
func (c *cache) forget(goes func(services.StateKey) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.writes {
		c.writes[i]++
	}
	for key, e := range c.entries {
		if goes(key) {
			c.drop(e)
		}
	}
}

func (c *cache) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *cache) slot(key services.StateKey) uint8 { return uint8(maphash.Comparable(c.seed, key)) }

func (c *cache) keep(key services.StateKey, value json.RawMessage) {
	if e := c.entries[key]; e != nil {
		c.drop(e)
	}
	one := &entry{key, value}
	if one.cost() > c.limit/8 {
		return // it would push out too much
	}
	c.entries[key] = c.used.PushFront(one)
	for c.bytes += one.cost(); c.bytes > c.limit; {
		c.drop(c.used.Back())
		c.evicted.Add(1)
	}
}

func (c *cache) drop(e *list.Element) {
	one := c.used.Remove(e).(*entry)
	delete(c.entries, one.key)
	c.bytes -= one.cost()
}
