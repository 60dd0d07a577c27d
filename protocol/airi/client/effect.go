package client

import (
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// Effect is what has to be done: one of the types below, or of package protocol: Complete
// and Progress for the module's own calls, Serve, Fed, FedEnd and Abandon for those of
// others, SetTimer, StopTimer, Dropped, and Fail: the client is over, and has said so where
// it could.
type Effect any

// Send is a record to write. It is the receiver's.
type Send struct{ Record []byte }

// Hangup asks for the end of the connection, and for another one. Lost is told of it.
type Hangup struct{ Err error }

// Announced is a fact: the module is announced. Negotiates tells that a host has settled
// the versions, Again that the module was announced on an earlier connection. Unanswered
// tells that the server has not said so.
type Announced struct{ Negotiates, Again, Unanswered bool }

// Configured is the configuration in force from now on; nil is none.
type Configured struct{ Config json.RawMessage }

// Run asks the plugin for a step. One Ran is owed; there is one step at a time.
type Run struct{ Step protocol.Step }

// Validate asks the plugin whether it would take a configuration. One Validated is owed.
type Validate struct {
	ID     uint64
	Config json.RawMessage
}

// Heard is an event of others'. Control tells that it is one of the websocket protocol's
// own.
type Heard struct {
	Name    string
	Data    json.RawMessage
	Control bool
}

// What is counted under a protocol.Dropped beside what package airi names.
const (
	// DroppedFrame is a record that is no frame.
	DroppedFrame = "frame"
	// DroppedQuestion is one about a configuration while too many wait.
	DroppedQuestion = "question"
	// DroppedAway is an event or an answer for a connection that is gone.
	DroppedAway = "away"
	// DroppedError is an error that the server tells.
	DroppedError = "server-error"
)
