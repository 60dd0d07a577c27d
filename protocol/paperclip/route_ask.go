package paperclip

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// askKind is what a request that belongs to a route asks for.
type askKind uint8

const (
	askOpen askKind = iota
	askWrite
	askStop
	askClose
)

// routeAsk is a request in flight that belongs to a route.
type routeAsk struct {
	route *route
	kind  askKind
	// bytes are those of a write, due is when it is waited for no more.
	bytes int
	due   time.Time
	// invocation is that of an open, or "".
	invocation string
}

func (k askKind) method(w wireRoute) string {
	words := wordsOf[w]
	return [...]string{askOpen: words.open, askWrite: words.write, askStop: words.stop, askClose: words.end}[k]
}

// askRoute sends a request that belongs to a route.
func (d *driver) askRoute(r *route, kind askKind, bytes int, params json.RawMessage, out []protocol.Effect) []protocol.Effect {
	d.last++
	d.routes.asked[d.last] = routeAsk{route: r, kind: kind, bytes: bytes}
	return append(out, protocol.Send{Message: Request{ID: d.wireID(), Method: kind.method(r.wire), Params: params}})
}

// writeRoute sends what the owner writes. A write for which there is no room ends the
// route, as in the reference: who keeps to its Room makes none.
func (d *driver) writeRoute(now time.Time, r *route, data []byte, out []protocol.Effect) []protocol.Effect {
	sent, size := data, len(data)
	if !wordsOf[r.wire].isBase64 {
		sent = r.text(data)
		size = protocol.BytesUnits(sent)
	}
	if len(sent) == 0 { // nothing yet, or the beginning of a character
		return append(out, protocol.RouteWritten{ID: r.id, Writes: 1, Bytes: len(data)})
	}
	switch {
	case size > r.limits.Write:
		return d.endRoute(r, d.overLimit("one write", r.limits.Write, "write"), out)
	case r.writes >= r.limits.Writes:
		return d.endRoute(r, d.overLimit("writes without an answer", r.limits.Writes, "writes"), out)
	case r.unanswered+len(data) > r.limits.Unanswered:
		return d.endRoute(r, d.overLimit("bytes written without an answer", r.limits.Unanswered, "unanswered"), out)
	}
	r.writes++
	r.unanswered += len(data)
	return d.sendWaited(now, r, askWrite, len(data), d.writeParams(r, sent), out)
}

// text is what is sent of a write to a route of text: the characters that are whole now,
// and U+FFFD for each byte that is of none.
func (r *route) text(data []byte) []byte {
	whole := r.runes.Take(data)
	if utf8.Valid(whole) {
		return whole
	}
	return []byte(string([]rune(string(whole))))
}

// room is what its owner may write. A write to a route of text takes along what was kept of
// a character, whose room has been given back: the worker may count so much more for each
// byte.
func (r *route) room() protocol.Room {
	kept := 0
	if !wordsOf[r.wire].isBase64 {
		kept = utf8.UTFMax - 1
	}
	return protocol.Room{Write: max(1, r.limits.Write-kept), Writes: r.limits.Writes, Bytes: max(1, r.limits.Unanswered/(1+kept))}
}

// stopRoute asks the worker to end the program of a route.
func (d *driver) stopRoute(now time.Time, r *route, out []protocol.Effect) []protocol.Effect {
	if r.isStopping {
		return out
	}
	r.isStopping = true
	return d.sendWaited(now, r, askStop, 0, r.named().done(), out)
}

// sendWaited sends a request that is waited for as long as its answer may take.
func (d *driver) sendWaited(now time.Time, r *route, kind askKind, bytes int, params json.RawMessage, out []protocol.Effect) []protocol.Effect {
	out = d.askRoute(r, kind, bytes, params, out)
	sent := d.routes.asked[d.last]
	sent.due = now.Add(r.limits.Answer)
	d.routes.asked[d.last] = sent
	if !r.isArmed {
		r.isArmed = true
		out = append(out, r.setTimer(answerTimer, r.limits.Answer))
	}
	return out
}

// named begins parameters with the names that identify the route.
func (r *route) named() object {
	o := newObject()
	if r.wire.isDuplex() {
		o = o.str("hostRouteId", r.name)
	}
	return o.str("workerSessionId", r.session)
}

// routeAnswered takes the answer to a request of a route. One whose id has another type
// has failed.
func (d *driver) routeAnswered(n uint64, a routeAsk, r Response, other string, out []protocol.Effect) []protocol.Effect {
	delete(d.routes.asked, n)
	d.invocations.end(a.invocation)
	method := a.kind.method(a.route.wire)
	result, err := r.outcome(method, d.settings.Plugin)
	if other != "" {
		result, err = nil, d.settings.Fault(protocol.CodeWire, fmt.Sprintf(
			"%s was answered under the id %s, a %s; expected the number %d", method, clip(string(r.ID)), other, n))
	}
	switch a.kind {
	case askOpen:
		return d.openAnswered(a.route, result, err, out)
	case askClose:
		return d.closeAnswered(a.route, result, err, out)
	case askWrite, askStop:
	}
	return a.route.settle(a, out) // whether the worker could do it says its exit
}

