package actors

import (
	"context"
	"fmt"
)

// probed asks an actor whether it still takes what it is told.
type probed struct{ reply chan<- error }

// Probe tells whether the host lives in truth: the actors that all others need, the
// registry and the event router, take messages, and its own state can be looked at. It
// fails when ctx ends first, naming what does not answer, and with ErrShutdown.
func (h *Host) Probe(ctx context.Context) error {
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		h.everySupervisor()
		h.handles()
	}()
	for _, one := range []struct {
		name string
		ref  *ref
	}{{"the registry", h.registry}, {"the event router", h.router}} {
		err, lost := ask(ctx, one.ref, func(reply chan<- error) any { return probed{reply} })
		switch {
		case err != nil:
			return err
		case lost == errGone: //nolint:errorlint // the value itself
			return ErrShutdown
		case lost != nil:
			return fmt.Errorf("%s does not answer: %w", one.name, lost)
		}
	}
	select {
	case <-looked:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the host's state is held: %w", context.Cause(ctx))
	}
}
