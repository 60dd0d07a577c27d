package capability

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChoose_highestPriorityThenFirstReady(t *testing.T) {
	r := New(Options{})
	offer(t, r, 0, plugin("first-offered"), "tool:x", 0)
	serve(t, r, 1, plugin("first-ready"), "tool:x", 0)
	set(t, r, 2, plugin("first-offered"), "tool:x", ready)
	wantChosen(t, r, "tool:x", Filter{}, plugin("first-ready"))

	serve(t, r, 3, plugin("important"), "tool:x", 5)
	wantChosen(t, r, "tool:x", Filter{}, plugin("important"))
	require.Equal(t, []string{"important", "first-ready", "first-offered"}, owners(r.Snapshot(), "tool:x"))
}

func TestChoose_staysWithAnOwnerWhileItIsReady(t *testing.T) {
	r := New(Options{})
	serve(t, r, 0, plugin("a"), "tool:x", 0)
	serve(t, r, 1, plugin("b"), "tool:x", 0)
	wantChosen(t, r, "tool:x", Filter{}, plugin("a"))

	set(t, r, 2, plugin("a"), "tool:x", degraded)
	wantChosen(t, r, "tool:x", Filter{}, plugin("b"))
	set(t, r, 3, plugin("a"), "tool:x", ready)
	wantChosen(t, r, "tool:x", Filter{}, plugin("b")) // a was away

	offer(t, r, 4, plugin("b"), "tool:x", 0) // says the same once more
	wantChosen(t, r, "tool:x", Filter{}, plugin("b"))
}

func TestChoose_aKeyWithoutAKindGoesToTheFirstThatOffersIt(t *testing.T) {
	const key = "proj-airi:plugin-sdk:x"
	r := New(Options{})
	offer(t, r, 0, plugin("first"), key, 0)
	serve(t, r, 1, plugin("second"), key, 9)
	wantChosen(t, r, key, Filter{}, plugin("second")) // the first is not ready
	set(t, r, 2, plugin("first"), key, ready)
	wantChosen(t, r, key, Filter{}, plugin("first"))

	set(t, r, 3, plugin("first"), key, withdrawn)
	serve(t, r, 4, plugin("first"), key, 0) // offers it anew, so comes later
	wantChosen(t, r, key, Filter{}, plugin("second"))

	serve(t, r, 1, plugin("same-moment"), key, 10)
	wantChosen(t, r, key, Filter{}, plugin("same-moment"))
}

func TestChoose_prefersWhatCanBeCalled(t *testing.T) {
	r := New(Options{})
	hostReady(t, r, "tool:x") // can be awaited only
	got, err := r.Snapshot().Choose("tool:x", Filter{})
	require.NoError(t, err)
	require.Equal(t, HostOwner, got.Owner)
	require.False(t, got.Invocable)

	serve(t, r, 0, plugin("p"), "tool:x", -1)
	wantChosen(t, r, "tool:x", Filter{}, plugin("p"))
	wantChosen(t, r, "tool:x", Filter{Plugin: HostOwner.Plugin}, HostOwner)
}

func TestChoose_filter(t *testing.T) {
	r := New(Options{})
	serve(t, r, 0, Owner{"a", "1"}, "tool:x", 9)
	serve(t, r, 0, Owner{"b", "1"}, "tool:x", 1)
	serve(t, r, 0, Owner{"b", "2"}, "tool:x", 2)
	tests := []struct {
		filter Filter
		want   Owner // zero for nobody
	}{
		{Filter{}, Owner{"a", "1"}},
		{Filter{Plugin: "a"}, Owner{"a", "1"}},
		{Filter{Plugin: "b"}, Owner{"b", "2"}},
		{Filter{"b", "1"}, Owner{"b", "1"}},
		{Filter{Instance: "1"}, Owner{"a", "1"}},
		{Filter{Instance: "2"}, Owner{"b", "2"}},
		{Filter{Plugin: "c"}, Owner{}},
		{Filter{"a", "2"}, Owner{}},
		{Filter{Instance: "3"}, Owner{}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.filter), func(t *testing.T) {
			if tt.want != (Owner{}) {
				wantChosen(t, r, "tool:x", tt.filter, tt.want)
				return
			}
			_, err := r.Snapshot().Choose("tool:x", tt.filter)
			require.Equal(t, &NotFoundError{"tool:x", tt.filter.Plugin, tt.filter.Instance}, err)
		})
	}
}

func TestChoose_nobodyIsReady(t *testing.T) {
	r := New(Options{})
	_, err := r.Snapshot().Choose("tool:x", Filter{})
	require.Equal(t, &NotFoundError{Key: "tool:x"}, err)

	_, err = r.Offer(at(0), Offer{Key: "tool:x", Owner: plugin("p"), Target: "a session"})
	require.NoError(t, err)
	offer(t, r, 1, plugin("q"), "tool:x", 0)
	_, err = r.SetState(at(2), plugin("p"), "tool:x", degraded, "restarting")
	require.NoError(t, err)
	want := &NotReadyError{Key: "tool:x", Owner: plugin("p"), State: degraded, Reason: "restarting", Target: "a session"}
	_, err = r.Snapshot().Choose("tool:x", Filter{Plugin: "p"})
	require.Equal(t, want, err)

	// q's can be called, but the better state goes first.
	_, err = r.Snapshot().Choose("tool:x", Filter{})
	require.Equal(t, want, err)
	set(t, r, 3, plugin("p"), "tool:x", withdrawn)
	_, err = r.Snapshot().Choose("tool:x", Filter{})
	require.Equal(t, &NotReadyError{Key: "tool:x", Owner: plugin("q"), State: announced}, err)
}

