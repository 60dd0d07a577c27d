package capability

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// diary collects what a watch was told.
type diary []string

func (d *diary) notify(met bool, unmet []Key) { *d = append(*d, fmt.Sprint(met, unmet)) }

// watching starts a watch that writes a diary.
func watching(t *testing.T, r *Registry, needs Requirements) (*diary, func()) {
	t.Helper()
	var d diary
	cancel, err := r.Watch(needs, d.notify)
	require.NoError(t, err)
	return &d, cancel
}

// wantTold checks what is new in the diary.
func (d *diary) wantTold(t *testing.T, want ...string) {
	t.Helper()
	require.Equal(t, want, []string(*d))
	*d = nil
}

func TestWatch_tellsAtOnceAndWhenItFlips(t *testing.T) {
	r := New(Options{})
	d, cancel := watching(t, r, Requirements{anyOf("a"), anyOf("b", "c")})
	d.wantTold(t, "false [a b c]")

	hostReady(t, r, "a")
	hostAnnounced(t, r, "c")
	d.wantTold(t) // still not met
	hostReady(t, r, "c")
	d.wantTold(t, "true []")
	hostReady(t, r, "b")
	hostAnnounced(t, r, "c")
	hostReady(t, r, "elsewhere")
	d.wantTold(t) // still met
	hostAnnounced(t, r, "b")
	d.wantTold(t, "false [b c]")
	hostAnnounced(t, r, "a")
	hostReady(t, r, "b")
	d.wantTold(t) // all at the same time, or it is not met
	hostReady(t, r, "a")
	d.wantTold(t, "true []")

	cancel()
	cancel() // once more is no harm
	hostAnnounced(t, r, "a")
	d.wantTold(t)
	require.Empty(t, r.watches)
	require.Zero(t, r.Waiting())
}

func TestWatch_startsWithTheAnswerOfTheMoment(t *testing.T) {
	r := New(Options{})
	hostReady(t, r, "a")
	d, _ := watching(t, r, Requirements{anyOf("a")})
	d.wantTold(t, "true []")
	d, _ = watching(t, r, nil) // asks for nothing
	d.wantTold(t, "true []")
}

func TestWatch_countsAKeyAsOftenAsItIsNeeded(t *testing.T) {
	r := New(Options{})
	d, _ := watching(t, r, Requirements{anyOf("a", "a"), anyOf("a", "b"), anyOf("a")})
	d.wantTold(t, "false [a b]")
	for range 3 {
		hostReady(t, r, "a")
		hostAnnounced(t, r, "a")
	}
	d.wantTold(t, "true []", "false [a b]", "true []", "false [a b]", "true []", "false [a b]")
}

func TestWatch_sameKeyFromAnotherOwnerIsNoNews(t *testing.T) {
	r := New(Options{})
	d, _ := watching(t, r, Requirements{anyOf("tool:x")})
	serve(t, r, 0, plugin("a"), "tool:x", 0)
	serve(t, r, 0, plugin("b"), "tool:x", 0)
	r.Remove(at(1), plugin("a"))
	d.wantTold(t, "false [tool:x]", "true []")
	r.Remove(at(1), plugin("b"))
	d.wantTold(t, "false [tool:x]")
}

// One call that changes several keys is told of once, with the answer at its end.
func TestWatch_aChangeAsAWhole(t *testing.T) {
	r, p := New(Options{}), plugin("p")
	offer(t, r, 0, p, "tool:a", 0)
	offer(t, r, 0, p, "tool:b", 0)
	both, _ := watching(t, r, Requirements{anyOf("tool:a"), anyOf("tool:b")})
	either, _ := watching(t, r, Requirements{anyOf("tool:a", "tool:b")})
	_, err := r.SetOwner(at(1), p, ready, "")
	require.NoError(t, err)
	_, err = r.SetOwner(at(2), p, degraded, "")
	require.NoError(t, err)
	both.wantTold(t, "false [tool:a tool:b]", "true []", "false [tool:a tool:b]")
	either.wantTold(t, "false [tool:a tool:b]", "true []", "false [tool:a tool:b]")
}

func TestWatch_theSnapshotIsThereFirst(t *testing.T) {
	r := New(Options{})
	told := 0
	_, err := r.Watch(Requirements{anyOf("a")}, func(met bool, unmet []Key) {
		told++
		require.Equal(t, met, r.Snapshot().Ready("a"))
		require.Equal(t, Requirements{anyOf("a")}.Unmet(r.Snapshot()), unmet)
	})
	require.NoError(t, err)
	hostReady(t, r, "a")
	hostAnnounced(t, r, "a")
	require.Equal(t, 3, told)
}

func TestWatch_notifyMayWatchAndCancel(t *testing.T) {
	r := New(Options{})
	var order []string
	var cancelSecond func()
	_, err := r.Watch(Requirements{anyOf("a")}, func(met bool, _ []Key) {
		order = append(order, fmt.Sprint("first ", met))
		if met {
			cancelSecond()
			_, err := r.Watch(Requirements{anyOf("a")}, func(met bool, _ []Key) { order = append(order, fmt.Sprint("new ", met)) })
			require.NoError(t, err)
		}
	})
	require.NoError(t, err)
	cancelSecond, err = r.Watch(Requirements{anyOf("a")}, func(met bool, _ []Key) { order = append(order, fmt.Sprint("second ", met)) })
	require.NoError(t, err)
	_, err = r.Watch(Requirements{anyOf("a")}, func(met bool, _ []Key) { order = append(order, fmt.Sprint("third ", met)) })
	require.NoError(t, err)
	hostReady(t, r, "a")
	hostAnnounced(t, r, "a")
	require.Equal(t, []string{
		"first false", "second false", "third false",
		"first true", "new true", "third true", // in the order of registration, the cancelled one not at all
		"first false", "third false", "new false",
	}, order)
}

func TestWatch_refusesWhatNothingCouldMeet(t *testing.T) {
	r := New(Options{})
	_, err := r.Watch(Requirements{anyOf()}, func(bool, []Key) { t.Error("told nevertheless") })
	require.ErrorContains(t, err, "it names no capability")
	require.Zero(t, r.Waiting())
}

// Whatever happens, a watch knows what Unmet finds.
func TestWatch_agreesWithTheSnapshot(t *testing.T) {
	r, random := New(Options{}), rand.New(rand.NewPCG(13, 14))
	type state struct {
		needs  Requirements
		met    bool
		unmet  []Key
		cancel func()
	}
	var states []*state
	for i := range 2000 {
		if i%20 == 0 {
			s := &state{}
			for range random.IntN(4) {
				var q Requirement
				for range 1 + random.IntN(3) {
					q.AnyOf = append(q.AnyOf, Key(fmt.Sprint("tool:", random.IntN(10))))
				}
				s.needs = append(s.needs, q)
			}
			cancel, err := r.Watch(s.needs, func(met bool, unmet []Key) { s.met, s.unmet = met, unmet })
			require.NoError(t, err)
			s.cancel = cancel
			states = append(states, s)
		}
		if i%50 == 0 {
			n := random.IntN(len(states))
			states[n].cancel()
			states = append(states[:n], states[n+1:]...)
		}
		doSomething(t, r, random, int64(i))
		for _, s := range states {
			unmet := s.needs.Unmet(r.Snapshot())
			require.Equal(t, len(unmet) == 0, s.met)
			require.True(t, s.met || len(s.unmet) > 0)
		}
	}
	for _, s := range states {
		s.cancel()
	}
	require.Empty(t, r.watches)
	require.Zero(t, r.Waiting())
}
