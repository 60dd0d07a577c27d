package protocol

import (
	"encoding/json"
	"iter"
	"sync/atomic"
	"time"
)

// Step is one step of a plugin's life that the host asks for.
type Step string

// The steps, in the order of a life. What each means on a wire is the dialect's
// business; a dialect that has no word for a step answers it at once.
const (
	// StepLoad reads the plugin's code. AIRI imports the module.
	StepLoad Step = "load"
	// StepInit lets the plugin prepare itself. AIRI calls its init hook.
	StepInit Step = "init"
	// StepSetup lets the plugin contribute. AIRI calls its setupModules hook;
	// Paperclip and elizaOS workers answer initialize and init-complete.
	StepSetup Step = "setup"
	// StepStop lets the plugin end in good order.
	StepStop Step = "stop"
)

// Call is one invocation of a capability, in either direction.
type Call struct {
	// Key names the capability, e.g. "tool:greet".
	Key string
	// Input is what goes in, by the capability's kind; nil stands for none.
	Input json.RawMessage
	// Plugin and Instance pick the owner; "" leaves the choice to the host.
	Plugin, Instance string
	// Scope is the tenant; "" is the caller's own or the configured default.
	Scope string
	// Deadline is when the caller stops waiting; zero stands for the default.
	Deadline time.Time
	// Idle is how long the caller waits for the next intermediate item or for the
	// result; each item starts it anew. Zero stands for what the plugin's manifest or
	// the host says, which is nothing unless told otherwise; below zero there is none.
	// The Deadline ends the call in any case.
	Idle time.Duration
	// Progress is given the intermediate items of the call, in order and one at a
	// time, before the call is over: the chunks of a response stream, the reports of
	// a handler. The caller follows the call by it; nil for one that takes the
	// result only. An error tells whoever sends that the item was not taken, and why;
	// sending may wait for a caller that is slow.
	Progress func(item json.RawMessage) error
	// Missed counts the items that Progress was not given: it was too slow, as for chunks of a
	// command's log, which the result has again, or the call had ended. Nil for a caller who
	// does not ask; it may be read once the call is over.
	Missed *atomic.Uint64
	// Alive tells, without an item, that the callee is still at it, and starts Idle
	// anew. Whoever carries the call sets it for the callee; nil where nobody waits for
	// a sign of life.
	Alive func()
	// Feed is a request stream: the items that go in behind Input, which is nil then.
	// It is read once, as fast as the callee takes it, and ends with the call; an
	// error as its last element tells the callee that the stream has failed. It runs on
	// a goroutine of the call's, and is told by its yield when nobody reads it any more;
	// where it waits for its next item it is left alone when the call is over, so that
	// it should end with the caller's context. Nil for a call with one input.
	Feed iter.Seq2[json.RawMessage, error]
	// Trace is a W3C traceparent value, or "".
	Trace string
	// Caller names the plugin that calls; "" is the host itself.
	Caller string
	// Told tells of an event that the caller has told those of its own circle itself, which
	// hear it from nobody else.
	Told bool
	// Ecosystem is the caller's: its dialect's name, "go" of a plugin that is compiled in.
	// The host says it.
	Ecosystem string
	// Cause is the call that the caller serves, and for whose sake it makes this one; nil
	// where it calls of its own accord.
	Cause *Cause
	// Root numbers the outermost of the calls that led to this one, which may be itself. The
	// host says it.
	Root uint64
	// Wait lets the call wait, within its deadline, for an owner that has crashed
	// and will be restarted; otherwise it fails at once, saying when that will be.
	Wait bool
}

// Offer is one capability as its plugin declares it.
type Offer struct {
	// Key is "<kind>:<name>", or an ecosystem's own key as it is.
	Key string `json:"key"`
	// Invocable tells that the capability can be called; others can only be
	// awaited.
	Invocable bool `json:"invocable"`
	// Priority ranks several owners of one key; the highest wins.
	Priority int `json:"priority,omitempty"`
	// Description is for people.
	Description string `json:"description,omitempty"`
	// InputSchema is a JSON Schema for the input; nil accepts anything.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// Metadata is a JSON object for whoever asks; nil for none.
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// Event is one event on a plugin's own channel, or one that the router carries.
type Event struct {
	// Name is the event's type, e.g. "module:status".
	Name string
	// Payload is a value that encodes to the JSON payload: raw JSON, or a value
	// of the dialect. It is encoded only if somebody listens.
	Payload any
}

// JSON returns the payload as JSON; an absent payload is nil.
func (e Event) JSON() (json.RawMessage, error) {
	switch p := e.Payload.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return p, nil
	default:
		return json.Marshal(p)
	}
}