func TestChoose_someKindsAreAmbiguous(t *testing.T) {
	tests := map[Key]bool{
		"tool:x": false, "model:x": false, "service:x": false, "action:x": false, "provider:x": false,
		"evaluator:x": false, "event:x": false, "any:x": false,
		"data:x": true, "job:x": true, "webhook:x": true, "http:GET /x": true, "environment:x": true,
	}
	for key, ambiguous := range tests {
		t.Run(string(key), func(t *testing.T) {
			r := New(Options{})
			serve(t, r, 0, Owner{"a", "1"}, key, 0)
			serve(t, r, 1, Owner{"a", "2"}, key, 0)
			_, err := r.Snapshot().Choose(key, Filter{}) // of one plugin
			require.NoError(t, err)

			offer(t, r, 2, plugin("b"), key, 0) // not ready, yet a rival
			_, err = r.Snapshot().Choose(key, Filter{})
			if !ambiguous {
				require.NoError(t, err)
				return
			}
			require.Equal(t, &AmbiguousError{Key: key, Plugins: []string{"a", "b"}}, err)
			_, err = r.Snapshot().Choose(key, Filter{Plugin: "a"})
			require.NoError(t, err)
			_, err = r.Snapshot().Choose(key, Filter{Plugin: "b"})
			require.Equal(t, &NotReadyError{Key: key, Owner: plugin("b"), State: announced}, err)

			set(t, r, 3, plugin("b"), key, withdrawn) // offers it no more
			_, err = r.Snapshot().Choose(key, Filter{})
			require.NoError(t, err)
		})
	}
}

func TestChoose_namesEightOfManyRivals(t *testing.T) {
	for _, plugins := range []int{8, 9, 100} {
		r := New(Options{})
		for i := range plugins {
			serve(t, r, 0, plugin(fmt.Sprintf("p%03d", i)), "job:sync", 0)
		}
		_, err := r.Snapshot().Choose("job:sync", Filter{})
		require.Equal(t, &AmbiguousError{
			Key: "job:sync", Plugins: []string{"p000", "p001", "p002", "p003", "p004", "p005", "p006", "p007"}, More: plugins > 8,
		}, err)
	}
}

func TestChoose_instancesOfOnePluginTakeTurns(t *testing.T) {
	for _, others := range []int{0, 50} { // a lineup that is short, and one that is long
		t.Run(fmt.Sprint(others), func(t *testing.T) {
			r := New(Options{})
			for i := range others {
				serve(t, r, 0, plugin(fmt.Sprint("other", i)), "tool:x", 0)
			}
			for _, instance := range []string{"c", "a", "b"} {
				serve(t, r, 1, Owner{"p", instance}, "tool:x", 1)
			}
			serve(t, r, 1, Owner{"p", "less"}, "tool:x", 0) // a lower priority is no equal
			serve(t, r, 1, Owner{"q", "1"}, "tool:x", 0)
			serve(t, r, 1, Owner{"q", "2"}, "tool:x", 0)

			require.Equal(t, []string{"p/a", "p/b", "p/c", "p/a"}, chosen(t, r, Filter{}, 4))
			// The other plugin has its own turns, and they go on where they were.
			require.Equal(t, []string{"q/1", "q/2", "q/1"}, chosen(t, r, Filter{Plugin: "q"}, 3))
			require.Equal(t, []string{"p/b", "p/c"}, chosen(t, r, Filter{Plugin: "p"}, 2))

			set(t, r, 2, Owner{"p", "b"}, "tool:x", degraded)
			require.Equal(t, []string{"p/a", "p/c", "p/a"}, chosen(t, r, Filter{}, 3))
			r.Remove(at(3), Owner{"p", "a"})
			require.Equal(t, []string{"p/c", "p/c"}, chosen(t, r, Filter{}, 2))
			serve(t, r, 4, Owner{"p", "d"}, "tool:x", 1)
			require.Equal(t, []string{"p/d", "p/c"}, chosen(t, r, Filter{}, 2))
		})
	}
}

func TestChoose_takesNoTurnsWhileNobodyIsReady(t *testing.T) {
	r := New(Options{})
	offer(t, r, 0, Owner{"p", "a"}, "tool:x", 0)
	offer(t, r, 0, Owner{"p", "b"}, "tool:x", 0)
	for range 2 {
		_, err := r.Snapshot().Choose("tool:x", Filter{})
		require.Equal(t, &NotReadyError{Key: "tool:x", Owner: Owner{"p", "a"}, State: announced}, err)
	}
}

// chosen lists who is chosen for tool:x, n times in a row.
func chosen(t *testing.T, r *Registry, f Filter, n int) []string {
	t.Helper()
	var list []string
	for range n {
		o, err := r.Snapshot().Choose("tool:x", f)
		require.NoError(t, err)
		list = append(list, o.Owner.Plugin+"/"+o.Owner.Instance)
	}
	return list
}

func TestChoose_turnsAreFairAmongConcurrentCallers(t *testing.T) {
	const instances, callers, calls = 3, 6, 300
	r := New(Options{})
	for i := range instances {
		serve(t, r, 0, Owner{"p", fmt.Sprint(i)}, "tool:x", 0)
	}
	var counts [instances]atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range calls {
				o, err := r.Snapshot().Choose("tool:x", Filter{})
				if err != nil {
					t.Error(err)
				}
				counts[o.Owner.Instance[0]-'0'].Add(1)
			}
		})
	}
	all.Wait()
	for i := range counts {
		require.EqualValues(t, callers*calls/instances, counts[i].Load(), "nobody's turn is lost or taken twice")
	}
}

func TestChoose_allocatesNothing(t *testing.T) {
	r := crowded(t, 100)
	s, key := r.Snapshot(), ownKey(7)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := s.Choose(key, Filter{}); err != nil {
			t.Error(err)
		}
	}))
}
