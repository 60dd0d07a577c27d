package plugintest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/plugin"
)

// Options say what a plugin finds. The zero value works.
type Options struct {
	// Name is the plugin's in its host; "" is that of its definition.
	Name string
	// Config is the plugin's configuration, as a value that encodes to JSON; nil for none.
	Config any
	// Scope is the tenant of calls and events that name none: see [For].
	Scope string
	// Answers are the host's services and the capabilities of other plugins, by their keys,
	// e.g. "state.get" or "tool:greet".
	Answers map[string]Answer
	// Secrets are what "secrets.resolve" gives out, by their ids, Settings what "getSetting"
	// does, by their keys, unless Answers has that key; nil for no such service.
	Secrets  map[string]string
	Settings map[string]any

	// StepTime is how long a hook may take, CallTime a call that has no deadline of its own.
	// Zero means 10 s, and 30 s.
	StepTime, CallTime time.Duration
	// Settle is how long what the plugin has started may still run when it was stopped. Zero
	// means 1 s.
	Settle time.Duration
	// Records is how many there may be of each kind of what is kept: calls, events, lines of
	// the log, offers. Zero means 10,000.
	Records int
	// Ignore are parts of the stacks of goroutines that may be left, e.g. the name of a
	// function of a library that keeps one.
	Ignore []string
}

const (
	defaultStepTime = 10 * time.Second
	defaultCallTime = 30 * time.Second
	defaultSettle   = time.Second
	defaultRecords  = 10_000
	// callDepth is how many calls there may be one within the other, as in a host.
	callDepth = 32
)

func (o Options) withDefaults(d *plugin.Definition) Options {
	o.Name = cmp.Or(o.Name, d.Name())
	o.StepTime = positive(o.StepTime, defaultStepTime)
	o.CallTime = positive(o.CallTime, defaultCallTime)
	o.Settle = positive(o.Settle, defaultSettle)
	o.Records = positive(o.Records, defaultRecords)
	return o
}

func positive[N int | time.Duration](n, usual N) N {
	if n <= 0 {
		return usual
	}
	return n
}

// encode is a value as JSON; nil stands for nothing.
func encode(what string, v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return encoded, nil
}
