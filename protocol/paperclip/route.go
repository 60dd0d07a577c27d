package paperclip

import (
	"maps"
	"slices"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// wireRoute is one of the kinds of routes that this wire has known.
type wireRoute uint8

const (
	// setupTokenPTY is the pseudo-terminal of release 2026.824: one for a worker.
	setupTokenPTY wireRoute = iota
	// loginPTY is the one since 2026.831: any number, which name their route.
	loginPTY
	// duplexBase64 is the channel of the releases, duplexText that of an older source.
	duplexBase64
	duplexText
)

// routeWords are the wire's names for what is done with a route.
type routeWords struct {
	open, write, stop, end string
	// data is the notification with a chunk.
	data string
	// isBase64 tells how chunks and writes carry bytes.
	isBase64 bool
}

var wordsOf = [...]routeWords{
	setupTokenPTY: {open: "setupTokenPtyOpen", write: "setupTokenPtyInput", stop: "setupTokenPtyStop", end: "setupTokenPtyClose", data: "setupTokenPty.output"},
	loginPTY:      {open: "loginPtyOpen", write: "loginPtyInput", stop: "loginPtyStop", end: "loginPtyClose", data: "loginPty.output"},
	duplexBase64:  {open: "duplexChannelOpen", write: "duplexChannelWrite", stop: "duplexChannelStop", end: "duplexChannelClose", data: "duplexChannel.data", isBase64: true},
	duplexText:    {open: "duplexChannelOpen", write: "duplexChannelWrite", stop: "duplexChannelStop", end: "duplexChannelClose", data: "duplexChannel.data"},
}

// isDuplex tells a channel from a pseudo-terminal.
func (w wireRoute) isDuplex() bool { return w == duplexBase64 || w == duplexText }

// routePhase is as far as the driver has to know it; lifecycle.Route is the whole story,
// and its owner's.
type routePhase uint8

const (
	// routeOpening: the worker was asked.
	routeOpening routePhase = iota
	// routeOpen: it has answered, and its session is bound.
	routeOpen
	// routeExited: a login pseudo-terminal whose program has ended. Neither side says more.
	routeExited
	// routeClosing: nothing is passed on any more; the worker is asked to confirm that.
	routeClosing
)

// route is one route of the host's end.
type route struct {
	id     protocol.RouteID
	wire   wireRoute
	limits RouteLimits
	// name is the host's for it on the wire, session the worker's, "" before it is open.
	name, session string
	phase         routePhase
	// reading tells that there is a reader; held is what waits for one.
	reading bool
	held    chunks
	// early is what came before the answer to the open, in order, as far as it fits; of a
	// channel the exit is kept apart.
	early     []frame
	earlySize int
	earlyExit *frame
	// total is what came in all, faults how much of it was malformed.
	total, faults int
	// hasExited tells that the exit was told.
	hasExited bool
	// writes and unanswered are the writes in flight and their bytes.
	writes, unanswered int
	// isStopping tells that a stop is in flight.
	isStopping bool
	// isUnknown tells that the worker has not got what opens such a route.
	isUnknown bool
	runes     protocol.Runes
	// hasSlot tells that it counts among the host's routes.
	hasSlot bool
	// block is where its timers are; see routeTimer.
	block   uint32
	isArmed bool
}

// chunks is what waits for a reader.
type chunks struct {
	list [][]byte
	size int
}

// frame is what came for a route, decoded.
type frame struct {
	// session is whom it says that it comes from.
	session string
	isExit  bool
	exit    protocol.Exit
	piece
}

// routes are those of one worker.
type routes struct {
	shared *Routes
	byID   map[protocol.RouteID]*route
	// byName are those that name themselves on the wire, terminal the one that does not.
	byName   map[string]*route
	terminal *route
	// logins counts the login pseudo-terminals that are opening or open.
	logins int
	// past are the pairs of names of the channels that are over: frames of theirs may
	// still come.
	past map[pair]struct{}
	// asked are the requests in flight that belong to a route, by their numbers.
	asked  map[uint64]routeAsk
	timers map[uint32]*route
	block  uint32
	// isRetired tells that the worker is to be ended, and nothing of its routes counts
	// any more; isWarned that a terminal without a name was told.
	isRetired, isWarned bool
}

// pair names a channel: only both together do.
type pair struct{ name, session string }

func newRoutes(shared *Routes) routes {
	if shared == nil {
		shared = NewRoutes(0)
	}
	return routes{
		shared: shared, byID: make(map[protocol.RouteID]*route), byName: make(map[string]*route),
		past: make(map[pair]struct{}), asked: make(map[uint64]routeAsk), timers: make(map[uint32]*route),
	}
}

// routeStep takes what the owner wants of a route.
func (d *driver) routeStep(now time.Time, in protocol.Input, out []protocol.Effect) []protocol.Effect {
	switch in := in.(type) {
	case protocol.OpenRoute:
		return d.openRoute(now, in, out)
	case protocol.ReadRoute:
		if r := d.routes.byID[in.ID]; r != nil {
			r.reading = true
			return r.flush(out)
		}
	case protocol.WriteRoute:
		if r := d.routes.byID[in.ID]; r != nil && r.phase == routeOpen {
			return d.writeRoute(now, r, in.Data, out)
		}
	case protocol.StopRoute:
		if r := d.routes.byID[in.ID]; r != nil && r.phase == routeOpen {
			return d.stopRoute(now, r, out)
		}
	case protocol.CloseRoute:
		if r := d.routes.byID[in.ID]; r != nil {
			return d.endRoute(r, nil, out)
		}
	}
	return out
}

// add takes a route into the tables.
func (v *routes) add(r *route) {
	v.byID[r.id] = r
	if r.wire == setupTokenPTY {
		v.terminal = r
	} else {
		v.byName[r.name] = r
	}
	if r.wire == loginPTY {
		v.logins++
	}
	for v.block++; v.timers[v.block] != nil || v.block >= maxBlock; v.block++ {
		if v.block >= maxBlock {
			v.block = 0
		}
	}
	r.block = v.block
	v.timers[r.block] = r
}

// release gives the route's share of the ceiling back, once.
func (v *routes) release(r *route) {
	if r.hasSlot {
		r.hasSlot = false
		v.shared.release()
	}
}

// quiet tells that a login pseudo-terminal counts no more among those that frames without
// a name may be for.
func (v *routes) quiet(r *route) {
	if r.wire == loginPTY && (r.phase == routeOpening || r.phase == routeOpen) {
		v.logins--
	}
}

// remove takes a route out of all tables, and its requests with it.
func (v *routes) remove(r *route) {
	v.release(r)
	delete(v.byID, r.id)
	delete(v.timers, r.block)
	if v.terminal == r {
		v.terminal = nil
	}
	if v.byName[r.name] == r {
		delete(v.byName, r.name)
	}
	for n, a := range v.asked {
		if a.route == r {
			delete(v.asked, n)
		}
	}
}

// endRoute ends a route, once: nothing is passed on any more, and the worker is asked to
// close it. err is why, nil where the owner wants it so.
func (d *driver) endRoute(r *route, err error, out []protocol.Effect) []protocol.Effect {
	if r.phase == routeClosing {
		return out
	}
	out = d.finishRoute(r, err, out)
	out = d.bury(r, out)
	out = append(out, r.setTimer(closeTimer, r.limits.Close))
	return d.askRoute(r, askClose, 0, newObject().str("hostRouteId", r.name).done(), out)
}

// finishRoute tells that a route is over, or that it was never open. What waits for a
// reader still goes to it.
func (d *driver) finishRoute(r *route, err error, out []protocol.Effect) []protocol.Effect {
	was := r.phase
	d.routes.quiet(r)
	r.phase, r.early, r.earlyExit = routeClosing, nil, nil
	if r.wire.isDuplex() {
		d.routes.release(r)
	}
	if was == routeOpening {
		d.forgetOpen(r)
		if err == nil {
			err = d.settings.Fault(protocol.CodeCancelled, "the route was closed before plugin "+d.settings.Plugin+" had opened it")
		}
		return append(out, protocol.StopTimer{Timer: r.timer(openTimer)}, protocol.RouteRefused{ID: r.id, Err: err})
	}
	out = append(r.flush(out), protocol.StopTimer{Timer: r.timer(lifeTimer)})
	if r.isArmed {
		out = append(out, protocol.StopTimer{Timer: r.timer(answerTimer)})
	}
	return append(out, protocol.RouteEnded{ID: r.id, Err: err})
}

// bury remembers the names of a channel that is over. A worker that has used up what may
// be remembered is retired: none is forgotten to let its names come back.
func (d *driver) bury(r *route, out []protocol.Effect) []protocol.Effect {
	if !r.wire.isDuplex() || r.session == "" {
		return out
	}
	limit := d.plugin.Limits.Session.filled().Past
	if len(d.routes.past) >= limit {
		return d.retire(protocol.CodeOverloaded, over("closed channels", limit, "session.past"), out)
	}
	d.routes.past[pair{r.name, r.session}] = struct{}{}
	return out
}

// closedRoute is the very end of a route.
func (d *driver) closedRoute(r *route, out []protocol.Effect) []protocol.Effect {
	d.routes.remove(r)
	return append(out, protocol.RouteClosed{ID: r.id})
}

// retire asks for the worker's end, once.
func (d *driver) retire(code protocol.Code, why string, out []protocol.Effect) []protocol.Effect {
	if d.routes.isRetired {
		return out
	}
	d.routes.isRetired = true
	return append(out, protocol.Retire{Err: d.settings.Fault(code, "plugin "+d.settings.Plugin+" is ended: "+why)})
}

// loseRoutes ends all routes with the connection, in the order of their ids.
func (d *driver) loseRoutes(cause error, out []protocol.Effect) []protocol.Effect {
	for _, id := range slices.Sorted(maps.Keys(d.routes.byID)) {
		r := d.routes.byID[id]
		if r.phase != routeClosing {
			out = d.finishRoute(r, d.settings.Lost("the route", cause), out)
		}
		out = d.closedRoute(r, out)
	}
	return out
}
