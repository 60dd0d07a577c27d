package capability

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
)

func TestRegistry_theHostsOwnTakeAnyOrder(t *testing.T) {
	r := New(Options{})
	calls := map[lifecycle.State]func(time.Time, Key, json.RawMessage) (Descriptor, []Change, error){
		announced: r.Announce, ready: r.Ready, degraded: r.Degrade, withdrawn: r.Withdraw,
	}
	for from := range calls {
		for to, call := range calls {
			key := Key(from + "-" + to)
			_, _, err := calls[from](at(1), key, json.RawMessage(`{"a":1}`))
			require.NoError(t, err)
			got, changes, err := call(at(2), key, nil)
			require.NoError(t, err)
			require.Equal(t, Descriptor{key, to, json.RawMessage(`{"a":1}`), 2}, got)
			require.Len(t, changes, 1) // every call stamps the time, so it changes something
			require.Equal(t, from, changes[0].Before.State)
			require.Equal(t, to, changes[0].After.State)
		}
	}
	replaced, _, err := r.Ready(at(3), "ready-ready", json.RawMessage(`{"b":2}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"b":2}`, string(replaced.Metadata))
}

func TestRegistry_refusesTheHostsMistakes(t *testing.T) {
	r := New(Options{MaxOffers: 1})
	_, _, err := r.Ready(at(0), "", nil)
	require.ErrorContains(t, err, "key is empty")
	_, _, err = r.Ready(at(0), "k", json.RawMessage(`{`))
	require.EqualError(t, err, `capability k: metadata is not valid JSON: "{"`)
	hostReady(t, r, "k")
	hostReady(t, r, "k")
	_, _, err = r.Ready(at(0), "l", nil)
	require.Equal(t, &OfferLimitError{Owner: HostOwner, Key: "l", Limit: 1}, err)
	require.Len(t, r.Snapshot().List(), 1)
}

func TestRegistry_anOffersLife(t *testing.T) {
	r, p := New(Options{}), plugin("p")
	steps := []struct {
		name string
		do   func() ([]Change, error)
		want Offer // the parts that change
	}{
		{
			"new", func() ([]Change, error) {
				// What belongs to the registry is not taken from the caller.
				return r.Offer(at(1), Offer{Key: "tool:x", Owner: p, State: ready, Reason: "?", Revision: 9, ReadyAt: at(9), UpdatedAt: at(9)})
			}, Offer{State: announced, Revision: 1, UpdatedAt: at(1)},
		},
		{
			"ready", func() ([]Change, error) { return r.SetState(at(2), p, "tool:x", ready, "") },
			Offer{State: ready, Revision: 2, UpdatedAt: at(2), ReadyAt: at(2)},
		},
		{
			"said once more", func() ([]Change, error) { return r.SetState(at(3), p, "tool:x", ready, "") },
			Offer{State: ready, Revision: 2, UpdatedAt: at(2), ReadyAt: at(2)},
		},
		{
			"changed while ready", func() ([]Change, error) { return r.Offer(at(4), Offer{Key: "tool:x", Owner: p, Priority: 4}) },
			Offer{State: ready, Priority: 4, Revision: 3, UpdatedAt: at(4), ReadyAt: at(2)},
		},
		{
			"degraded", func() ([]Change, error) { return r.SetState(at(5), p, "tool:x", degraded, "restarting") },
			Offer{State: degraded, Priority: 4, Revision: 4, UpdatedAt: at(5), Reason: "restarting"},
		},
		{
			"for another reason", func() ([]Change, error) { return r.SetState(at(6), p, "tool:x", degraded, "again") },
			Offer{State: degraded, Priority: 4, Revision: 5, UpdatedAt: at(6), Reason: "again"},
		},
		{
			"offered by the next session", func() ([]Change, error) { return r.Offer(at(7), Offer{Key: "tool:x", Owner: p}) },
			Offer{State: degraded, Revision: 6, UpdatedAt: at(7), Reason: "again"},
		},
		{
			"back", func() ([]Change, error) { return r.SetState(at(8), p, "tool:x", ready, "") },
			Offer{State: ready, Revision: 7, UpdatedAt: at(8), ReadyAt: at(8)},
		},
		{
			"withdrawn", func() ([]Change, error) { return r.SetState(at(9), p, "tool:x", withdrawn, "stopped") },
			Offer{State: withdrawn, Revision: 8, UpdatedAt: at(9), Reason: "stopped"},
		},
		{
			"offered again", func() ([]Change, error) { return r.Offer(at(10), Offer{Key: "tool:x", Owner: p}) },
			Offer{State: announced, Revision: 9, UpdatedAt: at(10)},
		},
	}
	for _, step := range steps {
		before := r.Snapshot().Get("tool:x")
		changes, err := step.do()
		require.NoError(t, err, step.name)
		step.want.Key, step.want.Owner = "tool:x", p
		after := r.Snapshot().Get("tool:x")
		require.Equal(t, []Offer{step.want}, after, step.name)
		require.Equal(t, step.want.Revision, r.Snapshot().Revision(), step.name)
		wantChange(t, changes, before, after)
	}
}

// wantChange checks that the changes tell how an offer became what it is.
func wantChange(t *testing.T, changes []Change, before, after []Offer) {
	t.Helper()
	if len(before) == 1 && before[0].Revision == after[0].Revision {
		require.Empty(t, changes)
		return
	}
	require.Len(t, changes, 1)
	require.Equal(t, after[0], *changes[0].After)
	require.Equal(t, after[0].Revision, changes[0].Revision)
	if len(before) == 0 {
		require.Nil(t, changes[0].Before)
	} else {
		require.Equal(t, before[0], *changes[0].Before)
	}
}

func TestRegistry_asksTheTable(t *testing.T) {
	r, p := New(Options{}), plugin("p")
	offer(t, r, 0, p, "tool:x", 0)
	set(t, r, 0, p, "tool:x", withdrawn)
	before := r.Snapshot()
	for _, to := range []lifecycle.State{ready, degraded, "nonsense"} {
		changes, err := r.SetState(at(1), p, "tool:x", to, "")
		illegal, ok := errors.AsType[*lifecycle.IllegalError](err)
		require.True(t, ok, err)
		require.Equal(t, withdrawn, illegal.From)
		require.Equal(t, to, illegal.To)
		require.Equal(t, "tool:x of plugin p", illegal.Session)
		require.Empty(t, changes)
	}
	require.Same(t, before, r.Snapshot(), "nothing is published for nothing")
}

// An event is what the registry says it is: it leads to the state that was asked for.
func TestRegistry_eventsLeadToTheirStates(t *testing.T) {
	require.Len(t, events, len(lifecycle.Capability.States()))
	for to, event := range events {
		for _, from := range lifecycle.Capability.States() {
			if lifecycle.Capability.Can(from, event) {
				got, err := lifecycle.Capability.Fire("k", from, event)
				require.NoError(t, err)
				require.Equal(t, to, got)
			}
		}
	}
}

func TestRegistry_setStateOfWhatIsNotOffered(t *testing.T) {
	r := New(Options{})
	hostReady(t, r, "k")
	_, err := r.SetState(at(0), Owner{"p", "a"}, "k", ready, "")
	require.Equal(t, &NotFoundError{"k", "p", "a"}, err)
	_, err = r.SetState(at(0), HostOwner, "k", degraded, "") // not by this way
	require.Equal(t, &NotFoundError{Key: "k", Plugin: HostOwner.Plugin}, err)
}

func TestRegistry_setOwnerMovesAllAtOnce(t *testing.T) {
	r, p := New(Options{}), plugin("p")
	for _, key := range []Key{"tool:c", "tool:a", "tool:b"} {
		serve(t, r, 0, p, key, 0)
	}
	set(t, r, 0, p, "tool:a", withdrawn)
	serve(t, r, 0, Owner{"p", "other"}, "tool:c", 0)
	revision := r.Snapshot().Revision()

	changes, err := r.SetOwner(at(1), p, degraded, "restarting")
	require.NoError(t, err)
	require.Equal(t, []string{
		fmt.Sprintf("%d tool:c ready -> degraded (restarting)", revision+1),
		fmt.Sprintf("%d tool:b ready -> degraded (restarting)", revision+2),
	}, told(changes), "what is withdrawn stays so, in the order of offering")
	require.Equal(t, revision+2, r.Snapshot().Revision())
	require.True(t, r.Snapshot().Ready("tool:c"), "by the other instance")

	changes, err = r.SetOwner(at(2), p, announced, "")
	require.NoError(t, err)
	require.Len(t, changes, 2)
	changes, err = r.SetOwner(at(3), plugin("nobody"), ready, "")
	require.NoError(t, err)
	require.Empty(t, changes)
	hostReady(t, r, "k")
	changes, err = r.SetOwner(at(3), HostOwner, degraded, "") // not by this way
	require.NoError(t, err)
	require.Empty(t, changes)
	_, err = r.SetOwner(at(3), p, "nonsense", "")
	require.ErrorContains(t, err, "tool:c of plugin p")
}

// told writes changes down for comparison.
func told(changes []Change) []string {
	var list []string
	for _, c := range changes {
		list = append(list, fmt.Sprintf("%d %s %s -> %s (%s)", c.Revision, c.After.Key, c.Before.State, c.After.State, c.After.Reason))
	}
	return list
}

func TestRegistry_removesOffers(t *testing.T) {
	r, p := New(Options{MaxOffers: 3}), plugin("p")
	for _, key := range []Key{"tool:a", "tool:b", "tool:c"} {
		serve(t, r, 0, p, key, 0)
	}
	offer(t, r, 0, plugin("q"), "tool:a", 0)

	changes := r.Remove(at(1), p, "tool:b", "tool:unknown", "tool:b")
	require.Len(t, changes, 1)
	require.Equal(t, Key("tool:b"), changes[0].Before.Key)
	require.Nil(t, changes[0].After)
	serve(t, r, 2, p, "tool:d", 0) // there is room again

	require.Len(t, r.Remove(at(3), p), 3)
	require.Empty(t, r.Remove(at(3), p))
	require.Equal(t, []string{"q"}, owners(r.Snapshot(), "tool:a"))
	require.Len(t, r.Snapshot().List(), 1)
	require.Len(t, r.Remove(at(4), plugin("q")), 1)
	require.Empty(t, r.held, "nothing is kept of who left")
	require.Empty(t, r.Snapshot().List())

	hostReady(t, r, "k")
	require.Empty(t, r.Remove(at(5), HostOwner))
	require.True(t, r.Snapshot().Ready("k"))
}

func TestRegistry_limitsTheOffersOfAnOwner(t *testing.T) {
	r, p := New(Options{MaxOffers: 2}), plugin("p")
	batch := func(keys ...Key) []Offer {
		var list []Offer
		for _, key := range keys {
			list = append(list, Offer{Key: key, Owner: p})
		}
		return list
	}
	_, err := r.Offer(at(0), batch("tool:a", "tool:b", "tool:c")...)
	require.Equal(t, &OfferLimitError{Owner: p, Key: "tool:c", Limit: 2}, err)
	require.Empty(t, r.Snapshot().Offers(), "all or nothing")

	changes, err := r.Offer(at(0), batch("tool:a", "tool:b", "tool:a", "tool:b")...) // two, and twice
	require.NoError(t, err)
	require.Len(t, changes, 4)
	_, err = r.Offer(at(1), batch("tool:a", "tool:b")...) // changes are no more
	require.NoError(t, err)
	set(t, r, 1, p, "tool:a", withdrawn) // still there
	_, err = r.Offer(at(1), batch("tool:c")...)
	require.Equal(t, &OfferLimitError{Owner: p, Key: "tool:c", Limit: 2}, err)
	offer(t, r, 1, Owner{"p", "other"}, "tool:c", 0) // each instance has its own
}

func TestNew_defaults(t *testing.T) {
	require.Equal(t, Options{MaxOffers: 4096, MaxWaiters: 1 << 20}, New(Options{}).opts)
	require.Equal(t, Options{MaxOffers: 4096, MaxWaiters: 1 << 20}, New(Options{MaxOffers: -1, MaxWaiters: -1}).opts)
	require.Equal(t, Options{MaxOffers: 1, MaxWaiters: 2}, New(Options{MaxOffers: 1, MaxWaiters: 2}).opts)
}
