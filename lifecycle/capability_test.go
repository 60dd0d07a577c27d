package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCapability_stories(t *testing.T) {
	tests := []story{
		{
			"its owner crashes and comes back",
			[]Event{CapMarkReady, CapMarkDegraded, CapMarkReady},
			[]State{CapReady, CapDegraded, CapReady},
		},
		{
			"its owner dies while it starts, and is given up",
			[]Event{CapMarkDegraded, CapWithdraw},
			[]State{CapDegraded, CapWithdrawn},
		},
		{
			"its owner's next session announces it anew",
			[]Event{CapMarkReady, CapAnnounce, CapMarkReady, CapMarkDegraded, CapAnnounce},
			[]State{CapReady, CapAnnounced, CapReady, CapDegraded, CapAnnounced},
		},
		{
			"taken back and offered again",
			[]Event{CapMarkReady, CapWithdraw, CapAnnounce, CapMarkReady},
			[]State{CapReady, CapWithdrawn, CapAnnounced, CapReady},
		},
		{
			"everything is said twice",
			[]Event{CapAnnounce, CapMarkReady, CapMarkReady, CapMarkDegraded, CapMarkDegraded, CapWithdraw, CapWithdraw},
			[]State{CapAnnounced, CapReady, CapReady, CapDegraded, CapDegraded, CapWithdrawn, CapWithdrawn},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantStory(t, Capability, tt) })
	}
}

func TestCapability_lateNewsDoesNotBringItBack(t *testing.T) {
	wantIllegal(t, Capability, CapWithdrawn, CapMarkReady,
		"invalid capability transition for hello: MARK_READY in withdrawn (possible: ANNOUNCE, WITHDRAW)")
	wantIllegal(t, Capability, CapWithdrawn, CapMarkDegraded,
		"invalid capability transition for hello: MARK_DEGRADED in withdrawn (possible: ANNOUNCE, WITHDRAW)")
}

func TestCapability_canBeWithdrawnAlways(t *testing.T) {
	for _, state := range Capability.States() {
		require.True(t, Capability.Can(state, CapWithdraw), state)
	}
}
