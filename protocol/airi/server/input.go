package server

import "encoding/json"

// Conn is a connection, by a number of the caller's choice that is never used again.
type Conn uint64

// Session is one run of one module, by a number of the server's choice, from 1. It outlives
// its connection: see [Away].
type Session uint64

// Input is what happened: Opened, Received, Ended, Fired, Shut, or one of the host's own
// events Emit, Tell, Configure and Dismiss.
type Input interface{ input() }

// Opened is a connection whose websocket is open. Peer is an id of its own, a UUID at the
// reference server, by which it is reached as "peer:ID".
type Opened struct {
	Conn Conn
	Peer string
	// Known tells that it has shown a token already, in the request for the websocket;
	// Credential is then what Verify made of that. Nothing is waited for.
	Known      bool
	Credential string
}

// Received is a text frame, or a binary one, that a connection sent: what [Decode] made of
// it, which may be done before anybody waits for the server. The record belongs to the
// server from then on.
type Received struct {
	Conn  Conn
	Frame Frame
	Err   error
}

// Receive decodes a record.
func Receive(c Conn, record []byte) Received {
	f, err := Decode(record)
	return Received{c, f, err}
}

// Ended is a connection that is over, whoever closed it. Of one that the server closed
// itself it changes nothing.
type Ended struct {
	Conn Conn
	// Reason is told to others; "" means "connection closed".
	Reason string
}

// Fired is a timer whose time has come.
type Fired struct{ Timer Timer }

// Shut closes all connections, with [CodeGoingAway]. Nothing is announced of it, and what
// comes afterwards is ignored.
type Shut struct{}

// Emit is an event of the host's, which is routed like a peer's: by destinations, delivery
// and policy.
type Emit struct {
	Type string
	// Data is an object, nil for {}; Route is as on the wire, nil for none.
	Data, Route json.RawMessage
}

// Tell is an event about one session: to its peer, or to everybody.
type Tell struct {
	Session Session
	Type    string
	// Data is an object, before whose members the session's identity is put.
	Data     json.RawMessage
	Everyone bool
	// Bare leaves the identity out.
	Bare bool
}

// Configure hands a configuration to a session's peer, as module:configure; nil is {}.
type Configure struct {
	Session Session
	Config  json.RawMessage
}

// Dismiss ends a session from the host's side: it is de-announced, and a connection that
// has no other is closed.
type Dismiss struct {
	Session Session
	Reason  string
}

func (Opened) input()    {}
func (Received) input()  {}
func (Ended) input()     {}
func (Fired) input()     {}
func (Shut) input()      {}
func (Emit) input()      {}
func (Tell) input()      {}
func (Configure) input() {}
func (Dismiss) input()   {}

// Timer names what is waited for. There is at most one of each.
type Timer struct {
	Kind TimerKind
	// Conn or Session is whose it is; 0 for none.
	Conn    Conn
	Session Session
}

// TimerKind is what a timer is for.
type TimerKind int

const (
	// TimerSync tells that the next list of modules may be sent.
	TimerSync TimerKind = iota + 1
	// TimerBeat tells that heartbeats are to be looked after.
	TimerBeat
	// TimerAuthentication tells that a connection should have authenticated by now.
	TimerAuthentication
	// TimerGrace tells that a session has waited for its peer.
	TimerGrace
)
