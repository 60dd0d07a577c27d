package capability

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/lifecycle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	announced = lifecycle.CapAnnounced
	ready     = lifecycle.CapReady
	degraded  = lifecycle.CapDegraded
)

// at returns a moment, so many milliseconds after the first.
func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// plugin is the owner that a plugin's only instance is.
func plugin(name string) Owner { return Owner{Plugin: name} }

// offer makes an offer that can be called, announced at a moment.
func offer(tb testing.TB, r *Registry, ms int64, o Owner, key Key, priority int) {
	tb.Helper()
	_, err := r.Offer(at(ms), Offer{Key: key, Owner: o, Priority: priority, Invocable: true})
	require.NoError(tb, err)
}

// set puts an offer into a state.
func set(tb testing.TB, r *Registry, ms int64, o Owner, key Key, to lifecycle.State) {
	tb.Helper()
	_, err := r.SetState(at(ms), o, key, to, "")
	require.NoError(tb, err)
}

// serve makes an offer and makes it ready.
func serve(tb testing.TB, r *Registry, ms int64, o Owner, key Key, priority int) {
	tb.Helper()
	offer(tb, r, ms, o, key, priority)
	set(tb, r, ms, o, key, ready)
}

// hostReady makes a key of the host's own ready.
func hostReady(tb testing.TB, r *Registry, key Key) Descriptor {
	tb.Helper()
	d, _, err := r.Ready(at(0), key, nil)
	require.NoError(tb, err)
	return d
}

// hostAnnounced takes a key of the host's own back to announced.
func hostAnnounced(tb testing.TB, r *Registry, key Key) {
	tb.Helper()
	_, _, err := r.Announce(at(0), key, nil)
	require.NoError(tb, err)
}

// owners lists who offers a key, in the order of choice.
func owners(s *Snapshot, key Key) []string {
	var list []string
	for _, o := range s.Get(key) {
		name := o.Owner.Plugin
		if o.Owner.Instance != "" {
			name += "/" + o.Owner.Instance
		}
		list = append(list, name)
	}
	return list
}

// wantChosen checks who is chosen.
func wantChosen(t *testing.T, r *Registry, key Key, f Filter, want Owner) {
	t.Helper()
	got, err := r.Snapshot().Choose(key, f)
	require.NoError(t, err)
	require.Equal(t, want, got.Owner)
	require.Equal(t, key, got.Key)
	require.Equal(t, ready, got.State)
}
