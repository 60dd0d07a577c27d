package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/airi-host/airi-host/protocol"
)

// Session is one run of a plugin: what its hooks and handlers work with.
type Session struct {
	definition *Definition
	home       protocol.Home

	mu sync.RWMutex
	// handlers holds what the session offers beyond its definition, what replaced
	// an offer of the definition, and nil for what was withdrawn; it is itself nil
	// until there is any. events are those of its keys that are event handlers.
	handlers map[string]Handler
	events   []string
	// listeners is nil until the plugin listens to its channel.
	listeners []func(protocol.Event)
	hears     atomic.Bool
	// running are the services that were started.
	running running
	// inHook tells that a hook runs; refused is the first offer that the host
	// refused meanwhile, which fails that hook.
	inHook  bool
	refused error
}

// Session is what a host holds of a plugin.
var (
	_ protocol.Port      = (*Session)(nil)
	_ protocol.Validator = (*Session)(nil)
)

func newSession(d *Definition, home protocol.Home) *Session {
	return &Session{definition: d, home: home}
}

// Has tells whether the plugin has a hook for the step, or has services to stop at it.
func (s *Session) Has(step protocol.Step) bool {
	return s.definition.hooks[step] != nil || step == protocol.StepStop && s.definition.hasStops()
}

// Run calls the hook for the step. After that for the end, services are stopped.
func (s *Session) Run(ctx context.Context, step protocol.Step) error {
	var err error
	if s.definition.hooks[step] != nil {
		err = s.runHook(ctx, step)
	}
	if step == protocol.StepStop {
		if failed := s.stopServices(ctx); err == nil {
			err = failed
		}
	}
	return err
}

func (s *Session) runHook(ctx context.Context, step protocol.Step) error {
	s.mu.Lock()
	s.inHook, s.refused = true, nil
	s.mu.Unlock()
	defer s.leaveHook()
	if err := s.definition.hooks[step](s.within(ctx), s); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.refused
}

func (s *Session) leaveHook() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inHook = false
}

// Invoke calls the handler of a capability.
func (s *Session) Invoke(ctx context.Context, call *protocol.Call) (json.RawMessage, error) {
	h := s.handler(call.Key)
	if h == nil {
		return nil, &protocol.Error{
			Code:    protocol.CodeNotFound,
			Message: fmt.Sprintf("plugin %s has no handler for %s", s.home.Module().Plugin, call.Key),
		}
	}
	return h(&handling{Context: ctx, session: s, scope: call.Scope, trace: call.Trace, cause: call.AsCause(), flow: flowOf(call)}, call.Input)
}

// Listens tells whether the plugin listens to its channel.
func (s *Session) Listens() bool { return s.hears.Load() }

// Emit hands an event of the channel to the listeners, in the order in which
// they were added. A listener that panics is the host's to contain.
func (s *Session) Emit(e protocol.Event) {
	s.mu.RLock()
	listeners := s.listeners
	s.mu.RUnlock()
	for _, hear := range listeners {
		hear(e)
	}
}

// CallOption says more about a call.
type CallOption func(*protocol.Call)

// Of names the plugin whose capability is called, where several offer it.
func Of(plugin string) CallOption {
	return func(c *protocol.Call) { c.Plugin = plugin }
}

// Call invokes a capability, of whichever plugin offers it, or a service of the
// host. in is encoded to JSON and the answer decoded into out, which may be nil.
// The default deadline, 30 s unless the host is told otherwise, holds unless ctx has
// one. From a handler's ctx the call is made for the same tenant.
func (s *Session) Call(ctx context.Context, key string, in, out any, opts ...CallOption) error {
	input, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("the input for %s: %w", key, err)
	}
	around := handlingOf(ctx)
	call := protocol.Call{Key: key, Input: input, Scope: around.scope, Trace: around.trace}
	if around.cause.Depth > 0 {
		call.Cause = &around.cause
	}
	for _, say := range opts {
		say(&call)
	}
	if call.Feed != nil && in == nil {
		call.Input = nil
	}
	result, err := s.home.Serve(ctx, call)
	if err != nil || out == nil {
		return err
	}
	if len(result) == 0 { // nothing, as an event has
		result = json.RawMessage(`null`)
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fmt.Errorf("the result of %s: %w", key, err)
	}
	return nil
}

