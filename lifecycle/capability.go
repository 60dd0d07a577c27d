package lifecycle

// The states of a capability as one owner offers it. The names are the reference
// host's, and are on the wire in its descriptors.
const (
	// CapAnnounced: its owner is going to offer it. It can be awaited and not
	// called. Ends when the owner is ready to serve it, or is not going to be.
	CapAnnounced State = "announced"

	// CapReady: it can be called, and whoever waited for it goes on. Ends when its
	// owner is in trouble, starts anew, or leaves.
	CapReady State = "ready"

	// CapDegraded: its owner means to serve it and cannot at the moment: it is not
	// well, or has died and a restart is pending. Whoever needs it was told. Ends
	// when it is back, or when the owner is given up.
	CapDegraded State = "degraded"

	// CapWithdrawn: it is not offered any more; its owner has left or taken it
	// back. Ends if it is offered again.
	CapWithdrawn State = "withdrawn"
)

// The events of a capability, as the reference host's calls name them.
const (
	// CapAnnounce: its owner, or the owner's next session, is going to offer it.
	CapAnnounce Event = "ANNOUNCE"
	// CapMarkReady: its owner serves it.
	CapMarkReady Event = "MARK_READY"
	// CapMarkDegraded: its owner cannot serve it at the moment.
	CapMarkDegraded Event = "MARK_DEGRADED"
	// CapWithdraw: its owner will not serve it any more.
	CapWithdraw Event = "WITHDRAW"
)

// capabilityTable lets every call be repeated, with new metadata perhaps: the state
// stays and nobody is told of a change. The reference host takes all calls in any
// order. Here late news of an owner that is gone cannot bring its offer back: a
// withdrawn capability has to be announced first.
var capabilityTable = Table{
	CapAnnounced: {
		CapAnnounce:     CapAnnounced,
		CapMarkReady:    CapReady,
		CapMarkDegraded: CapDegraded,
		CapWithdraw:     CapWithdrawn,
	},
	CapReady: {
		CapAnnounce:     CapAnnounced,
		CapMarkReady:    CapReady,
		CapMarkDegraded: CapDegraded,
		CapWithdraw:     CapWithdrawn,
	},
	CapDegraded: {
		CapAnnounce:     CapAnnounced,
		CapMarkReady:    CapReady,
		CapMarkDegraded: CapDegraded,
		CapWithdraw:     CapWithdrawn,
	},
	CapWithdrawn: {
		CapAnnounce: CapAnnounced,
		CapWithdraw: CapWithdrawn,
	},
}

// Capability is the standing of one offer in the registry. It begins in
// [CapAnnounced], rests in [CapWithdrawn], and has no terminal state. Errors name
// the capability's key.
var Capability = newMachine(definition{
	name:   "capability",
	states: []State{CapAnnounced, CapReady, CapDegraded, CapWithdrawn},
	events: []Event{CapAnnounce, CapMarkReady, CapMarkDegraded, CapWithdraw},
	table:  capabilityTable,
})
