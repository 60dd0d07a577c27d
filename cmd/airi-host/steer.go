package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
)

// steering is what each command on a plugin does.
var steering = map[string]struct{ short, long string }{
	admin.Start: {"Start a plugin of the running host that is stopped or has failed", `Start a plugin of the running host that is stopped, has failed, or was given up; wait until it
is ready, or needs its configuration. Its manifest is read anew; the settings are those that the
host has read last.`},
	admin.Stop: {"Stop a plugin of the running host", `Stop a plugin of the running host in good order: its calls in flight may end first. Return when
nothing of it runs any more. It stays stopped until it is started by hand, or the host is started
again: disable keeps it stopped then, too.`},
	admin.Reload: {"Stop a plugin of the running host and start it anew", `Stop a plugin of the running host and start it anew, so that its code and its manifest are read
again; one whose manifest is not good any more is left as it is. The settings are those that the
host has read last. A plugin that is stopped is started.`},
	admin.Enable: {"Start a plugin of the running host that was disabled", `Start a plugin of the running host that was disabled, now and whenever the host is started; wait
until it is ready, or needs its configuration.`},
	admin.Disable: {"Stop a plugin of the running host for good", `Stop a plugin of the running host as stop does, and keep it stopped when the host is started
again, until it is enabled.`},
}

// outlook is what follows a command for the next start of the host.
var outlook = map[string]string{
	admin.Stop:    "it is started again with the host, unless it is disabled",
	admin.Disable: "it is not started with the host, until it is enabled",
}

func (c *cli) steerCommand(command string) *cobra.Command {
	return &cobra.Command{
		Use:     command + " NAME…",
		Short:   steering[command].short,
		Long:    steering[command].long + "\n\nSeveral are handled one after the other; the first failure ends that.",
		Example: "  airi-host " + command + " greeter",
		Args:    c.arguments(1, 0, "at least one NAME, a plugin's"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				for _, name := range args {
					now, err := host.Command(ctx, command, name)
					if err != nil {
						return err
					}
					c.printSteered(command, now)
				}
				return nil
			})
		},
	}
}

func (c *cli) printSteered(command string, one admin.PluginInfo) {
	if c.json() {
		c.encodeAs("plugin", one)
	}
	session := ""
	if one.ID != "" {
		session = " (" + one.ID + ")"
	}
	next := outlook[command]
	if one.Instance != "" {
		next = "it has to come again by itself"
	}
	if one.Disabled {
		next = outlook[admin.Disable]
	}
	text := calledOf(one.SessionInfo) + " is " + string(one.Phase) + session
	c.say("%s", printable(sentence(text, c.notesOf(one, time.Now()), next)))
}