// configured is a Home that tells the configuration in force.
type configured interface{ Config() json.RawMessage }

// Config decodes the plugin's configuration, as it is now, into a pointer. Where
// there is none it is left as it is.
func (s *Session) Config(into any) error {
	home, ok := s.home.(configured)
	if !ok {
		return nil
	}
	config := home.Config()
	if len(config) == 0 {
		return nil
	}
	if err := json.Unmarshal(config, into); err != nil {
		return fmt.Errorf("the configuration: %w", err)
	}
	return nil
}

// Wait returns when all the capabilities are ready: each may take the host's
// default time (15 s), and ctx may end the wait sooner. A worker cannot wait: what its
// manifest requires is ready before it starts.
func (s *Session) Wait(ctx context.Context, keys ...string) error {
	return s.home.Wait(ctx, keys...)
}

// Listen calls hear with every event on the plugin's own channel, in order. It
// runs where the event is made, so it must return quickly.
func (s *Session) Listen(hear func(protocol.Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners[:len(s.listeners):len(s.listeners)], hear)
	s.hears.Store(true)
}

// Send puts an event on the plugin's own channel. The payload is encoded to JSON.
// A worker of a Paperclip host has no such channel towards its host.
func (s *Session) Send(name string, payload any) error {
	return s.home.Emit(protocol.Event{Name: name, Payload: payload})
}

// Log is the plugin's own log, which the host shows under the plugin's name.
func (s *Session) Log() *slog.Logger { return s.home.Log() }

// Plugin is the plugin's name in this host.
func (s *Session) Plugin() string { return s.home.Module().Plugin }

// Withdraw takes back what the session, or its definition, offered.
func (s *Session) Withdraw(key string) error {
	if err := s.home.Retract(key); err != nil {
		return err
	}
	s.set(key, nil)
	return nil
}

func (s *Session) set(key string, h Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handlers == nil {
		s.handlers = map[string]Handler{}
	}
	if _, again := s.handlers[key]; !again && strings.HasPrefix(key, kindEvent) {
		s.events = append(s.events, key)
	}
	s.handlers[key] = h
}

func (s *Session) offer(o offer) {
	s.set(o.Key, o.handle)
	if err := s.home.Offer(o.Offer); err != nil {
		s.refuse(o.Key, err)
	}
}

func (s *Session) refuse(key string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.inHook {
		s.home.Log().Error("the host refused an offer", "key", key, "error", err)
		return
	}
	if s.refused == nil {
		s.refused = fmt.Errorf("offering %s: %w", key, err)
	}
}

// handler finds what the session offers, or else what its definition does.
func (s *Session) handler(key string) Handler {
	s.mu.RLock()
	h, ok := s.handlers[key]
	s.mu.RUnlock()
	if ok {
		return h
	}
	return s.definition.handler(key)
}

// hearers are the handlers of an event, in the order in which they were offered:
// those of its name, and of every pattern "prefix.*" that it fits.
func (s *Session) hearers(event string) (keys []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, o := range s.definition.offers {
		if h, ok := s.handlers[o.Key]; (!ok || h != nil) && hears(o.Key, event) {
			keys = append(keys, o.Key)
		}
	}
	for _, key := range s.events {
		if s.handlers[key] != nil && s.definition.handler(key) == nil && hears(key, event) {
			keys = append(keys, key)
		}
	}
	return keys
}

// hears tells whether the offer of a key is for an event.
func hears(key, event string) bool {
	pattern, ok := strings.CutPrefix(key, kindEvent)
	if prefix, some := strings.CutSuffix(pattern, "*"); some && strings.HasSuffix(prefix, ".") {
		return ok && strings.HasPrefix(event, prefix)
	}
	return ok && pattern == event
}

// within is the context of a hook. A host that has made one for it already keeps it.
func (s *Session) within(ctx context.Context) context.Context {
	if From(ctx) == s {
		return ctx
	}
	return &handling{Context: ctx, session: s}
}
