package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// Hook is a step of a plugin's life. Its context ends at the step's deadline and
// when the session is stopped. An error fails the session with its text.
type Hook func(ctx context.Context, s *Session) error

// Handler answers calls of one capability in raw JSON. An error is the caller's
// failed call, with the error's text.
type Handler func(ctx context.Context, input json.RawMessage) (json.RawMessage, error)

// Definition is a plugin as its author wrote it. It is complete before it is
// given to a host, which may open it any number of times; it is not changed
// afterwards.
type Definition struct {
	name     string
	hooks    map[protocol.Step]Hook
	validate Validator
	health   func(context.Context, *Session) (Health, error)
	offers   []offer
	// index finds an offer by its key.
	index map[string]int
	// environments are the environment drivers by their keys; nil for none.
	environments map[string]EnvironmentHooks
	// services are those of Service by their types; nil for none.
	services map[string]serviceClass
}

// Definition is what a host opens.
var _ protocol.Program = (*Definition)(nil)

type offer struct {
	protocol.Offer
	handle Handler
	// validate answers whether an action or an evaluator fits; nil for none.
	validate Handler
}

// Define begins a plugin. The name is for people; a session's name comes from
// the manifest that refers to the plugin.
func Define(name string) *Definition {
	return &Definition{name: name, hooks: map[protocol.Step]Hook{}, index: map[string]int{}}
}

// Name is the one given to Define.
func (d *Definition) Name() string { return d.name }

// OnInit sets the hook that prepares the plugin: what the manifest requires is
// ready, the configuration is not settled yet.
func (d *Definition) OnInit(h Hook) *Definition { return d.on(protocol.StepInit, h) }

// OnSetup sets the hook in which the plugin contributes what depends on its
// configuration. It runs again when the configuration changes.
func (d *Definition) OnSetup(h Hook) *Definition { return d.on(protocol.StepSetup, h) }

// OnStop sets the hook for an end in good order. It is not called after a
// failure.
func (d *Definition) OnStop(h Hook) *Definition { return d.on(protocol.StepStop, h) }

// Validator says what is wrong with a configuration that somebody wants to give to
// the plugin, as JSON; nil if nothing is. Errors that are joined are told one by one.
type Validator func(ctx context.Context, s *Session, config json.RawMessage) error

// OnValidate sets what looks at a configuration before the plugin is given it: airi-host
// and Paperclip's host ask. It changes nothing. A JSON Schema in the manifest is checked by
// the host.
func (d *Definition) OnValidate(v Validator) *Definition {
	d.validate = v
	return d
}

// Health is how a plugin is.
type Health struct {
	// Status is HealthOK, HealthDegraded or HealthError; "" is HealthOK.
	Status string `json:"status"`
	// Message and Details are for people.
	Message string `json:"message,omitempty"`
	Details any    `json:"details,omitempty"`
}

// How a plugin can be.
const (
	HealthOK       = "ok"
	HealthDegraded = "degraded"
	HealthError    = "error"
)

// OnHealth sets what tells how the plugin is, for hosts that ask it: Paperclip's.
// A plugin without it is well as long as it answers.
func (d *Definition) OnHealth(h func(context.Context, *Session) (Health, error)) *Definition {
	d.health = h
	return d
}

func (d *Definition) on(step protocol.Step, h Hook) *Definition {
	d.hooks[step] = h
	return d
}

// Offers lists what is offered before the plugin runs.
func (d *Definition) Offers() []protocol.Offer {
	list := make([]protocol.Offer, len(d.offers))
	for i, o := range d.offers {
		list[i] = o.Offer
	}
	return list
}

// Open makes an instance for one session.
func (d *Definition) Open(home protocol.Home) protocol.Port {
	return newSession(d, home)
}

func (d *Definition) offer(o offer) {
	if _, again := d.index[o.Key]; again {
		panic(fmt.Sprintf("plugin %s offers %s twice", d.name, o.Key))
	}
	d.index[o.Key] = len(d.offers)
	d.offers = append(d.offers, o)
}

func (d *Definition) handler(key string) Handler {
	if i, ok := d.index[key]; ok {
		return d.offers[i].handle
	}
	return nil
}

// offersAny tells whether something of a kind is offered.
func (d *Definition) offersAny(kind string) bool {
	return slices.ContainsFunc(d.offers, func(o offer) bool { return strings.HasPrefix(o.Key, kind) })
}
