package capability

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// triesUnderTest have hashes that are good, that share long prefixes, and that are
// all the same, so that all ways through the trie are gone.
var triesUnderTest = map[string]func() trie{
	"as it is": newTrie,
	"alike to the last digits": func() trie {
		return trie{root: &branch{}, hash: func(k Key) uint64 { return uint64(len(k))<<60 | uint64(k[len(k)-1])<<52 }}
	},
	"three hashes in all": func() trie {
		return trie{root: &branch{}, hash: func(k Key) uint64 { return uint64(k[len(k)-1]) % 3 }}
	},
}

func TestTrie_isAMapAndPersistent(t *testing.T) {
	type moment struct {
		trie trie
		want map[Key]uint64
	}
	for name, empty := range triesUnderTest {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			now, want := empty(), map[Key]uint64{}
			var past []moment
			for i := range uint64(3000) {
				key := Key(fmt.Sprintf("key-%d", random.IntN(200)))
				if random.IntN(3) == 0 {
					now = now.without(key)
					delete(want, key)
				} else {
					now = now.with(&entry{key: key, touched: i})
					want[key] = i
				}
				if i%100 == 0 {
					past = append(past, moment{now, maps.Clone(want)})
				}
			}
			for _, m := range append(past, moment{now, want}) {
				require.Equal(t, m.want, contents(m.trie))
				for key := range 200 {
					key := Key(fmt.Sprintf("key-%d", key))
					e := m.trie.get(key)
					touched, there := m.want[key]
					require.Equal(t, there, e != nil)
					require.True(t, e == nil || e.touched == touched && e.key == key)
				}
			}
		})
	}
}

func TestTrie_isEmptyAfterTheLast(t *testing.T) {
	for name, empty := range triesUnderTest {
		t.Run(name, func(t *testing.T) {
			tr := empty()
			for i := range 100 {
				tr = tr.with(&entry{key: Key(fmt.Sprintf("key-%d", i))})
			}
			for i := range 100 {
				tr = tr.without(Key(fmt.Sprintf("key-%d", i)))
			}
			require.Equal(t, branch{}, *tr.root)
			require.Nil(t, tr.without("key-0").get("key-0"))
		})
	}
}

// contents collects what a trie holds.
func contents(tr trie) map[Key]uint64 {
	all := map[Key]uint64{}
	tr.each(func(e *entry) { all[e.key] = e.touched })
	return all
}
