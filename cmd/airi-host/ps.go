package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

const psText = `List the plugins of the running host: where each stands and for how long, its calls and
those that failed, its crashes, its process, and what it waits for or why it failed. Those that
have come by themselves, over a websocket, are listed by their instances, NAME/INSTANCE.

With --output json there is a line {"event":"plugin",…} for each.`

func (c *cli) psCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ps",
		Short: "List the plugins of the running host",
		Long:  psText,
		Args:  c.arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				list, err := host.Plugins(ctx)
				if err == nil {
					c.printPlugins(list, time.Now())
				}
				return err
			})
		},
	}
}

func (c *cli) printPlugins(list []admin.PluginInfo, now time.Time) {
	rows := [][]string{{"PLUGIN", "PHASE", "FOR", "CALLS", "ERRORS", "CRASHES", "PID", "NOTE"}}
	for _, one := range list {
		if c.json() {
			c.encodeAs("plugin", one)
		}
		rows = append(rows, []string{
			calledOf(one.SessionInfo), standing(one), lasting(one.SessionInfo, now), strconv.FormatUint(one.Calls, 10), strconv.FormatUint(one.CallErrors, 10),
			strconv.Itoa(one.Worker.Crashes), pidOf(one.SessionInfo), c.notesOf(one, now),
		})
	}
	c.table(rows)
}

// calledOf is a plugin's name, with the instance of one that has come by itself.
func calledOf(one actors.SessionInfo) string {
	if one.Instance == "" {
		return one.Plugin
	}
	return one.Plugin + "/" + one.Instance
}

// standing is where a plugin stands, in one word.
func standing(one admin.PluginInfo) string {
	if one.Disabled && one.ID == "" {
		return "disabled"
	}
	return string(one.Phase)
}

// lasting is for how long a session has been in its phase.
func lasting(one actors.SessionInfo, now time.Time) string {
	if one.Since.IsZero() {
		return "-"
	}
	return span(now.Sub(one.Since))
}

func pidOf(one actors.SessionInfo) string {
	if one.Process == nil || one.Process.PID == 0 {
		return "-"
	}
	return strconv.Itoa(one.Process.PID)
}

// notesOf is noteOf with what to do, and which grants the plugin waits for.
func (c *cli) notesOf(one admin.PluginInfo, now time.Time) string {
	cure := ""
	if one.Phase == lifecycle.ConfigurationNeeded {
		cure = "'" + c.cures(false).command(one.Plugin) + "'"
	}
	notes := []string{note(noteOf(one.SessionInfo, now), cure), awaitsApproval(one.Plugin, one.Unapproved), openRoutes(one.Routes)}
	return strings.Join(slices.DeleteFunc(notes, func(text string) bool { return text == "" }), "; ")
}

// openRoutes tells how many terminals and channels of a plugin are open.
func openRoutes(routes map[protocol.RouteKind]actors.RouteCounts) string {
	n := 0
	for _, one := range routes {
		n += int(one.Open)
	}
	if n == 0 {
		return ""
	}
	return plural(n, "open route", "open routes")
}

// noteOf is what one would ask next about a plugin.
func noteOf(one actors.SessionInfo, now time.Time) string {
	switch {
	case one.Phase == lifecycle.ConfigurationNeeded:
		return whyUnconfigured(one.Reason)
	case one.Worker.GivenUp:
		return sentence("given up after "+plural(one.Worker.InARow, "crash", "crashes")+" in a row", one.Reason)
	case !one.Worker.NextRestart.IsZero():
		return sentence("next try in "+span(one.Worker.NextRestart.Sub(now)), one.Reason)
	case len(one.Waits) > 0 && one.Phase != lifecycle.Failed:
		return "waits for " + strings.Join(one.Waits, ", ")
	default:
		return one.Reason
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
