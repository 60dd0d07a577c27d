package paperclip

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// workerPhase is how far a route of the worker's end is.
type workerPhase uint8

const (
	// workerAsked: the host waits for the answer to its open.
	workerAsked workerPhase = iota
	// workerServed: bytes go both ways.
	workerServed
	// workerDone: the host was told of the exit; it is to close the route.
	workerDone
	// workerLeft: nothing of it is left here, and the host has not closed it yet.
	workerLeft
	// workerLeaving: the host waits for the answer to its close.
	workerLeaving
)

// workerRoute is one route of the worker's end.
type workerRoute struct {
	id            protocol.RouteID
	wire          wireRoute
	name, session string
	phase         workerPhase
	// openID and closeID are the host's requests that wait, nil for none.
	openID, closeID json.RawMessage
	// owed are the host's writes that the plugin has not taken, size what they have
	// together: bytes, or UTF-16 units, of which no text has more than bytes.
	owed  []owedWrite
	size  int
	runes protocol.Runes
}

type owedWrite struct {
	id   json.RawMessage
	size int
}

// workerRoutes are all of them.
type workerRoutes struct {
	byID      map[protocol.RouteID]*workerRoute
	byName    map[string]*workerRoute
	bySession map[string]*workerRoute
	last      protocol.RouteID
}

func newWorkerRoutes() workerRoutes {
	return workerRoutes{byID: map[protocol.RouteID]*workerRoute{}, byName: map[string]*workerRoute{}, bySession: map[string]*workerRoute{}}
}

// routeMethod is what a request of the host's asks of a route.
type routeMethod struct {
	wire wireRoute
	kind askKind
}

// routeMethods are all those requests; channels stand there in one form.
var routeMethods = func() map[string]routeMethod {
	all := map[string]routeMethod{}
	for _, w := range []wireRoute{setupTokenPTY, loginPTY, duplexBase64} {
		for _, kind := range []askKind{askOpen, askWrite, askStop, askClose} {
			all[kind.method(w)] = routeMethod{w, kind}
		}
	}
	return all
}()

// routeRequested takes a request of the host's that is about a route.
func (w *Worker) routeRequested(m routeMethod, r Request, out []protocol.Effect) []protocol.Effect {
	switch m.kind {
	case askOpen:
		return w.openAsked(m.wire, r, out)
	case askClose:
		return w.closeAsked(r, out)
	case askWrite, askStop:
	}
	one := w.routes.bySession[nonBlank(member(r.Params, "workerSessionId"))]
	if one != nil && one.wire.isDuplex() && nonBlank(member(r.Params, "hostRouteId")) != one.name {
		one = nil
	}
	switch {
	case one == nil:
		return append(out, protocol.Send{Message: refusal(r.ID, codeWorker, r.Method+": there is no such session")})
	case m.kind == askWrite:
		return w.written(one, r, out)
	}
	out = append(out, protocol.Send{Message: success(r.ID, nil)})
	if one.phase == workerServed {
		out = append(out, protocol.RouteStopped{ID: one.id})
	}
	return out
}

// openAsked asks the plugin for a route.
func (w *Worker) openAsked(wire wireRoute, r Request, out []protocol.Effect) []protocol.Effect {
	name := nonBlank(member(r.Params, "hostRouteId"))
	no := func(code int, why string) []protocol.Effect {
		return append(out, protocol.Send{Message: refusal(r.ID, code, r.Method+": "+why)})
	}
	switch {
	case name == "" || len(name) > MaxSessionName:
		return no(codeWorker, fmt.Sprintf("hostRouteId: expected a string of 1 to %d bytes", MaxSessionName))
	case w.routes.byName[name] != nil:
		return no(codeWorker, "the hostRouteId is in use")
	case len(w.routes.byID) >= w.settings.pending():
		return no(codeUnavailable, fmt.Sprintf("%d routes are open, the limit", w.settings.pending()))
	}
	kind := protocol.RoutePTY
	if wire.isDuplex() {
		kind = protocol.RouteDuplex
		if w.settings.Duplex == DuplexText {
			wire = duplexText
		}
	}
	w.routes.last++
	one := &workerRoute{id: w.routes.last, wire: wire, name: name, openID: r.ID}
	w.routes.byID[one.id], w.routes.byName[name] = one, one
	trace, _ := text(member(r.Invocation, "traceparent"))
	own, _ := text(member(r.Invocation, "id"))
	return append(out, Opening{protocol.RouteAsked{ID: one.id, Route: protocol.Route{
		Kind: kind, Scope: nonBlank(member(member(r.Invocation, "scope"), "companyId")), Params: r.Params, Trace: trace,
	}}, own})
}

