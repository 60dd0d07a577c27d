package protocol

import "encoding/json"

// Input is what happened to one end of a connection: one of Received, Run,
// Emit, Invoke, Feed, FeedEnd, Cancel, Report, Reply, OpenRoute, AcceptRoute, ReadRoute,
// WriteRoute, TakeRoute, StopRoute, ExitRoute, CloseRoute, Stream, Fired and Closed. What belongs
// to a route is told with [RouteID]; of a route that is over it means nothing.
type Input interface{ input() }

// Received is a wire message that arrived. A [Borrower] is given a pointer to it.
type Received struct{ Message Message }

// Run asks the far end to pass through one step of its life. Exactly one Ran
// with the same Step follows, unless the connection ends first. A driver runs
// one step at a time; a second one while the first runs fails at once.
type Run struct {
	Step Step
	// Params is what the step needs, as the dialect documents it; nil for none.
	Params json.RawMessage
}

// Emit puts an event on the plugin's own channel.
type Emit struct{ Event Event }

// Invoke asks for one call of a capability at the far end. Exactly one Complete
// with the same id follows, unless a Cancel does.
//
// A driver uses neither the call's Progress nor its Feed: it is told what they come to.
// A [Borrower] is given a pointer to it.
type Invoke struct {
	ID   CallID
	Call Call
	// Follows tells that the caller takes intermediate items; a driver may collect
	// them for one that does not.
	Follows bool
	// Feeds tells that the input is a stream: Feed inputs with the same id follow, and
	// one FeedEnd, unless the call is over before. Only a Streaming dialect gets it.
	Feeds bool
}

// Feed is one item of the request stream of a call that the host makes. Where the peer
// has no room for its frame, that is sent later, before anything else of the call but
// its Cancel, after which it is not sent; so it is with FeedEnd and Report.
type Feed struct {
	ID   CallID
	Item json.RawMessage
}

// FeedEnd ends the request stream of a call; with Err it has failed.
type FeedEnd struct {
	ID  CallID
	Err error
}

// Cancel tells that nobody waits for a call any more. The far end is told where
// the wire has a word for it. No Complete follows: an answer that still comes is
// dropped and counted.
type Cancel struct {
	ID     CallID
	Reason string
}

// Report is an intermediate item of a call that the peer makes and follows. It comes
// before the Reply.
type Report struct {
	ID   RequestID
	Item json.RawMessage
}

// Reply is the host's answer to a Serve effect. Where its frame cannot be sent, a
// second Reply with an Err follows at once, before any other one.
type Reply struct {
	ID     RequestID
	Result json.RawMessage
	// Err is the failure; the result is ignored then.
	Err error
}

// OpenRoute asks for a route at the far end; see [RouteID] for what follows.
type OpenRoute struct {
	ID    RouteID
	Route Route
}

// AcceptRoute is the plugin's answer to a RouteAsked: the route is open, or Err says why
// not.
type AcceptRoute struct {
	ID  RouteID
	Err error
}

// ReadRoute tells that a route has a reader. What came before it is kept until then,
// within bounds, at which the route ends.
type ReadRoute struct{ ID RouteID }

// WriteRoute sends bytes on a route, within its [Room]. A wire of text carries whole
// characters: a part of one waits for the next write, and what is no UTF-8 becomes U+FFFD.
type WriteRoute struct {
	ID   RouteID
	Data []byte
}

// TakeRoute tells that the plugin has taken the oldest chunks of a route, so many of them.
type TakeRoute struct {
	ID     RouteID
	Chunks int
}

// StopRoute asks the far end to end the program of a route.
type StopRoute struct{ ID RouteID }

// ExitRoute tells the host that the program of a route has ended.
type ExitRoute struct {
	ID   RouteID
	Exit Exit
}

// CloseRoute ends a route. At the plugin's end it answers a RouteClosing: nothing of the
// route is left.
type CloseRoute struct{ ID RouteID }

// Stream puts something on an event stream of the plugin's own; it is for the plugin's end.
type Stream struct{ Streamed }

// Fired is a timer set by SetTimer that has run out.
type Fired struct{ Timer TimerID }

// Closed is the end of the connection. Whatever is still in flight is completed
// with Err's words, once, and nothing may follow.
type Closed struct{ Err error }

func (Received) input() {}
func (Run) input()      {}
func (Emit) input()     {}
func (Invoke) input()   {}
func (Feed) input()     {}
func (FeedEnd) input()  {}
func (Cancel) input()   {}
func (Report) input()   {}
func (Reply) input()    {}
func (Fired) input()    {}
func (Closed) input()   {}

func (OpenRoute) input()   {}
func (AcceptRoute) input() {}
func (ReadRoute) input()   {}
func (WriteRoute) input()  {}
func (TakeRoute) input()   {}
func (StopRoute) input()   {}
func (ExitRoute) input()   {}
func (CloseRoute) input()  {}
func (Stream) input()      {}

// CallID numbers the host's calls on one connection. The host chooses it and
// never reuses one while its call is in flight.
type CallID uint64

// RequestID numbers the peer's calls on one connection. The driver chooses it;
// the id that the wire uses stays inside the driver, raw.
type RequestID uint64

// TimerID names a timer of one driver.
type TimerID uint32
