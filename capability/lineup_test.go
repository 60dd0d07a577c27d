package capability

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Few and many are two ways to say the same: both are compared with a plain list,
// and so are the lineups that went before.
func TestLineup_isASortedListAndPersistent(t *testing.T) {
	for _, size := range []int{3, maxFew, maxFew + 1, 200} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(size), 3))
			now, want := lineup{}, []*record(nil)
			lines, wants := []lineup{}, [][]*record{}
			for i := range 20 * size {
				o := Owner{fmt.Sprint("p", random.IntN(size)), fmt.Sprint(random.IntN(3))}
				want = slices.DeleteFunc(slices.Clone(want), func(r *record) bool { return r.offer.Owner == o })
				if random.IntN(3) == 0 {
					now = now.without(o)
				} else {
					r := someRecord(random, o, uint64(i))
					now, want = now.with(r), append(want, r)
				}
				slices.SortFunc(want, compare)
				lines, wants = append(lines, now), append(wants, want)
			}
			for i := 0; i < len(lines); i += 1 + len(lines)/60 {
				wantLineup(t, lines[i], wants[i])
			}
		})
	}
}

// someRecord makes a record of an owner; seq tells it from all others.
func someRecord(random *rand.Rand, o Owner, seq uint64) *record {
	standing := random.IntN(len(standings))
	r := &record{
		offer:    Offer{Key: "tool:x", Owner: o, State: standings[standing], Priority: random.IntN(3), Invocable: random.IntN(2) == 0},
		standing: standing, seq: seq, began: at(int64(seq)),
	}
	if r.ready() {
		r.readied = seq
	}
	return r
}

// wantLineup checks all questions that a lineup answers.
func wantLineup(t *testing.T, l lineup, want []*record) {
	t.Helper()
	require.Equal(t, len(want), l.len())
	if len(want) == 0 {
		require.Nil(t, l.first())
		require.Nil(t, l.find(plugin("p0")))
		return
	}
	require.Equal(t, want, slices.Collect(l.all()))
	require.Same(t, want[0], l.first())
	byPlugin := map[string][]*record{}
	for _, r := range want {
		require.Same(t, r, l.find(r.offer.Owner))
		byPlugin[r.offer.Owner.Plugin] = append(byPlugin[r.offer.Owner.Plugin], r)
	}
	require.Equal(t, len(byPlugin) > 1, l.several())
	for name, all := range byPlugin {
		require.Equal(t, len(all) > 1, l.shared(name))
		require.ElementsMatch(t, all, slices.Collect(l.from(plugin(name))))
		later := slices.DeleteFunc(slices.Clone(all), func(r *record) bool { return r.offer.Owner.Instance < "1" })
		require.ElementsMatch(t, later, slices.Collect(l.from(Owner{name, "1"})))
	}
	require.Nil(t, l.find(plugin("nobody")))
	require.False(t, l.shared("nobody"))
}

func TestCompare_order(t *testing.T) {
	tests := []struct {
		name          string
		better, worse record
	}{
		{
			"ready before all else",
			record{seq: 9, readied: 9},
			record{standing: 1, seq: 1, offer: Offer{Invocable: true, Priority: 9}},
		},
		{"degraded before announced", record{standing: 1, seq: 9}, record{standing: 2, seq: 1}},
		{"announced before withdrawn", record{standing: 2, seq: 9}, record{standing: 3, seq: 1}},
		{
			"what can be called before what cannot",
			record{seq: 9, offer: Offer{Invocable: true}},
			record{seq: 1, offer: Offer{Priority: 9}},
		},
		{"the higher priority", record{seq: 9, readied: 9, offer: Offer{Priority: 1}}, record{seq: 1, readied: 1}},
		{"who is ready for longest", record{seq: 9, readied: 10}, record{seq: 1, readied: 11}},
		{"who offered first, while nobody is ready", record{standing: 2, seq: 1}, record{standing: 2, seq: 2}},
		{
			"without a kind: who offered first",
			record{foreign: true, seq: 1, began: at(1), readied: 9},
			record{foreign: true, seq: 2, began: at(2), readied: 3, offer: Offer{Priority: 9}},
		},
		{
			"without a kind, at the same moment: the higher priority",
			record{foreign: true, seq: 2, began: at(1), offer: Offer{Priority: 9}},
			record{foreign: true, seq: 1, began: at(1)},
		},
		{
			"without a kind, at the same moment, with the same priority: who offered first",
			record{foreign: true, seq: 1, began: at(1)},
			record{foreign: true, seq: 2, began: at(1)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Negative(t, compare(&tt.better, &tt.worse))
			require.Positive(t, compare(&tt.worse, &tt.better))
			require.Zero(t, compare(&tt.better, &tt.better))
		})
	}
}