// routeStep takes what the plugin does with a route.
func (w *Worker) routeStep(in protocol.Input, out []protocol.Effect) []protocol.Effect {
	switch in := in.(type) {
	case protocol.AcceptRoute:
		if one := w.routes.byID[in.ID]; one != nil && one.phase == workerAsked {
			return w.accept(one, in.Err, out)
		}
	case protocol.WriteRoute:
		if one := w.routes.byID[in.ID]; one != nil && one.phase == workerServed {
			return w.write(one, in.Data, out)
		}
	case protocol.TakeRoute:
		if one := w.routes.byID[in.ID]; one != nil {
			return one.take(in.Chunks, out)
		}
	case protocol.ExitRoute:
		if one := w.routes.byID[in.ID]; one != nil && one.phase == workerServed {
			return w.exit(one, in.Exit, out)
		}
	case protocol.CloseRoute:
		if one := w.routes.byID[in.ID]; one != nil {
			return w.leave(one, out)
		}
	}
	return out
}

// accept answers an open.
func (w *Worker) accept(one *workerRoute, err error, out []protocol.Effect) []protocol.Effect {
	id := one.openID
	one.openID = nil
	if err != nil {
		w.routes.remove(one)
		return append(out, protocol.Send{Message: failure(id, err, workerEnd)})
	}
	one.phase, one.session = workerServed, "session-"+strconv.FormatUint(uint64(one.id), 10)
	w.routes.bySession[one.session] = one
	o := newObject()
	if one.wire.isDuplex() {
		o = o.str("hostRouteId", one.name)
	}
	return append(out, protocol.Send{Message: success(id, o.str("workerSessionId", one.session).done())})
}

// written hands the plugin what the host wrote. The answer is owed until the plugin has
// taken it: so the host knows how much more it may write.
func (w *Worker) written(one *workerRoute, r Request, out []protocol.Effect) []protocol.Effect {
	limits := w.settings.Limits.of(one.wire)
	var p piece
	if literal := member(r.Params, "data"); wordsOf[one.wire].isBase64 {
		p = decodeBase64(literal, limits.Write)
	} else {
		p = decodeChunk(literal, limits.Write)
	}
	switch {
	case p.isBad:
		return append(out, protocol.Send{Message: refusal(r.ID, codeWorker, r.Method+": data: expected text that is not empty, or the canonical base64 of bytes")})
	case p.isLong:
		return append(out, protocol.Send{Message: refusal(r.ID, codeWorker, r.Method+": "+over("one write", limits.Write, "write"))})
	case one.phase != workerServed:
		return append(out, protocol.Send{Message: success(r.ID, nil)}, protocol.Drop(DroppedRouteLate, r.Method))
	case len(one.owed) >= limits.Writes || one.size > 0 && one.size+p.size > limits.Unanswered:
		return append(out, protocol.Send{Message: refusal(r.ID, codeUnavailable, fmt.Sprintf(
			"%s: %d writes of %d bytes wait for the program, the limit", r.Method, len(one.owed), one.size))})
	}
	one.owed = append(one.owed, owedWrite{protocol.KeptID(r.ID, len(r.Params)), p.size})
	one.size += p.size
	return append(out, protocol.Chunk{ID: one.id, Data: p.data})
}

// take answers the oldest writes.
func (one *workerRoute) take(n int, out []protocol.Effect) []protocol.Effect {
	n = min(n, len(one.owed))
	for _, w := range one.owed[:max(n, 0)] {
		one.size -= w.size
		out = append(out, protocol.Send{Message: success(w.id, nil)})
	}
	one.owed = slices.Delete(one.owed, 0, max(n, 0))
	return out
}

// write sends what the plugin writes, in pieces that the host takes.
func (w *Worker) write(one *workerRoute, data []byte, out []protocol.Effect) []protocol.Effect {
	limit := w.settings.Limits.of(one.wire).Chunk
	isText := !wordsOf[one.wire].isBase64
	if isText {
		data = one.runes.Take(data)
	}
	for len(data) > 0 {
		n := min(len(data), limit)
		if isText {
			n = wholeRunes(data, n)
		}
		out = append(out, one.note(data[:n]))
		data = data[n:]
	}
	return out
}

