package lifecycle

// The states of a route: a live stream between the host and one session, such as
// an execution log, a pseudo-terminal, a duplex channel or an event stream.
const (
	// RouteReserved: the route has its id and its share of the limits; the peer has
	// not heard of it. Ends when the peer is asked to open it.
	RouteReserved State = "reserved"

	// RouteOpening: the peer was asked, or the call that the route belongs to was
	// sent. What already comes from the peer is held, in order and bounded. Ends
	// with the peer's answer or the limit on waiting for it.
	RouteOpening State = "opening"

	// RouteOpen: data flows. Ends when either end closes it.
	RouteOpen State = "open"

	// RouteClosing: no more data is accepted. What is queued still goes to its
	// reader, and the peer is told where it has to be. Ends when both are done, or
	// at a deadline, which is a failure.
	RouteClosing State = "closing"

	// RouteClosed: the end. Its share of the limits is free again; its id may be
	// remembered for a while, so that late frames are known for what they are.
	RouteClosed State = "closed"
)

// The events of a route.
const (
	// RouteAsk: the peer is asked to open it.
	RouteAsk Event = "ASK"
	// RouteConfirmed: the peer has opened it. Where a wire has no such answer, its
	// driver says so as soon as it has asked.
	RouteConfirmed Event = "CONFIRMED"
	// RouteRefused: the peer answered that it will not, or with nonsense.
	RouteRefused Event = "REFUSED"
	// RoutePeerEnded: the peer says that nothing more will come.
	RoutePeerEnded Event = "PEER_ENDED"
	// RouteEnd: the host's side does not want it any more.
	RouteEnd Event = "END"
	// RouteDrained: the reader has what was queued, and the peer knows.
	RouteDrained Event = "DRAINED"
	// RouteFail: a limit was reached, the session ended, or the peer broke the
	// rules. What is queued still goes to its reader, who then learns why.
	RouteFail Event = "FAIL"
)

// routeTable lets either end close at any time, also both at once, and an answer
// to the request to open may come after the host has changed its mind.
var routeTable = Table{
	RouteReserved: {
		RouteAsk:       RouteOpening,
		RoutePeerEnded: RouteClosed,
		RouteEnd:       RouteClosed,
		RouteFail:      RouteClosed,
	},
	RouteOpening: {
		RouteConfirmed: RouteOpen,
		RouteRefused:   RouteClosed,
		RoutePeerEnded: RouteClosing,
		RouteEnd:       RouteClosing,
		RouteFail:      RouteClosed,
	},
	RouteOpen: {
		RoutePeerEnded: RouteClosing,
		RouteEnd:       RouteClosing,
		RouteFail:      RouteClosed,
	},
	RouteClosing: {
		RouteConfirmed: RouteClosing,
		RouteRefused:   RouteClosed,
		RoutePeerEnded: RouteClosing,
		RouteEnd:       RouteClosing,
		RouteDrained:   RouteClosed,
		RouteFail:      RouteClosed,
	},
	RouteClosed: {}, // terminal
}

// Route is the life of one route. It begins in [RouteReserved] and ends in
// [RouteClosed]. Errors name the route.
var Route = newMachine(definition{
	name:   "route",
	states: []State{RouteReserved, RouteOpening, RouteOpen, RouteClosing, RouteClosed},
	events: []Event{
		RouteAsk, RouteConfirmed, RouteRefused, RoutePeerEnded, RouteEnd, RouteDrained, RouteFail,
	},
	terminals: []State{RouteClosed},
	table:     routeTable,
})
