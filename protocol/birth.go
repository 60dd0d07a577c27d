package protocol

import (
	"encoding/json"
	"time"
)

// Initializer is a Dialect whose wire tells a worker at its birth who it is and how
// it is configured. Its worker is started for the setup step, once what the plugin
// requires is ready and its configuration is settled; until then a session has no
// connection, and passes through load and init at once.
type Initializer interface {
	// Initialize returns what Run gives to the setup step as its Params.
	Initialize(Birth) (json.RawMessage, error)
}

// Birth is what a worker is told when it begins.
type Birth struct {
	// Manifest is the plugin's manifest as its ecosystem writes it.
	Manifest json.RawMessage
	// Config is the configuration in force.
	Config Config
	// Host is the host's id, Version its version.
	Host, Version string
}

// Timing is a Dialect with limits of its own on time, where neither the caller nor
// the manifest names one.
type Timing interface {
	// StepTimeout is how long a step may take; zero means the host's default.
	StepTimeout(Step) time.Duration
	// CallTimeout is how long a call may take whose caller names no deadline; usual
	// is what holds for the plugin's calls.
	CallTimeout(c Call, usual time.Duration) time.Duration
}

// Framing is a Dialect with a limit of its own on the length of a frame.
type Framing interface {
	// MaxFrame is the longest frame in bytes, where nobody names another.
	MaxFrame() int
}

// Undeclared is a Dialect whose plugins have handlers that nothing announces. A call
// that names the plugin reaches it although there is no offer.
type Undeclared interface {
	// Answers tells whether a plugin might have a handler for the call.
	Answers(Call) bool
}
