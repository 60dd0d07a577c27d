package ws

import (
	"context"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/client"
)

// run passes through a step, and tells how that ended.
func (m *module) run(step protocol.Step) {
	err := m.hook(step)
	if err == nil && step == protocol.StepSetup {
		m.mu.Lock()
		m.setUp = true
		m.mu.Unlock()
	}
	if err != nil {
		m.log.ErrorContext(m.ctx, "a hook failed", "step", string(step), "error", err)
	}
	_ = m.step(client.Ran{Step: step, Err: err})
}

// hook calls the plugin's hook for a step, one at a time.
func (m *module) hook(step protocol.Step) error {
	m.hooks.Lock()
	defer m.hooks.Unlock()
	if !m.session.Has(step) {
		return nil
	}
	_, err := author(m.ctx, m, "the hook for "+string(step), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, m.session.Run(ctx, step)
	})
	return err
}

// author runs a hook that an author wrote within its time. One that goes on when its context
// has ended is left, so that it holds up neither other hooks nor the end.
func author[T any](ctx context.Context, m *module, what string, run func(context.Context) (T, error)) (result T, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.o.HookTime)
	defer cancel()
	type end struct {
		result T
		err    error
	}
	done := make(chan end, 1)
	go func() {
		var e end
		m.contained(what, func() (err error) {
			e.result, err = run(ctx)
			return err
		}, func(err error) { e.err = err; done <- e })
	}()
	select {
	case e := <-done:
		return e.result, e.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(m.o.Grace)
	defer grace.Stop()
	select {
	case e := <-done:
		return e.result, e.err
	case <-grace.C:
		return result, m.fault(protocol.CodeTimeout, fmt.Sprintf(
			"%s goes on %s after its context has ended: have it heed its context, which lasts %s at most", what, m.o.Grace, m.o.HookTime))
	}
}

// validate asks the plugin about a configuration.
func (m *module) validate(q client.Validate) {
	m.hooks.Lock()
	defer m.hooks.Unlock()
	v, err := author(m.ctx, m, "OnValidate", func(ctx context.Context) (protocol.Validation, error) {
		return m.session.Validate(ctx, q.Config)
	})
	_ = m.step(client.Validated{ID: q.ID, Validation: v, Err: err})
}

// phases are those of what OnHealth says.
var phases = map[string]string{
	"": client.PhaseReady, plugin.HealthOK: client.PhaseReady,
	plugin.HealthDegraded: client.PhaseDegraded, plugin.HealthError: client.PhaseFailed,
}

// watchHealth asks the plugin now and then how it is.
func (m *module) watchHealth(ctx context.Context) {
	every := time.NewTicker(m.o.HealthEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		m.mu.Lock()
		asks := m.setUp
		m.mu.Unlock()
		if asks && !m.askHealth(ctx) {
			return
		}
	}
}

// askHealth tells whether the plugin can say how it is.
func (m *module) askHealth(ctx context.Context) (can bool) {
	type answer struct {
		plugin.Health
		can bool
	}
	h, err := author(ctx, m, "OnHealth", func(ctx context.Context) (a answer, err error) {
		a.Health, a.can, err = m.session.Health(ctx)
		return a, err
	})
	switch {
	case err != nil:
		h.Health = plugin.Health{Status: plugin.HealthError, Message: err.Error()}
	case !h.can:
		return false
	}
	phase, known := phases[h.Status]
	if !known {
		phase = client.PhaseDegraded
	}
	_ = m.step(client.Feels{Phase: phase, Reason: h.Message})
	return true
}
