package capability

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
)

// The changes are all that another host needs to follow: applied in their order they
// make the same set of offers.
func TestDraft_changesTellEverything(t *testing.T) {
	type place struct {
		owner Owner
		key   Key
	}
	r, random, copied := New(Options{}), rand.New(rand.NewPCG(9, 10)), map[place]Offer{}
	follow := func(changes []Change, err error) {
		require.NoError(t, err)
		for _, c := range changes {
			if c.Before != nil {
				at := place{c.Before.Owner, c.Before.Key}
				require.Equal(t, copied[at], *c.Before)
				delete(copied, at)
			}
			if c.After != nil {
				require.Equal(t, c.Revision, c.After.Revision)
				copied[place{c.After.Owner, c.After.Key}] = *c.After
			}
		}
	}
	for i := range int64(2000) {
		o, key := plugin(fmt.Sprint("p", random.IntN(30))), Key(fmt.Sprint("tool:", random.IntN(4)))
		switch random.IntN(6) {
		case 0:
			follow(r.Remove(at(i), o), nil)
		case 1:
			follow(r.SetOwner(at(i), o, standings[random.IntN(4)], "all"))
		case 2:
			_, changes, err := r.own(at(i), key, standings[random.IntN(4)], nil)
			follow(changes, err)
		default:
			follow(r.Offer(at(i), Offer{Key: key, Owner: o, Priority: random.IntN(3)}))
		}
	}
	all := map[place]Offer{}
	for _, o := range r.Snapshot().Offers() {
		all[place{o.Owner, o.Key}] = o
	}
	require.Equal(t, all, copied)
}

// Readers see the changes of one call all at once or not at all.
func TestDraft_isPublishedAsAWhole(t *testing.T) {
	r, p := New(Options{}), plugin("p")
	keys := []Key{"tool:a", "tool:b"}
	for _, key := range keys {
		offer(t, r, 0, p, key, 0)
	}
	var seen []string
	_, err := r.Watch(Requirements{anyOf(keys[0])}, func(bool, []Key) {
		seen = append(seen, fmt.Sprint(r.Snapshot().Ready(keys[0]), r.Snapshot().Ready(keys[1])))
	})
	require.NoError(t, err)
	for _, to := range []lifecycle.State{ready, degraded} {
		_, err := r.SetOwner(at(1), p, to, "")
		require.NoError(t, err)
	}
	require.Equal(t, []string{"false false", "true true", "false false"}, seen)
}
