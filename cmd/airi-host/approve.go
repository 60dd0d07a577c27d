package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
)

const approveText = `Show which grants a plugin of the running host asks for and has not, and give it those.

A plugin that is seen for the first time is granted what it asks for, which is told. When it asks
for more later, it goes on with what it had: the rest waits for this command, and a call that takes
it is denied. What is approved holds at once; a plugin that has to begin anew for that is reloaded.

With --deny the plugin is left with what it has, and what waits is refused until it is approved all
the same. What the host's settings list as plugins.NAME.grants goes before all that.

With --output json there is one line, {"event":"grants",…}.`

func (c *cli) approveCommand() *cobra.Command {
	var deny, show bool
	cmd := &cobra.Command{
		Use:     "approve PLUGIN",
		Short:   "Give a plugin of the running host the grants that it waits for",
		Long:    approveText,
		Example: "  airi-host approve welcome --show\n  airi-host approve welcome",
		Args:    c.arguments(1, 1, "a PLUGIN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if deny && show {
				return usageError{errors.New("--deny and --show: give one of them")}
			}
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				before, err := host.Grants(ctx, args[0])
				if err != nil {
					return err
				}
				c.printGrants(before)
				open := openGrants(before, deny)
				if show || len(open) == 0 {
					c.endGrants(before)
					return nil
				}
				now, err := host.Decide(ctx, args[0], admin.GrantDecision{Deny: deny, Seen: open})
				if err == nil {
					c.endGrants(now)
					c.printDecided(now, deny)
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&deny, "deny", false, "leave the plugin with what it has, and refuse what waits")
	cmd.Flags().BoolVar(&show, "show", false, "show it only, and change nothing")
	return cmd
}

// openGrants are those that a decision is about.
func openGrants(g admin.Grants, deny bool) []string {
	if g.Source != "stored" {
		return nil
	}
	if deny {
		return g.Waiting
	}
	return slices.Concat(g.Waiting, g.Refused)
}

// whose says by whom grants are decided, where that is not this command.
var whose = map[string]string{
	"settings": ", by the host's settings",
	"none":     ", since this host keeps nothing",
}

// printGrants shows what a plugin has, and the difference to what it asks for.
func (c *cli) printGrants(g admin.Grants) {
	has := strings.Join(g.Granted, ", ")
	if has == "" {
		has = "no grants"
	}
	c.say("%s", printable(g.Plugin+" has "+has+whose[g.Source]))
	for _, one := range g.Waiting {
		c.say("  + %s  waits for approval", printable(one))
	}
	for _, one := range g.Refused {
		c.say("  - %s  was refused", printable(one))
	}
}

// endGrants is the line for machines.
func (c *cli) endGrants(g admin.Grants) {
	if c.json() {
		c.encodeAs("grants", g)
	}
}

func (c *cli) printDecided(now admin.Grants, deny bool) {
	if deny {
		c.say("%s goes on with what it has", printable(now.Plugin))
		return
	}
	c.say("%s has all that it asks for now", printable(now.Plugin))
}
