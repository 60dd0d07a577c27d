package ws

import (
	"context"
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
func (m *module) hook(step protocol.Step) (err error) {
	m.hooks.Lock()
	defer m.hooks.Unlock()
	if !m.session.Has(step) {
		return nil
	}
	ctx, cancel := context.WithTimeout(m.ctx, m.o.HookTime)
	defer cancel()
	done := make(chan error, 1)
	go m.contained("the hook for "+string(step), func() error { return m.session.Run(ctx, step) }, func(err error) { done <- err })
	return <-done
}

// validate asks the plugin about a configuration.
func (m *module) validate(q client.Validate) {
	m.hooks.Lock()
	defer m.hooks.Unlock()
	ctx, cancel := context.WithTimeout(m.ctx, m.o.HookTime)
	defer cancel()
	var v protocol.Validation
	done := make(chan error, 1)
	go m.contained("OnValidate", func() (err error) {
		v, err = m.session.Validate(ctx, q.Config)
		return err
	}, func(err error) { done <- err })
	err := <-done
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
	ctx, cancel := context.WithTimeout(ctx, m.o.HookTime)
	defer cancel()
	var h plugin.Health
	done := make(chan error, 1)
	go m.contained("OnHealth", func() (err error) {
		h, can, err = m.session.Health(ctx)
		return err
	}, func(err error) { done <- err })
	if err := <-done; err != nil {
		can, h = true, plugin.Health{Status: plugin.HealthError, Message: err.Error()}
	}
	if !can {
		return false
	}
	phase, known := phases[h.Status]
	if !known {
		phase = client.PhaseDegraded
	}
	_ = m.step(client.Feels{Phase: phase, Reason: h.Message})
	return true
}
