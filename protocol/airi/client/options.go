package client

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// What Options mean when they say nothing.
const (
	DefaultAnswerTime = 10 * time.Second
	DefaultAskTime    = 2 * time.Second
	DefaultBeatEvery  = 15 * time.Second
)

// Options are what a module is. Name, Instance and Seed have to be there.
type Options struct {
	// Name is the plugin's, and the module's; Instance tells this one from others of the
	// plugin, and is the same over all its connections. Version is the plugin's, "" for none.
	Name, Instance, Version string
	// Extensions announces the module as those of AIRI 0.11 do, as a module of an extension
	// of that name.
	Extensions bool
	// Token is shown to the server.
	Token string
	// Seed makes the names of events and calls new: no other run may have had it.
	Seed string

	// Dependencies are the keys that have to be ready before the module is; a host waits
	// for them.
	Dependencies []string
	// ConfigSchema says what a configuration has to be like: {id, version, schema?}, nil
	// for nothing.
	ConfigSchema json.RawMessage
	// NeedsConfig has the module wait for a configuration before its setup.
	NeedsConfig bool

	// MaxPending bounds, each for itself, the calls in flight in each direction and the
	// questions about configurations. Zero means protocol.DefaultMaxPending. What is offered
	// is the plugin's own: a host takes airi.MaxOffers.
	MaxPending int
	// Collecting bounds what is collected of streams for calls that do not follow them.
	Collecting airi.Collecting
	// AnswerTime is how long the server may take to authenticate the module, and to list it;
	// AskTime how long to answer the question for compatibility, which AIRI's own never does.
	AnswerTime, AskTime time.Duration
	// BeatEvery is the time between two heartbeats. The server closes who is silent for a
	// minute.
	BeatEvery time.Duration
}

func (o Options) resolved() Options {
	o.AnswerTime = cmp.Or(max(o.AnswerTime, 0), DefaultAnswerTime)
	o.AskTime = cmp.Or(max(o.AskTime, 0), DefaultAskTime)
	o.BeatEvery = cmp.Or(max(o.BeatEvery, 0), DefaultBeatEvery)
	return o
}

func (o Options) pending() int { return protocol.Settings{MaxPending: o.MaxPending}.Pending() }
