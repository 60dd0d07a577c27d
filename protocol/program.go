package protocol

import (
	"context"
	"encoding/json"
	"log/slog"
)

// Program is a plugin that is compiled into the host. It may be opened any
// number of times, once a session.
type Program interface {
	// Offers lists what is known before the program runs. They are announced
	// with the session and become ready with it.
	Offers() []Offer
	// Open makes one instance for one session. It must return quickly and do no
	// work: work belongs into the steps. The session waits for it, so that Home's
	// Offer and Retract fail until it has returned.
	Open(Home) Port
}

// Port is one instance of a Program, as its session sees it. The host calls
// Run for one step at a time; Invoke and Emit run concurrently with
// everything. A panic in any of them is contained by the host. Has and Listens
// must return at once: the session asks them itself, and does nothing else until
// they answer.
type Port interface {
	// Has tells whether the program does anything at a step; the host does not
	// call Run where it does not.
	Has(Step) bool
	// Run passes through one step. ctx ends at the step's deadline and when the
	// session is stopped.
	Run(ctx context.Context, step Step) error
	// Invoke handles one call. ctx ends at the call's deadline.
	Invoke(ctx context.Context, call *Call) (json.RawMessage, error)
	// Listens tells whether anything listens to the channel, so that events
	// that nobody would hear need not be made.
	Listens() bool
	// Emit hands over an event on the plugin's channel. It must not block.
	Emit(Event)
}

// Home is what a session's host does for its Program. All methods may be called
// from any goroutine and return an error once the session has ended.
type Home interface {
	// Module identifies the session.
	Module() Module
	// Serve calls a host service or another plugin's capability.
	Serve(ctx context.Context, call Call) (json.RawMessage, error)
	// Wait returns when all the keys are ready; each may take the host's default
	// time.
	Wait(ctx context.Context, keys ...string) error
	// Offer makes a capability known, or changes it.
	Offer(Offer) error
	// Retract withdraws one.
	Retract(key string) error
	// Emit puts an event on the plugin's own channel, for the host.
	Emit(Event) error
	// Log is the plugin's own log, shown by the host under its name.
	Log() *slog.Logger
}

// Service is something that the host itself offers to plugins.
type Service interface {
	// Serve answers one call. ctx ends at the call's deadline, or when the
	// plugin that calls gives up or ends.
	Serve(ctx context.Context, call Call) (json.RawMessage, error)
}

// QuickService is a Service that can answer all or some of its calls at once. Such a
// call is answered where it is received, which costs least.
type QuickService interface {
	Service
	// Quick answers a call if that takes no waiting: no I/O, no other plugin, no lock
	// that somebody holds for long, which would hold up the plugin that calls. Else done
	// is false, nothing has happened, and the call goes to Serve.
	Quick(call Call) (result json.RawMessage, done bool, err error)
}

// QuickFunc is a function that never waits, as a QuickService.
type QuickFunc func(ctx context.Context, call Call) (json.RawMessage, error)

// Serve calls the function.
func (f QuickFunc) Serve(ctx context.Context, call Call) (json.RawMessage, error) {
	return f(ctx, call)
}

// Quick calls the function.
func (f QuickFunc) Quick(call Call) (result json.RawMessage, done bool, err error) {
	result, err = f(context.Background(), call)
	return result, true, err
}

// PublishingService is a Service by which plugins publish events. The calls of one
// plugin are begun in the order in which they came: the next when this one has
// published ([Plugins.Publish], with the context that Serve got), or is over.
type PublishingService interface {
	Service
	// Publishes does nothing; it tells what the service is.
	Publishes()
}

// PublishingFunc is a function as a PublishingService.
type PublishingFunc func(ctx context.Context, call Call) (json.RawMessage, error)

// Serve calls the function.
func (f PublishingFunc) Serve(ctx context.Context, call Call) (json.RawMessage, error) {
	return f(ctx, call)
}

// Publishes tells what the function is.
func (PublishingFunc) Publishes() {}

// ServiceFunc is a function as a Service.
type ServiceFunc func(ctx context.Context, call Call) (json.RawMessage, error)

// Serve calls the function.
func (f ServiceFunc) Serve(ctx context.Context, call Call) (json.RawMessage, error) {
	return f(ctx, call)
}
