package plugin

import (
	"context"
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// handling is the context of one hook or handler: what its call brought along.
type handling struct {
	context.Context
	session *Session
	// scope is the tenant of the call, trace the traceparent that it belongs to; either
	// may be "".
	scope, trace string
	// cause is the call itself, as what the handler calls knows it; its Depth is 0 where
	// the host tells nothing of that.
	cause protocol.Cause
	// request is the wire's own message, or nil.
	request json.RawMessage
	// invocation is what the host of a worker calls the call, or "".
	invocation string
	// flow is what the call has beside an input and a result, or nil.
	flow *flow
	// route is what is served, or nil.
	route *Route
}

type handlingKey struct{}

// Value finds the handling itself, or what the context around it holds.
func (h *handling) Value(key any) any {
	if key == (handlingKey{}) {
		return h
	}
	return h.Context.Value(key)
}

// handlingOf returns that of ctx, or an empty one.
func handlingOf(ctx context.Context) *handling {
	if h, ok := ctx.Value(handlingKey{}).(*handling); ok {
		return h
	}
	return &handling{}
}

// From returns the session whose hook or handler got ctx; nil for another ctx.
func From(ctx context.Context) *Session { return handlingOf(ctx).session }

// Scope returns the tenant for which the call is made whose handler got ctx: a
// company under Paperclip. It is "" where there is none, and where the wire does not tell it,
// as elizaOS's.
func Scope(ctx context.Context) string { return handlingOf(ctx).scope }

// Request returns the parameters of the wire's own message to the handler that got
// ctx, for what a handler's input has no place for: under Paperclip the runContext
// of a tool, the actorContext of an action, the envelope of an event; under elizaOS what
// the surface is given, as {message, state, options, responses} of an action. It is nil
// where the plugin is compiled in. It is not to be changed.
func Request(ctx context.Context) json.RawMessage { return handlingOf(ctx).request }