// wholeRunes is how many of the first bytes are whole characters; all where none is.
func wholeRunes(data []byte, n int) int {
	if n == len(data) {
		return n
	}
	if whole := len(cut(string(data[:n+1]), n)); whole > 0 {
		return whole
	}
	return n
}

// note is a chunk as the host is told it.
func (one *workerRoute) note(data []byte) protocol.Send {
	words := wordsOf[one.wire]
	o := append(make(object, 0, base64.StdEncoding.EncodedLen(len(data))+256), '{')
	o = one.named(o).key("chunk")
	if words.isBase64 {
		o = append(base64.StdEncoding.AppendEncode(append(o, '"'), data), '"')
	} else {
		o = appendString(o, string(data))
	}
	return protocol.Send{Message: Notification{Method: words.data, Params: o.done()}}
}

// named adds the names by which the host knows the route.
func (one *workerRoute) named(o object) object {
	if one.wire != setupTokenPTY {
		o = o.str("hostRouteId", one.name)
	}
	return o.str("workerSessionId", one.session)
}

// exit tells the host how the program ended, behind what it said.
func (w *Worker) exit(one *workerRoute, e protocol.Exit, out []protocol.Effect) []protocol.Effect {
	if rest := one.runes.Rest(); len(rest) > 0 {
		out = append(out, one.note(rest))
	}
	one.phase = workerDone
	code := json.RawMessage("null")
	if e.HasCode {
		code = number(e.Code)
	}
	o := one.named(newObject()).raw("exitCode", code)
	if one.wire.isDuplex() {
		o = o.raw("transportClosed", json.RawMessage(strconv.FormatBool(e.Lost)))
	}
	return append(one.take(len(one.owed), out), protocol.Send{Message: Notification{Method: exitOf[one.wire], Params: o.done()}})
}

// exitOf are the notifications of an exit.
var exitOf = [...]string{
	setupTokenPTY: "setupTokenPty.exit", loginPTY: "loginPty.exit", duplexBase64: "duplexChannel.exit", duplexText: "duplexChannel.exit",
}

// closeAsked has the plugin end what there is of a route. One that is not there is closed.
func (w *Worker) closeAsked(r Request, out []protocol.Effect) []protocol.Effect {
	name := nonBlank(member(r.Params, "hostRouteId"))
	one := w.routes.byName[name]
	switch {
	case one == nil:
		return append(out, protocol.Send{Message: success(r.ID, newObject().str("hostRouteId", cut(name, MaxSessionName)).done())})
	case one.phase == workerLeaving:
		return append(out, protocol.Send{Message: refusal(r.ID, codeWorker, r.Method+": it is being closed")})
	case one.phase == workerLeft:
		one.closeID = r.ID
		return w.confirm(one, out)
	}
	if one.phase == workerAsked {
		out = append(out, protocol.Send{Message: refusal(one.openID, codeWorker, "the host has closed it")})
		one.openID = nil
	}
	out = one.take(len(one.owed), out)
	one.phase, one.closeID = workerLeaving, r.ID
	return append(out, protocol.RouteClosing{ID: one.id})
}

// leave tells that nothing is left of a route.
func (w *Worker) leave(one *workerRoute, out []protocol.Effect) []protocol.Effect {
	switch one.phase {
	case workerAsked:
		return w.accept(one, &protocol.Error{Code: protocol.CodeCancelled, Message: "the plugin has not opened it"}, out)
	case workerLeaving:
		return w.confirm(one, out)
	case workerServed:
		out = w.exit(one, protocol.Exit{Lost: true}, out)
	case workerDone, workerLeft:
	}
	one.phase = workerLeft
	return out
}

// confirm answers the close.
func (w *Worker) confirm(one *workerRoute, out []protocol.Effect) []protocol.Effect {
	w.routes.remove(one)
	o := newObject().str("hostRouteId", one.name)
	if one.wire.isDuplex() {
		o = o.optional("workerSessionId", one.session)
	}
	return append(out, protocol.Send{Message: success(one.closeID, o.done())})
}

func (v *workerRoutes) remove(one *workerRoute) {
	delete(v.byID, one.id)
	delete(v.byName, one.name)
	delete(v.bySession, one.session)
}

// end has the plugin end all routes, since the host is gone.
func (v *workerRoutes) end(out []protocol.Effect) []protocol.Effect {
	for _, id := range slices.Sorted(maps.Keys(v.byID)) {
		if one := v.byID[id]; one.phase != workerLeaving && one.phase != workerLeft {
			out = append(out, protocol.RouteClosing{ID: id})
		}
	}
	*v = newWorkerRoutes()
	return out
}
