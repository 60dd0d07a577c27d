package protocol

import (
	"encoding/json"
	"log/slog"
	"time"
)

// Effect is what has to be done after an input: one of Send, Complete, Progress,
// Serve, Fed, FedEnd, Abandon, Ran, Offered, Retracted, Emitted, Streamed, Logged,
// RouteAsked, RouteOpened, RouteRefused, Chunk, RouteWritten, RouteStopped, RouteExited,
// RouteClosing, RouteEnded, RouteClosed, Retire, Absent, Present, SetTimer, StopTimer, Dropped,
// Denied and Fail. What belongs to a route is told with [RouteID].
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
	// Spare tells that the result has all of it again. Where the caller is too slow for
	// it, the item is dropped and counted, and the call goes on.
	Spare bool
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

// Retracted tells that the peer offers a capability no more, and why, where that is known.
type Retracted struct{ Key, Reason string }

// Emitted is an event that the plugin put on its own channel.
type Emitted struct{ Event Event }

// Logged is a line of the plugin's own log that came over its wire.
type Logged struct {
	Level   slog.Level
	Message string
	// Meta is a JSON object with what else the plugin said; nil for none.
	Meta json.RawMessage
}

// Streamed is something on an event stream of the plugin's: a channel of its own that
// anybody may listen to, for one tenant.
type Streamed struct {
	What StreamPart
	// Channel names the stream, Scope is the tenant that it is for, "" for none.
	Channel, Scope string
	// Item is what a StreamItem carries.
	Item json.RawMessage
	// Lost tells that the plugin did not close the stream: it has ended.
	Lost bool
}

// StreamPart says what a Streamed is.
type StreamPart uint8

// The parts of an event stream. Items may come on one that was never opened.
const (
	StreamOpen StreamPart = iota + 1
	StreamItem
	StreamClose
)

// RouteAsked tells the plugin's end that the host asks for a route. One AcceptRoute is
// owed, unless RouteClosing comes first.
type RouteAsked struct {
	ID    RouteID
	Route Route
}

// RouteOpened tells that the peer has opened a route, and how much may be written to it.
type RouteOpened struct {
	ID   RouteID
	Room Room
}

// RouteRefused tells that a route was not opened.
type RouteRefused struct {
	ID  RouteID
	Err error
}

// Chunk is data that came on a route. It is not empty, and whoever receives it owns it.
type Chunk struct {
	ID   RouteID
	Data []byte
}

// RouteWritten tells that the peer has taken so many writes, of so many bytes.
type RouteWritten struct {
	ID     RouteID
	Writes int
	Bytes  int
}

// RouteStopped tells the plugin's end that the program of a route is to be ended.
type RouteStopped struct{ ID RouteID }

// RouteExited tells how the program at the far end of a route ended. What it still had to
// say may come behind that, on wires that do not keep the order.
type RouteExited struct {
	ID   RouteID
	Exit Exit
}

// RouteClosing tells the plugin's end that the host wants a route no more. Its program is
// to be ended; then one CloseRoute is owed, on which the host waits.
type RouteClosing struct{ ID RouteID }

// RouteEnded tells that nothing more comes on a route, and nothing more may be written.
// Err says why, nil where the host's end wanted it so.
type RouteEnded struct {
	ID  RouteID
	Err error
}

// RouteClosed tells that a route is over for the peer as well, or that the peer is. It is
// the last of its effects.
type RouteClosed struct{ ID RouteID }

// Retire asks that the far end is ended by force and not started again by itself: what it
// did leaves no doubt that it cannot be trusted with its routes. The owner goes on as with
// any other end, and gives the driver its Closed.
type Retire struct{ Err error }

// Absent tells that whoever is at the far end cannot be reached for now, or says that it
// cannot do what it offers: the session is degraded, and what it offers as well, until
// Present. The connection goes on.
type Absent struct{ Reason string }

// Present takes an Absent back.
type Present struct{}

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
func (Streamed) effect()  {}
func (Chunk) effect()     {}
func (Retire) effect()    {}
func (Absent) effect()    {}
func (Present) effect()   {}
func (SetTimer) effect()  {}
func (StopTimer) effect() {}
func (Dropped) effect()   {}
func (Denied) effect()    {}
func (Fail) effect()      {}

func (RouteAsked) effect()   {}
func (RouteOpened) effect()  {}
func (RouteRefused) effect() {}
func (RouteWritten) effect() {}
func (RouteStopped) effect() {}
func (RouteExited) effect()  {}
func (RouteClosing) effect() {}
func (RouteEnded) effect()   {}
func (RouteClosed) effect()  {}
