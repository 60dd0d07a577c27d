package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/protocol"
)

const inspectText = `Tell all that the running host knows about a plugin, by its name or a session's id: its
session, process, calls, what it requires and offers, what was dropped, the end of its log.

With --output json it is one line, {"event":"plugin",…}.`

func (c *cli) inspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "inspect NAME[/INSTANCE]",
		Short:   "Tell all about a plugin of the running host",
		Long:    inspectText,
		Example: "  airi-host inspect greeter",
		Args:    c.arguments(1, 1, "a plugin's NAME or a session's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				detail, err := host.Inspect(ctx, args[0])
				switch {
				case err != nil:
					return err
				case c.json():
					c.encodeAs("plugin", detail)
				default:
					c.printInspection(detail, time.Now())
				}
				return nil
			})
		},
	}
}

func (c *cli) printInspection(d admin.PluginDetail, now time.Time) {
	facts := [][2]string{
		{"plugin", d.Plugin},
		{"instance", d.Instance},
		{"session", d.ID},
		{"phase", phaseOf(d.SessionInfo, now)},
		{"disabled", disabledWord(d.Disabled)},
		{"reason", d.Reason},
		{"manifest", d.File},
		{"process", processOf(d.Process, now)},
		{"calls", fmt.Sprintf("%d, %d of them failed; %d in flight", d.Calls, d.CallErrors, d.InFlight)},
		{"routes", routesOf(d.Routes)},
		{"worker", workerOf(d.Worker, now)},
		{"requires", strings.Join(d.Requires, ", ")},
		{"waits for", strings.Join(d.Waits, ", ")},
		{"schema", string(d.Schema)},
		{"grants", awaitsApproval(d.Plugin, d.Unapproved)},
		{"dropped", countsOf(d.Dropped)},
		{"log file", logFileOf(d.LogFile)},
	}
	for _, f := range facts {
		if f[1] != "" {
			c.say("%s  %s", pad(f[0], len("waits for")), printable(f[1]))
		}
	}
	if len(d.Offers) > 0 {
		c.say("")
		c.printOffers(d.Offers)
	}
	if len(d.Log) > 0 {
		c.say("")
	}
	for _, line := range d.Log {
		c.say("%s", layout{names: len([]rune(d.Plugin))}.logged(line))
	}
}

func logFileOf(f *admin.LogFile) string {
	if f == nil {
		return ""
	}
	words := []string{f.Path}
	if f.Dropped > 0 {
		words = append(words, plural(int(f.Dropped), "line is missing", "lines are missing"))
	}
	if f.Error != "" {
		words = append(words, "it cannot be written: "+f.Error)
	}
	return strings.Join(words, "; ")
}

func disabledWord(is bool) string {
	if is {
		return "it is not started with the host"
	}
	return ""
}

func phaseOf(one actors.SessionInfo, now time.Time) string {
	if one.Since.IsZero() {
		return string(one.Phase)
	}
	return fmt.Sprintf("%s for %s", one.Phase, lasting(one, now))
}

func processOf(p *actors.ProcessInfo, now time.Time) string {
	if p == nil || p.PID == 0 {
		return ""
	}
	words := []string{fmt.Sprintf("%d for %s, descendants found by %s", p.PID, span(now.Sub(p.Started)), p.Reach)}
	if p.Note != "" {
		words = append(words, p.Note)
	}
	return strings.Join(append(words, p.Limits...), "; ")
}

func workerOf(w actors.WorkerInfo, now time.Time) string {
	text := fmt.Sprintf("%s, %s", w.State, plural(w.Crashes, "crash", "crashes"))
	if w.InARow > 0 {
		text += fmt.Sprintf(", %d in a row", w.InARow)
	}
	if w.LastCrash != "" {
		text += "; the last one: " + w.LastCrash
	}
	if !w.NextRestart.IsZero() {
		text += "; next try in " + span(w.NextRestart.Sub(now))
	}
	if w.GivenUp {
		text += "; given up"
	}
	return text
}

// countsOf lists counters: "late-answer 3, stray-text 1".
// routesOf tells what became of a plugin's routes.
func routesOf(routes map[protocol.RouteKind]actors.RouteCounts) string {
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(routes)) {
		n := routes[kind]
		words = append(words, fmt.Sprintf("%s %d open, %d opened, %d refused, %d lost", kind, n.Open, n.Opened, n.Refused, n.Lost))
	}
	return strings.Join(words, "; ")
}

func countsOf(counts map[string]uint64) string {
	var words []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%s %d", what, counts[what]))
	}
	return strings.Join(words, ", ")
}
