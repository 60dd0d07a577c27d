package capability

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
)

func TestSnapshot_descriptorIsTheBestOffers(t *testing.T) {
	r := New(Options{})
	for i, name := range []string{"a", "b", "c"} {
		_, err := r.Offer(at(int64(i)), Offer{
			Key: "tool:x", Owner: plugin(name), Invocable: true, Metadata: json.RawMessage(fmt.Sprintf("%q", name)),
		})
		require.NoError(t, err)
	}
	steps := []struct {
		owner string
		to    lifecycle.State
		want  string
	}{
		{"a", withdrawn, `announced "b"`},
		{"b", withdrawn, `announced "c"`},
		{"c", degraded, `degraded "c"`},
		{"c", withdrawn, `withdrawn "a"`},
		{"b", announced, `announced "b"`},
		{"b", ready, `ready "b"`},
		{"a", announced, `ready "b"`},
		{"b", degraded, `degraded "b"`},
	}
	for i, step := range steps {
		set(t, r, int64(10+i), plugin(step.owner), "tool:x", step.to)
		d, ok := r.Snapshot().Describe("tool:x")
		require.True(t, ok)
		require.Equal(t, step.want, fmt.Sprintf("%s %s", d.State, d.Metadata), "after %s is %s", step.owner, step.to)
		require.Equal(t, d.State == ready, r.Snapshot().Ready("tool:x"))
	}
}

func TestSnapshot_listsInTheOrderOfFirstTouch(t *testing.T) {
	r := New(Options{})
	hostReady(t, r, "z")
	serve(t, r, 0, plugin("p"), "tool:m", 0)
	serve(t, r, 0, plugin("p"), "tool:a", 0)
	offer(t, r, 0, plugin("q"), "tool:m", 7)
	hostAnnounced(t, r, "z")
	r.Remove(at(1), plugin("p"), "tool:a")
	serve(t, r, 2, plugin("q"), "tool:a", 0) // forgotten meanwhile, so touched anew
	serve(t, r, 2, plugin("q"), "tool:n", 0)

	var keys []Key
	for _, d := range r.Snapshot().List() {
		keys = append(keys, d.Key)
	}
	require.Equal(t, []Key{"z", "tool:m", "tool:a", "tool:n"}, keys)

	var offers []string
	for _, o := range r.Snapshot().Offers() {
		offers = append(offers, fmt.Sprintf("%s of %s", o.Key, o.Owner.Plugin))
	}
	require.Equal(t, []string{
		"z of airi-host", "tool:m of p", "tool:m of q", "tool:a of q", "tool:n of q",
	}, offers)
}

func TestSnapshot_knowsNothingOfAKeyThatNobodyOffers(t *testing.T) {
	s := New(Options{}).Snapshot()
	_, ok := s.Describe("tool:x")
	require.False(t, ok)
	require.False(t, s.Ready("tool:x"))
	require.Nil(t, s.Get("tool:x"))
	require.Empty(t, s.List())
	require.Empty(t, s.Offers())
	require.Zero(t, s.Revision())
}

// An old snapshot tells the same for ever, whatever happens to the registry.
func TestSnapshot_neverChanges(t *testing.T) {
	type moment struct {
		snapshot *Snapshot
		list     []Descriptor
		offers   []Offer
		revision uint64
	}
	remember := func(s *Snapshot) moment { return moment{s, s.List(), s.Offers(), s.Revision()} }
	r, random := New(Options{}), rand.New(rand.NewPCG(5, 6))
	past := []moment{remember(r.Snapshot())}
	for i := range 4000 {
		doSomething(t, r, random, int64(i))
		if i%50 == 0 {
			past = append(past, remember(r.Snapshot()))
		}
	}
	for _, m := range past {
		require.Equal(t, m, remember(m.snapshot))
	}
	require.Greater(t, len(r.Snapshot().Get("tool:0")), maxFew, "both kinds of lineup are to be seen")
}

// doSomething makes one change, legal or not, of a hundred owners and ten keys.
func doSomething(tb testing.TB, r *Registry, random *rand.Rand, ms int64) {
	tb.Helper()
	o := Owner{fmt.Sprint("p", random.IntN(50)), fmt.Sprint(random.IntN(2))}
	key := Key(fmt.Sprint("tool:", random.IntN(10)))
	var err error
	switch random.IntN(10) {
	case 0:
		r.Remove(at(ms), o, key)
	case 1:
		_, err = r.SetOwner(at(ms), o, standings[random.IntN(4)], "all")
	case 2, 3, 4:
		_, _ = r.SetState(at(ms), o, key, standings[random.IntN(4)], "one") // not always legal
	case 5:
		_, _, err = r.own(at(ms), key, standings[random.IntN(4)], nil)
	default:
		_, err = r.Offer(at(ms), Offer{Key: key, Owner: o, Priority: random.IntN(3), Invocable: true})
	}
	require.NoError(tb, err)
}

// Readers need no lock: the race detector is the judge.
func TestSnapshot_isReadWhileTheRegistryChanges(t *testing.T) {
	r, random := New(Options{}), rand.New(rand.NewPCG(7, 8))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for last := uint64(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				s := r.Snapshot()
				if s.Revision() < last {
					t.Error("an older snapshot after a newer one")
				}
				last = s.Revision()
				o, err := s.Choose("tool:0", Filter{})
				if got, _ := s.Describe("tool:0"); (err == nil) != (got.State == ready) || (err == nil) != (o.State == ready) {
					t.Errorf("chosen %v, %v and described %v", o, err, got)
				}
				_, _ = s.Choose("tool:1", Filter{Plugin: "p1"})
				_, _ = s.Choose("tool:2", Filter{Plugin: "p1", Instance: "1"})
				_ = s.Get("tool:3")
			}
		})
	}
	for i := range 3000 {
		doSomething(t, r, random, int64(i))
	}
	close(stop)
	readers.Wait()
}
