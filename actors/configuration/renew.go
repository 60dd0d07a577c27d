package configuration

import (
	"context"
	"errors"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// Renew is for who has changed the Defaults: it has a running plugin take what is in force
// for the company with which it was started, after validating it. before is what was in
// force. It returns Now; AtItsStart for a plugin that does not run; or "" where nothing has
// changed, or where what was kept goes before the Defaults.
//
// One that is refused is an error (CodeConfiguration, with the reasons). Then undo is
// called, which is to put the former Defaults of this plugin back, before the plugin is
// given back what it had.
func (c *Configurator) Renew(ctx context.Context, plugin, company string, before Configuration, undo func()) (effect string, err error) {
	leave, err := c.Idle(ctx, plugin)
	if err != nil {
		return "", err
	}
	defer leave()
	m, after := c.Manifest(plugin), c.Book.InForce(plugin, company)
	switch {
	case m == nil:
		return "", &protocol.Error{Code: protocol.CodeNotFound, Plugin: plugin, Message: fmt.Sprintf("no plugin is called %s", plugin)}
	case after.Source == FromStore, sameValue(full(before), full(after)):
		return "", nil
	}
	s := &step{Configurator: c, man: m, next: Kept{Plugin: plugin, Company: company}, was: c.newest(plugin)}
	if after.Value != nil {
		s.next.Revision, s.next.SchemaVersion, s.next.Value = 1, 1, after.Value
	}
	switch s.was.Phase {
	case "", stopped, failed:
		return AtItsStart, nil
	default: // it runs
	}
	v, err := s.validate(ctx)
	if err == nil {
		err = s.refusal(v)
	}
	if err != nil {
		undo()
		return "", err
	}
	if err := s.give(ctx, s.was, after); err != nil {
		undo()
		return "", errors.Join(err, s.giveBack(before))
	}
	return Now, nil
}
