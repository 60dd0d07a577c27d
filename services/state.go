package services

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// Store keeps the state of plugins. All methods may run concurrently; a Set or Delete
// that has returned is seen by every Get that begins after it. An error that is a
// *[protocol.Error] goes to the plugin with its code.
type Store interface {
	// Get returns the value as it was set, byte by byte; nil when it is unset.
	Get(ctx context.Context, key StateKey) (json.RawMessage, error)
	// Set keeps a value in the place of the one before. It may keep the bytes: nobody
	// writes into them.
	Set(ctx context.Context, key StateKey, value json.RawMessage) error
	// Delete removes a value; that there is none is no error.
	Delete(ctx context.Context, key StateKey) error
}

// PeekStore is a [Store] that has some values at hand: a plugin that asks for one of
// those is answered at once.
type PeekStore interface {
	Store
	// Peek returns what Get does, if that takes no waiting; known is false if it does.
	Peek(key StateKey) (value json.RawMessage, known bool)
}

// StateKey names one value of one plugin's state.
type StateKey struct {
	// Plugin is whose state it is. No plugin sees another's.
	Plugin string
	// ScopeKind is one of instance, company, project, project_workspace, agent, issue,
	// goal and run; ScopeID says which one, "" for none.
	ScopeKind, ScopeID string
	// Namespace is "default" unless the plugin names one.
	Namespace string
	// Key is the plugin's own.
	Key string
}

// Company is the company that the value belongs to; "" if its scope is none. Whose a
// project or a run is, only the plugin knows.
func (k StateKey) Company() string { return companyOf(k.ScopeKind, &k.ScopeID) }

// companyOf is the company that a scope is; "" if it is none.
func companyOf(kind string, id *string) string {
	if kind != "company" || id == nil {
		return ""
	}
	return trim(*id)
}

// defaultNamespace is the reference host's.
const defaultNamespace = "default"

// scopeKinds are the kinds of scope on the wire of Paperclip's releases of 2026.
var scopeKinds = []string{"instance", "company", "project", "project_workspace", "agent", "issue", "goal", "run"}

// stateService serves state.get, state.set and state.delete:
// {scopeKind, scopeId?, namespace?, stateKey, value?}.
type stateService struct{ store Store }

// service is one of the methods; what is kept in memory waits for nothing.
func (s stateService) service(method protocol.ServiceFunc) protocol.Service {
	if _, ok := s.store.(*Memory); ok {
		return protocol.QuickFunc(method)
	}
	return method
}

func (s stateService) get(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	key, _, err := readState(call)
	if err != nil {
		return nil, err
	}
	value, err := s.store.Get(ctx, key)
	if err == nil && value == nil {
		value = null
	}
	return value, err
}

// stateReads is state.get of a store that has values at hand.
type stateReads struct {
	stateService
	store PeekStore
}

var _ protocol.QuickService = stateReads{}

// reads is the service of state.get.
func (s stateService) reads() protocol.Service {
	if store, ok := s.store.(PeekStore); ok {
		return stateReads{s, store}
	}
	return s.service(s.get)
}

// Serve reads a value.
func (s stateReads) Serve(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	return s.get(ctx, call)
}

// Quick reads a value that is at hand.
func (s stateReads) Quick(call protocol.Call) (value json.RawMessage, done bool, err error) {
	key, _, err := readState(call)
	if err != nil {
		return nil, true, err
	}
	value, done = s.store.Peek(key)
	if done && value == nil {
		value = null
	}
	return value, done, nil
}

func (s stateService) set(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	key, in, err := readState(call)
	if err != nil {
		return nil, err
	}
	value := in.members["value"]
	if value == nil {
		value = null // JavaScript leaves out what is undefined
	}
	return done(s.store.Set(ctx, key, bytes.Clone(value))) // not with the call that it came by
}

func (s stateService) delete(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	key, _, err := readState(call)
	if err != nil {
		return nil, err
	}
	return done(s.store.Delete(ctx, key))
}

func readState(call protocol.Call) (StateKey, *params, error) {
	in := read(call)
	key := StateKey{
		Plugin: call.Caller, ScopeKind: in.text("scopeKind"), ScopeID: in.optional("scopeId"),
		Namespace: in.optional("namespace"), Key: in.text("stateKey"),
	}
	if blank(key.ScopeID) {
		key.ScopeID = ""
	}
	if key.Namespace == "" {
		key.Namespace = defaultNamespace
	}
	if in.err == nil && !slices.Contains(scopeKinds, key.ScopeKind) {
		in.failf("scopeKind: expected one of %s", strings.Join(scopeKinds, ", "))
	}
	if in.err == nil && otherCompany(call, key) {
		in.err = faultf(call, protocol.CodeDenied,
			"scopeId: the call is for company %q, so it reaches the state of that company alone", call.Scope)
	}
	return key, in, in.err
}

// otherCompany tells that a key belongs to another company than the call. The gate
// looks at companyId first and may have passed a call whose scopeId is another one.
func otherCompany(call protocol.Call, key StateKey) bool {
	return key.ScopeKind == "company" && call.Scope != "" && key.Company() != call.Scope
}