// settle ends a write, whose room is free again, or a stop.
func (r *route) settle(a routeAsk, out []protocol.Effect) []protocol.Effect {
	if a.kind == askStop {
		r.isStopping = false
		return out
	}
	r.writes--
	r.unanswered -= a.bytes
	if r.phase == routeOpen {
		out = append(out, protocol.RouteWritten{ID: r.id, Writes: 1, Bytes: a.bytes})
	}
	return out
}

// closeAnswered takes the confirmation of a close. A worker that does not confirm it may
// still have the program; one that has neither the open nor the close has none.
func (d *driver) closeAnswered(r *route, result json.RawMessage, err error, out []protocol.Effect) []protocol.Effect {
	out = append(out, protocol.StopTimer{Timer: r.timer(closeTimer)})
	if why := r.unconfirmed(result, err); why != "" && (!r.isUnknown || !lacksMethod(err)) {
		out = d.retire(protocol.CodeWire, wordsOf[r.wire].end+" of "+r.name+" was not confirmed: "+why, out)
	}
	return d.closedRoute(r, out)
}

// unconfirmed is why an answer confirms no close, "" where it does.
func (r *route) unconfirmed(result json.RawMessage, err error) string {
	switch {
	case err != nil:
		return "it was answered with an error: " + clip(err.Error())
	case nonBlank(member(result, "hostRouteId")) != r.name:
		return "expected the hostRouteId back"
	case r.wire.isDuplex() && r.session != "" && nonBlank(member(result, "workerSessionId")) != r.session:
		return "expected the workerSessionId " + clip(r.session) + " back"
	}
	return ""
}

// The timers of a route.
type routeTimer uint32

const (
	openTimer routeTimer = iota
	closeTimer
	lifeTimer
	answerTimer
	routeTimers
)

// maxBlock is where the numbers of the routes' timers begin anew.
const maxBlock = 1 << 30

func (r *route) timer(t routeTimer) protocol.TimerID {
	return protocol.TimerID(r.block*uint32(routeTimers) + uint32(t)) // block is above 0: these are above expiryTimer
}

func (r *route) setTimer(t routeTimer, after time.Duration) protocol.SetTimer {
	return protocol.SetTimer{Timer: r.timer(t), After: after}
}

// routeTimer takes a timer of a route that ran out.
func (d *driver) routeTimer(now time.Time, id protocol.TimerID, out []protocol.Effect) []protocol.Effect {
	r := d.routes.timers[uint32(id)/uint32(routeTimers)]
	if r == nil {
		return out
	}
	switch routeTimer(uint32(id) % uint32(routeTimers)) {
	case openTimer:
		if r.phase == routeOpening {
			return d.endRoute(r, d.settings.Fault(protocol.CodeTimeout, fmt.Sprintf(
				"%s was not answered within %s (route open)", wordsOf[r.wire].open, r.limits.Open)), out)
		}
	case closeTimer:
		if r.phase == routeClosing {
			out = d.retire(protocol.CodeTimeout, fmt.Sprintf(
				"%s of %s was not confirmed within %s", wordsOf[r.wire].end, r.name, r.limits.Close), out)
			return d.closedRoute(r, out)
		}
	case lifeTimer:
		if r.phase == routeOpen || r.phase == routeExited {
			return d.endRoute(r, d.settings.Fault(protocol.CodeTimeout, fmt.Sprintf(
				"the route was open for %s, the limit (life)", r.limits.Life)), out)
		}
	case answerTimer:
		return d.expireWrites(now, r, out)
	case routeTimers:
	}
	return out
}

// expireWrites gives up waiting for the writes whose time is over.
func (d *driver) expireWrites(now time.Time, r *route, out []protocol.Effect) []protocol.Effect {
	r.isArmed = false
	if r.phase == routeClosing {
		return out
	}
	var next time.Time
	for n, a := range d.routes.asked {
		switch {
		case a.route != r || a.due.IsZero():
		case !a.due.After(now):
			delete(d.routes.asked, n)
			out = r.settle(a, out)
		case next.IsZero() || a.due.Before(next):
			next = a.due
		}
	}
	if next.IsZero() {
		return out
	}
	r.isArmed = true
	return append(out, r.setTimer(answerTimer, next.Sub(now)))
}

// over says that a limit was reached.
func over(what string, limit int, option string) string {
	return fmt.Sprintf("%s: more than %s, the limit (%s)", what, strconv.Itoa(limit), option)
}

func (d *driver) overLimit(what string, limit int, option string) error {
	return d.settings.Fault(protocol.CodeOverloaded, "the route has ended: "+over(what, limit, option))
}
