package configuration

import (
	"context"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// Adopt keeps what a plugin has been configured with by somebody else, and has taken: it is
// neither asked nor given it. What is in force already is not kept once more.
func (c *Configurator) Adopt(ctx context.Context, plugin string, taken protocol.Config) error {
	leave, err := c.enter(ctx, plugin, Change{})
	if err != nil {
		return err
	}
	defer leave()
	company := ""
	if m := c.Manifest(plugin); m != nil { // else it has left since
		company = c.Company(m)
	}
	if err := c.settle(ctx, whose{plugin, company}); err != nil {
		return err
	}
	if sameValue(full(c.Book.InForce(plugin, company)), taken.Full) {
		return nil
	}
	change := Change{Company: company, Value: taken.Full}
	old, next, err := c.next(plugin, change)
	if err != nil {
		return err
	}
	s := &step{Configurator: c, change: change, old: old, next: next, was: c.newest(plugin)}
	s.tell(actors.StepCommit, actors.StepWorking, 0.75, "it has been taken, and is kept")
	kept, err := s.keep(ctx)
	if err != nil {
		s.tell(actors.StepCommit, actors.StepRefused, 1, err.Error())
		return err
	}
	c.Book.Put(kept)
	s.tell(actors.StepCommit, actors.StepDone, 1, "")
	return nil
}
