package plugin

import (
	"context"
	"encoding/json"
	"fmt"

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
	name   string
	hooks  map[protocol.Step]Hook
	offers []offer
}

// Definition is what a host opens.
var _ protocol.Program = (*Definition)(nil)

type offer struct {
	protocol.Offer
	handle Handler
}

// Define begins a plugin. The name is for people; a session's name comes from
// the manifest that refers to the plugin.
func Define(name string) *Definition {
	return &Definition{name: name, hooks: map[protocol.Step]Hook{}}
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
	for _, have := range d.offers {
		if have.Key == o.Key {
			panic(fmt.Sprintf("plugin %s offers %s twice", d.name, o.Key))
		}
	}
	d.offers = append(d.offers, o)
}
