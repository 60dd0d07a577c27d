package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// Offerer is where a capability can be offered: a *Definition, known before the
// plugin runs, or a *Session, while it runs.
//
// A definition that offers one key twice panics, since that is a mistake at
// start-up. On a session the newer handler takes the older one's place; an offer
// that the host refuses fails the hook in which it was made, and is logged when
// it was made elsewhere.
type Offerer interface {
	offer(offer)
}

// Option adds to an offer.
type Option func(*offer)

// Describe says to people what a capability does.
func Describe(text string) Option {
	return func(o *offer) { o.Description = text }
}

// Priority ranks this offer among several of the same key; the highest wins,
// 0 is the default.
func Priority(n int) Option {
	return func(o *offer) { o.Priority = n }
}

// InputSchema declares a JSON Schema for the input. The host refuses an offer whose
// schema cannot be read, or describes what its kind never takes, e.g. a tool's string.
func InputSchema(schema json.RawMessage) Option {
	return func(o *offer) { o.InputSchema = schema }
}

// about adds a member to an offer's metadata.
func (o *offer) about(name string, value any) {
	members := map[string]any{}
	_ = json.Unmarshal(o.Metadata, &members) // none, or what options have made
	members[name] = value
	o.Metadata, _ = json.Marshal(members) // JSON values
}

// Result is what a tool answers. A result with Error set is a failed call.
type Result = protocol.ToolResult

// Text is a Result with text only.
func Text(content string) Result { return Result{Content: content} }

// The kinds, as their keys begin.
const (
	kindTool      = "tool:"
	kindAction    = "action:"
	kindModel     = "model:"
	kindProvider  = "provider:"
	kindEvaluator = "evaluator:"
	kindService   = "service:"
	kindEvent     = "event:"
	kindData      = "data:"
	kindJob       = "job:"
	kindWebhook   = "webhook:"
	kindHTTP      = "http:"
)

// Tool offers "tool:NAME". The input is the parameters object, decoded into In.
func Tool[In any](to Offerer, name string, handle func(context.Context, In) (Result, error), opts ...Option) {
	Handle(to, kindTool+name, typed(handle), opts...)
}

// Invocation is the input of an action. Params is decoded from "params"; the
// other members are there for callers that hold a conversation, raw.
type Invocation[Params any] = protocol.ActionInput[Params]

// Action offers "action:NAME". Its result is any JSON; elizaOS wants an [ActionResult].
func Action[Params, Out any](to Offerer, name string, handle func(context.Context, Invocation[Params]) (Out, error), opts ...Option) {
	Handle(to, kindAction+name, typed(handle), opts...)
}

// Model offers "model:TYPE", e.g. "model:TEXT_SMALL".
func Model[In, Out any](to Offerer, typ string, handle func(context.Context, In) (Out, error), opts ...Option) {
	Handle(to, kindModel+typ, typed(handle), opts...)
}

// Data offers "data:KEY", what a plugin tells on demand.
func Data[In, Out any](to Offerer, key string, handle func(context.Context, In) (Out, error), opts ...Option) {
	Handle(to, kindData+key, typed(handle), opts...)
}

// On offers "event:NAME": handle hears every such event while the session is
// ready, at most once each. A name that ends in ".*" stands for all that begin with
// what is before the star. What handle returns is logged if it is an error.
func On[Payload any](to Offerer, name string, handle func(context.Context, Payload) error, opts ...Option) {
	Handle(to, kindEvent+name, typed(silent(handle)), opts...)
}

// Handle offers any key, in raw JSON.
func Handle(to Offerer, key string, handle Handler, opts ...Option) {
	o := offer{Offer: protocol.Offer{Key: key, Invocable: true}, handle: handle}
	for _, add := range opts {
		add(&o)
	}
	if o.validate != nil { // it is there before somebody is told of it
		to.offer(o.validation())
	}
	to.offer(o)
}

// typed puts JSON on both sides of a handler of Go values.
func typed[In, Out any](handle func(context.Context, In) (Out, error)) Handler {
	return func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := decode(input, &in); err != nil {
			return nil, err
		}
		out, err := handle(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// decode reads an input; none at all leaves the zero value. Members that the
// author's type does not name are ignored.
func decode(input json.RawMessage, in any) error {
	if len(input) == 0 {
		return nil
	}
	err := json.Unmarshal(input, in)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &protocol.Error{
			Code:    protocol.CodeInvalid,
			Message: fmt.Sprintf("the input's field %q: expected %s, got %s", field(wrong), wrong.Type, wrong.Value),
		}
	}
	return &protocol.Error{Code: protocol.CodeInvalid, Message: "the input is not valid JSON", Err: err}
}

func field(e *json.UnmarshalTypeError) string {
	if e.Field == "" {
		return "(the whole)"
	}
	return e.Field
}
