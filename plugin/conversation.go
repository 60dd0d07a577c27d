package plugin

import (
	"context"
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// Turn is a turn of a conversation: the message that is being answered, and the state so
// far, both raw.
type Turn = protocol.ProviderInput

// Provided is what a provider adds to a conversation.
type Provided = protocol.ProviderResult

// Provider offers "provider:NAME", what a plugin knows that matters in a conversation.
func Provider(to Offerer, name string, handle func(context.Context, Turn) (Provided, error), opts ...Option) {
	Handle(to, kindProvider+name, typed(handle), opts...)
}

// Evaluator offers "evaluator:NAME", which looks at a conversation when it was answered.
func Evaluator[Out any](to Offerer, name string, handle func(context.Context, Turn) (Out, error), opts ...Option) {
	Handle(to, kindEvaluator+name, typed(handle), opts...)
}

// ActionResult is what elizaOS wants of an action. Where its host calls one that answers
// anything else, the worker makes one of it: see [ServeEliza].
type ActionResult struct {
	Success bool `json:"success"`
	// Text is for the conversation, Values are for templates, Data is for programs, Error
	// is why it did not succeed.
	Text   string         `json:"text,omitempty"`
	Values map[string]any `json:"values,omitempty"`
	Data   map[string]any `json:"data,omitempty"`
	Error  string         `json:"error,omitempty"`
}

// Validate says whether an action or an evaluator fits a turn of a conversation, which
// elizaOS asks before it calls either. It is offered as "action:NAME.validate" or
// "evaluator:NAME.validate", whose input is the turn and whose result is a boolean.
func Validate(fits func(context.Context, Turn) (bool, error)) Option {
	return func(o *offer) { o.validate = typed(fits) }
}

// Similes are other names for an action.
func Similes(names ...string) Option { return func(o *offer) { o.about("similes", names) } }

// Examples are conversations in which an action is called, an array of arrays of messages
// as elizaOS has them.
func Examples(conversations json.RawMessage) Option {
	return func(o *offer) { o.about("examples", conversations) }
}

// Dynamic marks a provider that takes part in a conversation only where somebody names it.
func Dynamic() Option { return func(o *offer) { o.about("dynamic", true) } }

// Private marks a provider in the same way; elizaOS has both words.
func Private() Option { return func(o *offer) { o.about("private", true) } }

// Position ranks a provider among others: those with a low one come first.
func Position(n int) Option { return func(o *offer) { o.about("position", n) } }

// validates ends the key of what says whether the capability before it fits.
const validates = ".validate"

// validation is the offer of what says whether this one fits, which it is told of itself.
func (o *offer) validation() offer {
	key := o.Key + validates
	o.about("validate", key)
	return offer{
		Offer:  protocol.Offer{Key: key, Invocable: true, Priority: o.Priority, Description: "Whether " + o.Key + " fits."},
		handle: o.validate,
	}
}
