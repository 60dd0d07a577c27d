package configuration

import (
	"context"
	"fmt"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// Forget has remove remove what is kept of a plugin, or for a company (the other of the
// two is ""), while nobody uses it, and then goes by what is left. It fails with
// CodeNotReady and removes nothing while the plugin, or one that was started with the
// company's configuration, is not stopped. The host forgets the plugin's log and crashes,
// too.
func (c *Configurator) Forget(ctx context.Context, plugin, company string, remove func(context.Context) error) error {
	if (plugin == "") == (company == "") {
		return &protocol.Error{Code: protocol.CodeInvalid, Message: "expected a plugin or a company whose data goes, one of the two"}
	}
	if plugin != "" {
		leave, err := c.enter(ctx, plugin, Change{})
		if err != nil {
			return err
		}
		defer leave()
	}
	for _, one := range c.Host.Sessions() {
		if err := c.inUse(one, plugin, company); err != nil {
			return err
		}
	}
	if plugin != "" {
		if err := c.Host.Remove(plugin); err != nil { // it was started meanwhile
			return err
		}
	}
	if err := remove(ctx); err != nil {
		return err
	}
	c.Book.Forget(plugin, company)
	return nil
}

// inUse is why data cannot go while a session lives; nil if it can.
func (c *Configurator) inUse(one actors.SessionInfo, plugin, company string) error {
	why := ""
	switch m := c.Manifest(one.Plugin); {
	case plugin != "" && one.Plugin == plugin:
		why = "what it keeps cannot be removed meanwhile"
	case company != "" && m != nil && c.Company(m) == company:
		why = fmt.Sprintf("it works for company %q, whose data cannot be removed meanwhile", company)
	default:
		return nil
	}
	return &protocol.Error{Code: protocol.CodeNotReady, Plugin: one.Plugin, Message: fmt.Sprintf(
		"plugin %s is %s (%s): %s: stop it first", one.Plugin, one.Phase, one.ID, why)}
}
