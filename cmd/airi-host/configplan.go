package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/admin"
)

// The commands that look at a change before it is made, and the one that takes back what
// was set.

func (c *cli) configValidateCommand(opts *configOptions) *cobra.Command {
	cmd := c.changeCommand(opts, func(ctx context.Context, host *admin.Client, plugin string, change configuration.Change) error {
		v, err := host.ValidateConfiguration(ctx, plugin, change)
		if err != nil {
			return err
		}
		if c.json() {
			c.encodeAs("validation", v)
		}
		c.printValidation(plugin, v)
		return refused(v)
	})
	cmd.Use, cmd.Short, cmd.Long = "validate PLUGIN JSON|-|@FILE", "Ask whether a plugin would take a configuration", configValidateText
	cmd.Example = `  airi-host config validate welcome '{"language":"en"}'`
	return cmd
}

func (c *cli) configPlanCommand(opts *configOptions) *cobra.Command {
	cmd := c.changeCommand(opts, func(ctx context.Context, host *admin.Client, plugin string, change configuration.Change) error {
		p, err := host.PlanConfiguration(ctx, plugin, change)
		if err != nil {
			return err
		}
		if c.json() {
			c.encodeAs("plan", p)
		}
		c.printPlan(p)
		return refused(p.Validation)
	})
	cmd.Use, cmd.Short, cmd.Long = "plan PLUGIN JSON|-|@FILE", "Tell what setting a configuration would do", configPlanText
	cmd.Example = `  airi-host config plan welcome --patch '{"language":"en"}'`
	return cmd
}

func (c *cli) configUnsetCommand(opts *configOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "unset PLUGIN", Short: "Take back what was set: the settings hold again",
		Long: `End the configuration that was set for a plugin of the running host: that of the host's file of
settings is in force again, or none. It is validated and given to the plugin as by set.`,
		Args: c.arguments(1, 1, "a PLUGIN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			base, err := opts.base(cmd)
			if err != nil {
				return err
			}
			change := configuration.Change{Company: opts.company, Unset: true, Base: base}
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				now, err := host.Configure(ctx, args[0], change)
				if err == nil {
					c.printUnset(now)
				}
				return err
			})
		},
	}
	revisionFlag(cmd, opts)
	return cmd
}

// refused makes a configuration that is not valid the failure of the command, which has
// told why.
func refused(v configuration.Validation) error {
	if v.Status == configuration.Valid {
		return nil
	}
	return errFailed
}

func (c *cli) printValidation(plugin string, v configuration.Validation) {
	by := "its schema and the plugin itself"
	if !v.Asked {
		by = "its schema"
	}
	if v.Status == configuration.Valid {
		c.say("%s would take it, by %s", printable(plugin), by)
	} else {
		c.say("%s would not take it", printable(plugin))
	}
	for _, name := range v.Missing {
		c.say("  %s is missing", printable(name))
	}
	for _, one := range v.Invalid {
		c.say("  %s", printable(sentence(one.Path, one.Reason)))
	}
	if v.Note != "" {
		c.say("  not asked: %s", printable(v.Note))
	}
	c.printWarnings(v.Warnings)
}

// effects are the words for when a plugin has its configuration.
var effects = map[string]string{
	configuration.Now: "now, while it runs", configuration.AtItsStart: "when it starts", configuration.WhenItAsks: "when it asks for that company's",
}

func (c *cli) printPlan(p configuration.Plan) {
	when := effects[p.Effect]
	if p.Restart {
		when = "now, and is started with it"
	}
	c.say("%s goes from revision %d to %d, and has it %s", printable(p.Plugin), p.Revision, p.Next, when)
	for _, one := range []struct {
		sign  string
		names []string
	}{{"+", p.Added}, {"~", p.Changed}, {"-", p.Removed}} {
		for _, name := range one.names {
			c.say("  %s %s", one.sign, printable(name))
		}
	}
	v := p.Validation
	v.Note, v.Warnings = "", nil // they are among the plan's
	if v.Status != configuration.Valid {
		c.printValidation(p.Plugin, v)
	}
	c.printWarnings(p.Warnings)
}

func (c *cli) printWarnings(list []string) {
	for _, one := range list {
		c.say("  note: %s", printable(strings.TrimSpace(one)))
	}
}

func (c *cli) printUnset(now configuration.Configuration) {
	if c.json() {
		c.encodeAs("configuration", now)
	}
	next := "that of the settings is in force"
	switch now.Source {
	case configuration.FromNobody:
		next = "it has none"
	case configuration.FromStore:
		next = "that for all companies is in force"
	}
	c.say("%s: what was set has ended with revision %d; %s", printable(now.Plugin), now.Revision, next)
	c.printWarnings(now.Warnings)
}
