package protocol

import (
	"encoding/json"
	"log/slog"
	"time"
)

// Effect is what has to be done after an input: one of Send, Complete, Progress,
// Serve, Fed, FedEnd, Abandon, Ran, Offered, Retracted, Emitted, Logged, Chunk, SetTimer,
// StopTimer, Dropped, Denied and Fail.
type Effect interface{ effect() }

// Send is a frame to write. Its parts may be the driver's own, and be written over by
// the next step: whoever keeps the message for longer copies it.
type Send struct{ Message Message }

// Complete ends one call that the host made: the caller gets Result or Err.
type Complete struct {
	ID     CallID
	Result json.RawMessage
	Err    error
}

// Progress is an intermediate item of a call that the host made: a chunk of a
// stream, a callback, a report. It restarts the call's idle limit. Without an Item it
// does no more than that, as for what a driver collects for a caller who does not follow.
type Progress struct {
	ID   CallID
	Item json.RawMessage
}

// Serve is a call that the peer makes: of a host service, or of a capability
// that another session offers. Exactly one Reply with the same id is owed,
// unless the connection ends first.
type Serve struct {
	ID   RequestID
	Call Call
	// Follows tells that the peer takes intermediate items: a Report may come before
	// the Reply.
	Follows bool
	// Feeds tells that the input is a stream: Fed effects follow, then one FedEnd,
	// unless the peer abandons the call.
	Feeds bool
}

// Fed is one item of the request stream of a call that the peer makes.
type Fed struct {
	ID   RequestID
	Item json.RawMessage
}

// FedEnd ends the request stream of a call that the peer makes; with Err it has failed.
type FedEnd struct {
	ID  RequestID
	Err error
}

// Abandon tells that the peer no longer waits for a call of its own. A Reply
// that still comes is dropped.
type Abandon struct{ ID RequestID }

// Ran tells that a step asked for by Run is over, and how.
type Ran struct {
	Step Step
	Err  error
}

// Offered tells that the peer offers a capability (again: with new details).
type Offered struct{ Offer Offer }

// Retracted tells that the peer offers a capability no more.
type Retracted struct{ Key string }

// Emitted is an event that the plugin put on its own channel.
type Emitted struct{ Event Event }

// Logged is a line of the plugin's own log that came over its wire.
type Logged struct {
	Level   slog.Level
	Message string
	// Meta is a JSON object with what else the plugin said; nil for none.
	Meta json.RawMessage
}

// Chunk is data for a route.
type Chunk struct {
	Route string
	Data  []byte
}

// SetTimer asks for a Fired input after a while; a timer that is set again
// starts anew.
type SetTimer struct {
	Timer TimerID
	After time.Duration
}

// StopTimer takes a SetTimer back.
type StopTimer struct{ Timer TimerID }

// Dropped tells that something from the peer was not used. It is counted under
// What, which is one of a dialect's documented constants, and shown.
type Dropped struct {
	What string
	// Detail is for the log, at most 200 bytes.
	Detail string
}

// Denied tells that the driver has refused a call of the peer, which it may not make. The
// answer says so too, in the wire's own words.
type Denied struct {
	// Method is what the peer asked for, Scope the tenant that it was about; "" for none.
	Method, Scope string
	// Grant is the one that is missing; "" where it is not for want of a grant.
	Grant string
	// Reason is what the peer was told.
	Reason string
}

// Fail tells that the connection cannot go on. The owner closes it; the driver
// gets its Closed input as for any other end.
type Fail struct{ Err error }

func (Send) effect()      {}
func (Complete) effect()  {}
func (Progress) effect()  {}
func (Serve) effect()     {}
func (Fed) effect()       {}
func (FedEnd) effect()    {}
func (Abandon) effect()   {}
func (Ran) effect()       {}
func (Offered) effect()   {}
func (Retracted) effect() {}
func (Emitted) effect()   {}
func (Logged) effect()    {}
func (Chunk) effect()     {}
func (SetTimer) effect()  {}
func (StopTimer) effect() {}
func (Dropped) effect()   {}
func (Denied) effect()    {}
func (Fail) effect()      {}
