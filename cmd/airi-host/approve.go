package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

const approveText = `Show which grants a plugin of the running host asks for and has not, and give it those.

A plugin that is seen for the first time is granted what it asks for, which is told. When it asks
for more later, it goes on with what it had: the rest waits for this command, and a call that takes
it is denied. What is approved holds at once; a plugin that has to begin anew for that is reloaded.

With --deny the plugin is left with what it has, and what waits is refused until it is approved all
the same. What the host's settings list as plugins.NAME.grants goes before all that: it is changed there.

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
				open := openGrants(before, deny)
				if show || len(open) == 0 {
					c.printGrants(before)
					return unlisted(before, show || deny)
				}
				now, err := host.Decide(ctx, args[0], admin.GrantDecision{Deny: deny, Seen: open})
				if err == nil {
					c.printDecided(now, open, deny)
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
	why := "was refused"
	if g.Source == "settings" {
		why = notListed(g.Plugin)
	}
	for _, one := range g.Refused {
		c.say("  - %s  %s", printable(one), printable(why))
	}
	c.endGrants(g)
}

// notListed says why a plugin has not what it asks for, where the settings list what it
// has, and what to do.
func notListed(plugin string) string {
	return "not in " + manifest.FieldOf("plugins", plugin, "grants") + " of the settings: change it there"
}

// unlisted is the error of approving what the settings do not list, unless that is no
// matter.
func unlisted(g admin.Grants, noMatter bool) error {
	if noMatter || g.Source != "settings" || len(g.Refused) == 0 {
		return nil
	}
	return &protocol.Error{Code: protocol.CodeInvalid, Plugin: g.Plugin, Message: fmt.Sprintf(
		"plugin %s: %s: %s, and have it read by 'airi-host reload'", g.Plugin, strings.Join(g.Refused, ", "), notListed(g.Plugin))}
}

// endGrants is the line for machines.
func (c *cli) endGrants(g admin.Grants) {
	if c.json() {
		c.encodeAs("grants", g)
	}
}

// printDecided tells what was decided, and what the plugin has by that.
func (c *cli) printDecided(now admin.Grants, what []string, deny bool) {
	c.endGrants(now)
	done, then := "is given", "has all that it asks for now"
	if deny {
		done, then = "is refused", "goes on with what it has"
	}
	c.say("%s", printable(now.Plugin+" "+done+" "+strings.Join(what, ", ")))
	c.say("%s %s", printable(now.Plugin), then)
}
