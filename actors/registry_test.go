package actors

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
)

func TestRegistry_theHostsOwnTakeAnyStateAfterAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		events := listen(t, h, KindCapability, nil)
		order := []lifecycle.State{
			lifecycle.CapWithdrawn, lifecycle.CapReady, lifecycle.CapDegraded, lifecycle.CapAnnounced,
			lifecycle.CapDegraded, lifecycle.CapReady, lifecycle.CapReady, lifecycle.CapAnnounced, lifecycle.CapWithdrawn,
		}
		for _, to := range order {
			set(t, h, "cap:x", to)
			wantOffers(t, h, "cap:x "+string(to))
		}
		require.Equal(t, []string{
			"airi-host cap:x:  → withdrawn",
			"airi-host cap:x: withdrawn → ready",
			"airi-host cap:x: ready → degraded",
			"airi-host cap:x: degraded → announced",
			"airi-host cap:x: announced → degraded",
			"airi-host cap:x: degraded → ready",
			"airi-host cap:x: ready → announced",
			"airi-host cap:x: announced → withdrawn",
		}, events.all(), "a repetition is no change")
	})
}

func TestRegistry_metadataStaysUntilItIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		for _, step := range []struct{ given, want string }{{`{"v":1}`, `{"v":1}`}, {"", `{"v":1}`}, {`2`, `2`}} {
			d, err := h.SetCapability(t.Context(), "cap:x", lifecycle.CapReady, []byte(step.given))
			require.NoError(t, err)
			require.Equal(t, step.want, string(d.Metadata))
		}
	})
}

func TestRegistry_refusesWhatIsNoCapability(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		_, err := h.SetCapability(t.Context(), "cap:x", "asleep", nil)
		require.EqualError(t, err, `a capability cannot be "asleep": announced, ready, degraded or withdrawn`)
		_, err = h.SetCapability(t.Context(), "", lifecycle.CapReady, nil)
		require.EqualError(t, err, `a capability's key is empty: expected "<kind>:<name>", e.g. "tool:greet"`)
		_, err = h.SetCapability(t.Context(), "cap:x", lifecycle.CapReady, []byte(`{`))
		require.EqualError(t, err, `capability cap:x: metadata is not valid JSON: "{"`)
		wantOffers(t, h)
	})
}

// spyRegistry gives a host another registry actor, which can be looked into.
func spyRegistry(h *Host) *registry {
	h.registry.stop()
	<-h.registry.gone
	var r *registry
	h.registry = h.sys.spawn(func(self *ref) behavior {
		r = newRegistry(h, self)
		return spied{r}
	})
	return r
}

func TestRegistry_whoWaitsLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a"))
		r := spyRegistry(h)
		for range 3 {
			beginStart(t, h, manifestFor("a", requires("cap:x", "cap:y|cap:z", "tool:a")))
			_, err := h.Stop(t.Context(), h.Sessions()[0].ID)
			require.NoError(t, err)
		}
		left := -1
		peek(h.registry, func() { left = h.caps.Waiting() + len(r.waiters) + len(r.waiting) })
		require.Zero(t, left)
	})
}

func TestRegistry_capabilitiesAreListedInTheOrderOfTheirComing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:b", "tool:a"))
		set(t, h, "cap:z", lifecycle.CapReady)
		startReady(t, h, manifestFor("a"))
		var keys []capability.Key
		for _, d := range h.Capabilities() {
			keys = append(keys, d.Key)
		}
		require.Equal(t, []capability.Key{"cap:z", "tool:b", "tool:a"}, keys)
	})
}
