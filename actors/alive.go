package actors

import (
	"context"
	"fmt"
)

// probed asks an actor whether it still takes what it is told.
type probed struct{ reply chan<- struct{} }

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
		reply := make(chan struct{}, 1)
		one.ref.tell(probed{reply})
		select {
		case <-reply:
		case <-one.ref.gone:
			return ErrShutdown
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", one.name, context.Cause(ctx))
		}
	}
	select {
	case <-looked:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the host's state is held: %w", context.Cause(ctx))
	}
}
