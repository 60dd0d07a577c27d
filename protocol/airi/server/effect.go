package server

import (
	"encoding/json"
	"time"
)

// Effect is what has to be done, in order: Send, Close, SetTimer, StopTimer, or a fact.
//
// Facts are Authenticated, Negotiated, Announced, Away, Gone, Health, Life, Routed,
// EventaFrame and Dropped.
type Effect interface{ effect() }

// Send hands one frame to connections, as text. Frame and To are not written to afterwards,
// and whoever carries this out does not write to them either.
type Send struct {
	To    []Conn
	Frame []byte
}

// Close ends a connection. The server has forgotten it.
type Close struct {
	Conn Conn
	// Code is a close code; [CodeNone] means a close frame without one.
	Code   int
	Reason string
}

// The close codes that a server uses.
const (
	CodeGoingAway = 1001
	// CodeNone is what the other end sees where no code was sent.
	CodeNone     = 1005
	CodePolicy   = 1008
	CodeTryLater = 1013
	// CodeReplaced: the same identity has connected anew.
	CodeReplaced = 4001
)

// SetTimer sets a timer anew, whether it runs or not.
type SetTimer struct {
	Timer Timer
	After time.Duration
}

// StopTimer forgets a timer, which may have fired already.
type StopTimer struct{ Timer Timer }

// Authenticated tells that a connection may be listened to.
type Authenticated struct {
	Conn Conn
	// Credential is what Verify made of its token; "" without one.
	Credential string
	// Extension is who extension:authenticate or extension:announce says it is.
	Extension *Identity
}

// Negotiated tells what a connection's module:compatibility:request came to, which the
// server has answered. A rejected peer stays connected.
type Negotiated struct {
	Conn      Conn
	Proposal  Proposal
	Agreement Agreement
	// Source is who the peer says it is, if it says so.
	Source *Identity
}

// Announced tells that a session has a peer that announces it.
type Announced struct {
	Session Session
	Conn    Conn
	Module  Module
	// How is what it is to the session.
	How How
	// From is the connection that had it, where How is Swapped. Calls in flight there have
	// an unknown outcome. Unless it has other modules, it is closed.
	From Conn
	// Negotiates tells that the peer asked for compatibility before: it goes on to say
	// when it is prepared. Otherwise it is ready.
	Negotiates bool
}

// How says what an announcement is to its session.
type How int

const (
	// First is the first announcement of a session.
	First How = iota + 1
	// Again is one of a module that is there: what it says may have changed.
	Again
	// Returned is the first one after [Away].
	Returned
	// Swapped is one by another connection, while the old one was there.
	Swapped
)

// Module is what a peer says of a module.
type Module struct {
	Generation Generation
	Name       string
	// Index is nil without one.
	Index    *int
	Identity Identity
	// PossibleEvents is what it says it sends and hears. The rest is raw, nil if absent.
	PossibleEvents                          []string
	ConfigSchema, Dependencies, Permissions json.RawMessage
}

// Away tells that a session's peer is gone. Within the grace time Announced follows, with
// Returned, or else Gone.
type Away struct {
	Session Session
	Conn    Conn
	Reason  string
}

// Gone tells that a session is over.
type Gone struct {
	Session Session
	Reason  string
}

// Health tells that the peer of a session is late with its heartbeats, or no more.
type Health struct {
	Session Session
	Healthy bool
}

// Life is an event about the life of one session. It was passed on to others, too.
type Life struct {
	// Session is whom the event's identity names; where it names nobody and comes from
	// a connection with one module, that.
	Session Session
	// Conn is where it came from; Own tells that this is the session's own peer, and not a
	// Configurator.
	Conn Conn
	Own  bool
	// Answers tells that its parent is an event of somebody else than this server.
	Answers bool
	// Type is one of those that [LifeTypes] lists. Data is the event's data without what is
	// undefined.
	Type string
	Data json.RawMessage
}

// Routed tells of an event that was passed on.
type Routed struct {
	// Conn is where it came from; 0 for the host. Of the host's own, Frame has type and
	// data only.
	Conn  Conn
	Frame Frame
	// To is how many peers got it. Consumed tells that one consumer had to have it.
	To       int
	Consumed bool
}

// EventaFrame is a frame of Eventa's websocket adapter from an authenticated connection.
type EventaFrame struct {
	Conn   Conn
	Record []byte
}

// Dropped tells that something was not used. It is to be counted under its reason.
type Dropped struct {
	Conn   Conn
	Reason string
}

// The reasons of [Dropped].
const (
	DroppedMalformed       = "malformed"
	DroppedUnauthenticated = "unauthenticated"
	DroppedNoConsumer      = "no-consumer"
	DroppedLongSource      = "long-source"
	DroppedLimit           = "limit"
	DroppedUnknown         = "unknown"
)

func (Send) effect()          {}
func (Close) effect()         {}
func (SetTimer) effect()      {}
func (StopTimer) effect()     {}
func (Authenticated) effect() {}
func (Negotiated) effect()    {}
func (Announced) effect()     {}
func (Away) effect()          {}
func (Gone) effect()          {}
func (Health) effect()        {}
func (Life) effect()          {}
func (Routed) effect()        {}
func (EventaFrame) effect()   {}
func (Dropped) effect()       {}
