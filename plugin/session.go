package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/airi-host/airi-host/protocol"
)

// Session is one run of a plugin: what its hooks and handlers work with.
type Session struct {
	definition *Definition
	home       protocol.Home

	mu sync.RWMutex
	// handlers holds what the session offers beyond its definition, and what
	// replaced an offer of the definition; nil until there is any.
	handlers map[string]Handler
	// listeners is nil until the plugin listens to its channel.
	listeners []func(protocol.Event)
	hears     atomic.Bool
	// inHook tells that a hook runs; refused is the first offer that the host
	// refused meanwhile, which fails that hook.
	inHook  bool
	refused error
}

// Session is what a host holds of a plugin.
var _ protocol.Port = (*Session)(nil)

func newSession(d *Definition, home protocol.Home) *Session {
	return &Session{definition: d, home: home}
}

// Has tells whether the plugin has a hook for the step.
func (s *Session) Has(step protocol.Step) bool { return s.definition.hooks[step] != nil }

// Run calls the hook for the step.
func (s *Session) Run(ctx context.Context, step protocol.Step) error {
	s.mu.Lock()
	s.inHook, s.refused = true, nil
	s.mu.Unlock()
	err := s.definition.hooks[step](s.within(ctx), s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inHook = false
	if err == nil {
		err = s.refused
	}
	return err
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
	return h(s.within(ctx), call.Input)
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

// Call invokes a capability, of whichever plugin offers it, or a service of the
// host. in is encoded to JSON and the answer decoded into out, which may be nil.
// The host's default deadline holds unless ctx ends sooner.
func (s *Session) Call(ctx context.Context, key string, in, out any) error {
	input, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("the input for %s: %w", key, err)
	}
	result, err := s.home.Serve(ctx, protocol.Call{Key: key, Input: input})
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fmt.Errorf("the result of %s: %w", key, err)
	}
	return nil
}

// Wait returns when all the capabilities are ready: each may take the host's
// default time (15 s), and ctx may end the wait sooner.
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
func (s *Session) Send(name string, payload any) error {
	return s.home.Emit(protocol.Event{Name: name, Payload: payload})
}

// Log is the plugin's own log, which the host shows under the plugin's name.
func (s *Session) Log() *slog.Logger { return s.home.Log() }

// Plugin is the plugin's name in this host.
func (s *Session) Plugin() string { return s.home.Module().Plugin }

// Withdraw takes back what the session offered.
func (s *Session) Withdraw(key string) error { return s.home.Retract(key) }

func (s *Session) offer(o offer) {
	s.mu.Lock()
	if s.handlers == nil {
		s.handlers = map[string]Handler{}
	}
	s.handlers[o.Key] = o.handle
	s.mu.Unlock()
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
	h := s.handlers[key]
	s.mu.RUnlock()
	if h != nil {
		return h
	}
	for i := range s.definition.offers {
		if o := &s.definition.offers[i]; o.Key == key {
			return o.handle
		}
	}
	return nil
}

type sessionKey struct{}

func (s *Session) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// From returns the session whose hook or handler got ctx; nil for another ctx.
func From(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}
