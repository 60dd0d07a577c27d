package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPick_getsToEachDeed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[string]int{}
	for range 100 * weights {
		seen[pick(rng).name]++
	}
	require.Len(t, seen, len(deeds))
	for _, d := range deeds {
		require.InDelta(t, 100*d.weight, seen[d.name], float64(50*d.weight+50), d.name)
	}
}

func TestVictim_isNeverOneThatIsLeftAlone(t *testing.T) {
	k := &soak{flock: []*plugin{{name: "a", spared: true}, {name: "b", rogue: true}, {name: "c"}}}
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	for range 100 {
		seen[k.victim(deed{}, rng).name] = true
		require.Equal(t, "b", k.victim(deed{rogue: true}, rng).name)
	}
	require.Equal(t, map[string]bool{"b": true, "c": true}, seen)
}

// Each deed is done once, one after the other, and the host minds none.
func TestDeeds_eachIsSurvived(t *testing.T) {
	k := startSoak(t, fewest)
	rng := rand.New(rand.NewPCG(1, 1))
	require.Len(t, k.undone(), len(deeds))
	for _, d := range deeds {
		p := k.flock[2]
		require.NoError(t, k.revive(t.Context(), p))
		k.do(d, &torture{k, p, rng})
		require.NoError(t, k.book.verdict(), d.name)
	}
	require.Empty(t, k.undone())
	require.NoError(t, k.calm(t.Context()))
	k.wantUnharmed()
	require.NoError(t, k.book.verdict())
	require.Positive(t, k.book.of("workers", "grandchildren ended"))
	require.Positive(t, k.book.of("workers", "kills"))
}
