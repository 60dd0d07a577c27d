package paperclip

import (
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// logRoutes are the calls of environmentExecute whose caller follows them: what the
// command writes meanwhile comes as notifications that name the call's invocation.
//
// The worker sees the invocations of all its calls, so that it could write into another
// company's. Chunks are passed on only while all such calls are for one company; when
// another one's is among them, none that is active then gets any more.
type logRoutes struct {
	limits LogLimits
	// active are the routes by the invocation of their call.
	active map[string]*logRoute
	// companies counts them by their company.
	companies map[string]int
}

type logRoute struct {
	call    protocol.CallID
	company string
	// delivered is how many UTF-16 units were passed on.
	delivered int
	// latched tells that another company's call was active meanwhile.
	latched bool
}

func newLogRoutes(l LogLimits) logRoutes {
	return logRoutes{limits: l.filled(), active: make(map[string]*logRoute), companies: make(map[string]int)}
}

func (l *logRoutes) open(invocation, company string, call protocol.CallID) {
	l.active[invocation] = &logRoute{call: call, company: company}
	l.companies[company]++
}

func (l *logRoutes) end(invocation string) {
	r, ok := l.active[invocation]
	if !ok {
		return
	}
	delete(l.active, invocation)
	if l.companies[r.company]--; l.companies[r.company] == 0 {
		delete(l.companies, r.company)
	}
}

// take passes a chunk on, or says why not, in the reference's order. Its text is counted
// and not decoded: the item is what came.
func (l *logRoutes) take(n Notification, out []protocol.Effect) []protocol.Effect {
	item, units, why := l.read(n.Params)
	if why != "" {
		return append(out, protocol.Drop(why, ""))
	}
	id := trimmed(n.InvocationID)
	if len(id) == 0 {
		return append(out, protocol.Drop(DroppedLogInvocation, ""))
	}
	r := l.active[string(id)]
	switch {
	case r == nil:
		return append(out, protocol.Drop(DroppedLogLate, ""))
	case r.latched:
		return append(out, protocol.Drop(DroppedLogCompany, ""))
	case len(l.companies) > 1:
		l.latch()
		return append(out, protocol.Drop(DroppedLogCompany, ""))
	case r.delivered+units > l.limits.Total:
		return append(out, protocol.Drop(DroppedLogTotal, ""))
	}
	r.delivered += units
	return append(out, protocol.Progress{ID: r.call, Item: item, Spare: true})
}

// latch closes all routes that are active.
func (l *logRoutes) latch() {
	for _, r := range l.active {
		r.latched = true
	}
}

// read reads {stream, chunk}; what else there is does not go on.
func (l *logRoutes) read(params json.RawMessage) (item json.RawMessage, units int, why string) {
	var stream, chunk json.RawMessage
	members := 0
	protocol.EachMember(params, func(key, value []byte) {
		members++
		switch string(key) {
		case "stream":
			stream = value
		case "chunk":
			chunk = value
		}
	})
	if name := protocol.TextOf(stream); string(name) != protocol.LogStdout && string(name) != protocol.LogStderr {
		return nil, 0, DroppedLogStream
	}
	if len(chunk) <= len(`""`) || chunk[0] != '"' {
		return nil, 0, DroppedLogChunk
	}
	if units = protocol.TextUnits(chunk); units > l.limits.Chunk {
		return nil, 0, DroppedLogChunk
	}
	if members != 2 {
		params = newObject().raw("stream", stream).raw("chunk", chunk).done()
	}
	return params, units, ""
}
