package client

import (
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// Input is what happened: one of the types below, or of package protocol: Invoke, Feed,
// FeedEnd and Cancel for the module's own calls, Report and Reply for those that it serves,
// Fired for a timer.
type Input any

// Opened is a connection whose websocket is open.
type Opened struct{}

// Arrived is a record that came. It belongs to the client from then on.
type Arrived struct{ Record []byte }

// Lost is a connection that is over, for a reason.
type Lost struct{ Err error }

// Ran tells how a step that Run asked for has ended.
type Ran struct {
	Step protocol.Step
	Err  error
}

// Validated is the plugin's answer to Validate.
type Validated struct {
	ID         uint64
	Validation protocol.Validation
	// Err is why it could not answer.
	Err error
}

// Offer makes a capability known, or changes it.
type Offer struct{ Offer protocol.Offer }

// Retract withdraws one.
type Retract struct{ Key string }

// Emit is an event for the others. Data is JSON; what is no object becomes {value}.
type Emit struct {
	Name string
	Data json.RawMessage
}

// Feels tells how the plugin is: PhaseReady, PhaseDegraded or PhaseFailed, and why.
type Feels struct{ Phase, Reason string }

// The phases of module:status that a module says of itself.
const (
	PhaseReady    = "ready"
	PhaseDegraded = "degraded"
	PhaseFailed   = "failed"
)
