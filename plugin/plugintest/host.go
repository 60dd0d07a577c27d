package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// Host is a stand-in for the host of one plugin, in memory.
type Host struct {
	t    testing.TB
	o    Options
	home *home
	port protocol.Port
	mark mark

	// life ends with the session.
	life context.Context
	end  context.CancelCauseFunc

	// stopping tells that somebody stops the session; isStopped is closed behind that, and
	// stopped is what OnStop did. A sync.Once would hold up the time of a bubble.
	stopping  atomic.Bool
	isStopped chan struct{}
	stopped   error
}

// Start opens a plugin and runs OnInit and OnSetup; it fails the test where one of them
// fails. The plugin is stopped when the test is over, or by [Host.Stop].
func Start(t testing.TB, d *plugin.Definition, o Options) *Host {
	t.Helper()
	h, err := Open(t, d, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Open is [Start] for a plugin that may not come up: it returns the error of the hook that
// failed. As under a host OnStop does not run then.
func Open(t testing.TB, d *plugin.Definition, o Options) (*Host, error) {
	t.Helper()
	o = o.withDefaults(d)
	h := &Host{t: t, o: o, mark: newMark(), isStopped: make(chan struct{})}
	h.life, h.end = context.WithCancelCause(context.Background())
	h.home = newHome(h, o)
	h.home.offers = d.Offers()
	h.port = d.Open(h.home)
	t.Cleanup(h.finish)
	config, err := encode("Options.Config", o.Config)
	h.home.configure(config)
	for _, step := range []protocol.Step{protocol.StepInit, protocol.StepSetup} {
		if err == nil {
			err = h.run(step)
		}
	}
	if err != nil {
		h.stop(func() error { return nil })
		return h, fmt.Errorf("plugin %s: %w", o.Name, err)
	}
	return h, nil
}

// Stop runs OnStop and ends the plugin, as a host does that stops it in good order, and
// returns what OnStop did. A goroutine that is left fails the test. Stopping again returns
// the same.
func (h *Host) Stop() error {
	h.t.Helper()
	h.stop(func() error { return h.run(protocol.StepStop) })
	return h.stopped
}

// stop ends the session once; whoever comes later waits for that.
func (h *Host) stop(hook func() error) {
	h.t.Helper()
	if h.stopping.CompareAndSwap(false, true) {
		h.stopped = hook()
		h.leave()
		close(h.isStopped)
	}
	<-h.isStopped
}

// finish stops what the test has not.
func (h *Host) finish() {
	h.t.Helper()
	if err := h.Stop(); err != nil {
		h.t.Errorf("plugin %s: OnStop: %v", h.o.Name, err)
	}
	for what, lost := range h.lost() {
		if lost > 0 {
			h.t.Errorf("plugin %s: %d more %s than the %d that are kept: raise Options.Records", h.o.Name, lost, what, h.o.Records)
		}
	}
	if h.t.Failed() && len(h.Log()) > 0 {
		h.t.Logf("plugin %s has logged:\n%s", h.o.Name, strings.Join(h.Log(), "\n"))
	}
}

// lost is how many there were of what is kept, beyond the bound.
func (h *Host) lost() map[string]int {
	return map[string]int{
		"calls":            h.home.calls.lost(),
		"published events": h.home.published.lost(),
		"sent events":      h.home.sent.lost(),
		"lines of the log": h.home.lines.lost(),
		"progress items":   h.home.progress.lost(),
	}
}

// leave ends all contexts and looks at what goes on nevertheless.
func (h *Host) leave() {
	h.t.Helper()
	h.end(h.errStopped())
	for _, stack := range h.mark.left(h.o.Settle, h.o.Ignore) {
		h.t.Errorf("plugin %s: goroutines are left %s after it was stopped: end them with their context, or in OnStop\n%s",
			h.o.Name, h.o.Settle, stack)
	}
}

func (h *Host) errStopped() error {
	return &protocol.Error{Code: protocol.CodeCancelled, Message: "plugin " + h.o.Name + " was stopped"}
}

// gone is why nothing can be asked any more; nil while it can.
func (h *Host) gone() error {
	if h.life.Err() != nil {
		return context.Cause(h.life)
	}
	return nil
}

// within returns a context that ends with the session as well.
func (h *Host) within(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	free := context.AfterFunc(h.life, func() { cancel(context.Cause(h.life)) })
	return ctx, func(why error) { free(); cancel(why) }
}

// run passes through a step.
func (h *Host) run(step protocol.Step) error {
	if err := h.gone(); err != nil || !h.port.Has(step) {
		return err
	}
	ctx, cancel := context.WithTimeout(h.life, h.o.StepTime)
	defer cancel()
	_, err := h.perform(ctx, func() (json.RawMessage, error) { return nil, h.port.Run(ctx, step) })
	return h.inTime(string(step), err)
}

// inTime says what a hook's lateness means.
func (h *Host) inTime(hook string, err error) error {
	switch {
	case !errors.Is(err, errLate):
		return err
	case h.gone() != nil:
		return h.gone()
	}
	return &protocol.Error{Code: protocol.CodeTimeout, Message: fmt.Sprintf("%s did not end within %s", hook, h.o.StepTime)}
}

// errLate tells that a context has ended before code of the plugin's.
var errLate = errors.New("it goes on")

// perform runs code of the plugin's, until it returns or the context ends.
func (h *Host) perform(ctx context.Context, f func() (json.RawMessage, error)) (json.RawMessage, error) {
	type end struct {
		result json.RawMessage
		err    error
	}
	done := make(chan end, 1)
	h.mark.run(func() {
		e := end{err: errExited}
		defer func() { done <- e }()
		e.result, e.err = contain(f)
	})
	select {
	case e := <-done:
		if e.err != nil && ctx.Err() != nil { // it has heeded its context
			return nil, errLate
		}
		return e.result, e.err
	case <-ctx.Done():
		return nil, errLate
	}
}

// Configure gives the plugin another configuration, as a host does: OnValidate is asked,
// then OnSetup runs anew. One that OnValidate refuses fails with [protocol.CodeConfiguration] and is not
// given; where OnSetup fails the session would have failed, and its error is returned.
func (h *Host) Configure(config any) error {
	encoded, err := encode("the configuration", config)
	if err != nil {
		return err
	}
	found, err := h.validate(encoded)
	if err != nil {
		return err
	}
	if len(found.Invalid) > 0 {
		var reasons []string
		for _, p := range found.Invalid {
			reasons = append(reasons, p.Reason)
		}
		return &protocol.Error{Code: protocol.CodeConfiguration, Message: "plugin " + h.o.Name + " refuses the configuration: " + strings.Join(reasons, "; ")}
	}
	h.home.configure(encoded)
	return h.run(protocol.StepSetup)
}

// Validate asks OnValidate whether the plugin would take a configuration, and changes
// nothing. It fails where OnValidate panics, or takes longer than a hook may.
func (h *Host) Validate(config any) (protocol.Validation, error) {
	encoded, err := encode("the configuration", config)
	if err != nil {
		return protocol.Validation{}, err
	}
	return h.validate(encoded)
}

func (h *Host) validate(config json.RawMessage) (found protocol.Validation, err error) {
	asked, ok := h.port.(protocol.Validator)
	if gone := h.gone(); gone != nil || !ok {
		return found, gone
	}
	ctx, cancel := context.WithTimeout(h.life, h.o.StepTime)
	defer cancel()
	encoded, err := h.perform(ctx, func() (json.RawMessage, error) {
		found, err := asked.Validate(ctx, config)
		if err != nil {
			return nil, err
		}
		return json.Marshal(found)
	})
	if err == nil {
		err = json.Unmarshal(encoded, &found)
	}
	return found, h.inTime("OnValidate", err)
}
