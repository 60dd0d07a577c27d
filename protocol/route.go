package protocol

import "encoding/json"

// A route is a live stream between the host and the far end of one connection that no
// single call carries: a pseudo-terminal, a duplex channel. Its bytes are a stream; how
// they are cut into chunks means nothing. Each end has its own words:
//
//	the host's end                                    the plugin's end
//
//	OpenRoute    ──▶ (the peer is asked)              RouteAsked    ◀── (the host asks)
//	RouteOpened  ◀──  or RouteRefused                 AcceptRoute   ──▶
//	ReadRoute    ──▶ a reader is there
//	Chunk        ◀── bytes of the peer's              WriteRoute    ──▶
//	WriteRoute   ──▶                                  Chunk         ◀──
//	RouteWritten ◀── the peer took a write            TakeRoute     ──▶
//	StopRoute    ──▶ end the program                  RouteStopped  ◀──
//	RouteExited  ◀── the program has ended            ExitRoute     ──▶
//	CloseRoute   ──▶                                  RouteClosing  ◀──
//	RouteEnded   ◀── nothing more comes
//	RouteClosed  ◀── the peer knows                   CloseRoute    ──▶
//
// At the host's end every OpenRoute is followed by these effects, each at most once but
// for the chunks and writes, in this order:
//
//	RouteRefused, RouteClosed                         it was never open
//	RouteOpened, Chunk …, RouteExited?, Chunk …, RouteEnded, RouteClosed
//
// Nothing of a route follows its RouteClosed, and no chunk its RouteEnded. Whoever waits
// for the program's end learns it by RouteExited, or by RouteEnded without one: then
// nobody knows how it ended. The end of the connection closes all routes.
//
// The life of a route as a state machine is lifecycle.Route, which the owner of the
// connection steps: OpenRoute is its ASK, RouteOpened CONFIRMED, RouteRefused REFUSED,
// RouteExited PEER_ENDED, CloseRoute END, RouteEnded with an error FAIL, and RouteClosed,
// once the reader has what is queued, DRAINED.

// RouteID numbers the routes of one connection. At the host's end the host chooses it, and
// reuses none; at the plugin's end the driver does.
type RouteID uint64

// RouteKind says what a route is.
type RouteKind string

// The kinds of routes.
const (
	// RoutePTY is a pseudo-terminal: text, with a program at its far end.
	RoutePTY RouteKind = "pty"
	// RouteDuplex is a channel of bytes in both directions.
	RouteDuplex RouteKind = "duplex"
)

// Routing is a Dialect whose wire knows routes. The host refuses an OpenRoute for any
// other.
type Routing interface {
	// Routes does nothing; to have it is the promise.
	Routes()
}

// Route is what a route is asked to be.
type Route struct {
	Kind RouteKind
	// Scope is the tenant; "" is the configured default.
	Scope string
	// Params say what is to be opened, as the dialect documents it.
	Params json.RawMessage
	// Trace is a W3C traceparent value, or "".
	Trace string
}

// Exit is how the program at the far end of a route ended.
type Exit struct {
	// Code is its status, if HasCode.
	Code    int
	HasCode bool
	// Lost tells that the far end lost the program, and how it ended is not known.
	Lost bool
}

// Room is what may be written to a route: at most Write bytes at a time, and at most
// Writes times and Bytes bytes that no RouteWritten has given back. A route that is
// written to beyond that ends.
type Room struct{ Write, Writes, Bytes int }
