package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// caller makes one call on a host of its own, as soon as it can be made.
type caller struct {
	host    *actors.Host
	list    []*manifest.Manifest
	call    protocol.Call
	timeout time.Duration
	journal *journal
	// start says how each plugin is started; nil means the defaults.
	start func(*manifest.Manifest) actors.StartOptions

	// outcomes are how the starts ended; nil until all have.
	outcomes []actors.Outcome
	// begun tells that the plugins were started, ready that the key was seen ready,
	// late that the deadline came first.
	begun, ready, late bool
}

// run starts the plugins, waits for the key, and calls.
func (k *caller) run(stop context.Context) (json.RawMessage, error) {
	if err := k.checkPlugin(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(stop, defaultStartLimit, &startLimitError{defaultStartLimit})
	defer cancel()
	k.begun = true
	k.await(ctx)
	if stop.Err() != nil {
		return nil, errInterrupted
	}
	result, err := k.host.Invoke(stop, k.call)
	if err != nil && stop.Err() != nil {
		return nil, errGaveUp
	}
	return result, k.explain(err)
}

// checkPlugin tells at once that the plugin which is asked for is not there.
func (k *caller) checkPlugin() error {
	names := make([]string, len(k.list))
	for i, m := range k.list {
		names[i] = m.PluginName()
	}
	if k.call.Plugin == "" || slices.Contains(names, k.call.Plugin) {
		return nil
	}
	return &protocol.Error{
		Code:    protocol.CodeNotFound,
		Message: fmt.Sprintf("--plugin %s: there is no such plugin; there are: %s", k.call.Plugin, strings.Join(names, ", ")),
	}
}

// await starts all plugins and returns when the key can be called, when nothing more
// can come, or at the deadline. The starts go on until ctx ends.
func (k *caller) await(ctx context.Context) {
	ready, owner := make(chan struct{}), make(chan struct{})
	settled := make(chan []actors.Outcome, 1)
	go func() {
		settled <- k.host.StartAll(ctx, k.list, k.start, func(o actors.Outcome) {
			if o.Manifest.PluginName() == k.call.Plugin {
				close(owner)
			}
		})
	}()
	if k.anyOwner() {
		go func() {
			if _, err := k.host.Wait(ctx, defaultStartLimit, k.call.Key); err == nil {
				close(ready)
			}
		}()
	}
	select {
	case <-ready:
		k.ready = true
	case <-owner: // well or not: the call tells
	case k.outcomes = <-settled:
	case <-k.deadline():
		k.late = true
	case <-ctx.Done():
		k.outcomes = <-settled // at once
	}
}

// deadline gives a value when the call's deadline is over.
func (k *caller) deadline() <-chan time.Time {
	if k.call.Deadline.IsZero() {
		return nil
	}
	return time.After(time.Until(k.call.Deadline))
}

// anyOwner tells whether the first owner that is ready will do: an event is for all
// who listen, several owners of some kinds are an error, one of a higher priority goes
// before, and a plugin that was named is to be waited for.
func (k *caller) anyOwner() bool {
	if k.call.Plugin != "" {
		return false
	}
	switch capability.Key(k.call.Key).Kind() {
	case capability.KindEvent, capability.KindData, capability.KindJob, capability.KindWebhook,
		capability.KindHTTP, capability.KindEnvironment:
		return false
	default:
		return k.samePriority()
	}
}

// samePriority tells that no plugin goes before another.
func (k *caller) samePriority() bool {
	for _, m := range k.list {
		if m.Host.Priority != k.list[0].Host.Priority {
			return false
		}
	}
	return true
}

// explain adds what the host cannot know to the error of a call.
func (k *caller) explain(err error) error {
	if k.late && protocol.CodeOf(err) == protocol.CodeNotFound {
		return &protocol.Error{
			Code:    protocol.CodeTimeout,
			Message: fmt.Sprintf("%s was not ready before the deadline (--timeout %s)", k.call.Key, k.timeout),
		}
	}
	return explain(err, k.call.Key, k.offers)
}

// offers are those of the plugin that is named, or of all.
func (k *caller) offers() []capability.Offer {
	return slices.DeleteFunc(k.host.Offers(), func(o capability.Offer) bool {
		return k.call.Plugin != "" && k.call.Plugin != o.Owner.Plugin
	})
}

// culprits are the plugins that are not ready, where that may be why a call failed.
func (k *caller) culprits(err error) []shortfall {
	failure, ok := errors.AsType[*protocol.Error](err)
	if !ok || !k.begun || k.ready || failure.Code == protocol.CodeOutcomeUnknown { // that says how the plugin ended
		return nil
	}
	starts := map[string]error{}
	for _, o := range k.outcomes {
		starts[o.Manifest.PluginName()] = o.Err
	}
	var list []shortfall
	traces, now := k.journal.catchUp(), standingsOf(k.host)
	for _, m := range k.list {
		name := m.PluginName()
		if failure.Plugin != "" && failure.Plugin != name {
			continue
		}
		if s, ok := shortfallOf(now, m, starts[name], traces[name], cures{once: true}); ok {
			list = append(list, s)
		}
	}
	return list
}
