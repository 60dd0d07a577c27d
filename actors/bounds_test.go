package actors

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestHost_boundsAreThoseOfTheSessionsThatBeginThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := handling("a", "tool:slow", slowly(time.Second, `1`))
		h := startHostWith(t, Options{Limits: Limits{Pending: 1}, Timeouts: Timeouts{Call: 5 * time.Second}}, p)
		old := startReady(t, h, manifestFor("a"))
		h.SetBounds(Bounds{Limits: Limits{Pending: 2}, Timeouts: Timeouts{Call: time.Millisecond}})

		first := beginCall(t, h, protocol.Call{Key: "tool:slow"})
		_, err := callKey(t, h, "tool:slow")
		wantCode(t, err, protocol.CodeOverloaded,
			"plugin a has 1 calls in flight, its limit: try again later, or raise airi-host.limits.pendingCalls")
		require.NoError(t, (<-first).err)

		_, err = h.Stop(t.Context(), old.ID)
		require.NoError(t, err)
		startReady(t, h, manifestFor("a"))
		first = beginCall(t, h, protocol.Call{Key: "tool:slow"})
		second := beginCall(t, h, protocol.Call{Key: "tool:slow"})
		require.Equal(t, protocol.CodeTimeout, protocol.CodeOf((<-first).err))
		require.Equal(t, protocol.CodeTimeout, protocol.CodeOf((<-second).err))
	})
}

func TestHost_aCrashIsFollowedByWhatTheBoundsSayThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{Restart: steady}, nil, "tool:a")
		told := pauses(t, m.host)
		startReady(t, m.host, farManifest())
		m.crashes()
		time.Sleep(2 * time.Second)
		m.host.SetBounds(Bounds{Restart: RestartPolicy{Jitter: -1, First: time.Minute}})
		m.crashes()
		time.Sleep(3 * time.Minute)
		m.host.SetBounds(Bounds{Restart: RestartPolicy{Disabled: true}})
		m.crashes()
		require.Equal(t, []time.Duration{time.Second, 2 * time.Minute, 0}, told())
	})
}
