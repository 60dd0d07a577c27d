package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
)

const logsText = `Show the end of what plugins have logged and written: of the one with the NAME, or of all.

With -f what comes is shown too, until Ctrl-C or the host's end. Whoever reads too slowly
misses lines, and is told how many. With --output json the lines are objects, {"event":"log",…}
and {"event":"gap","missed":…}.`

// defaultLines is how many lines are shown to who does not say.
const defaultLines = 100

// linesFlag gives a command the flags of what has an end that may be followed.
func linesFlag(cmd *cobra.Command, lines *int, follow *bool) {
	cmd.Flags().IntVarP(lines, "lines", "n", defaultLines, "how many lines to show of what there is already")
	cmd.Flags().BoolVarP(follow, "follow", "f", false, "show what comes, too")
}

func checkLines(n int) error {
	if n <= 0 {
		return usageError{errors.New("--lines: expected a number above 0")}
	}
	return nil
}

func (c *cli) logsCommand() *cobra.Command {
	var lines int
	var follow bool
	cmd := &cobra.Command{
		Use:     "logs [NAME]",
		Short:   "Show what the running host's plugins say",
		Long:    logsText,
		Example: "  airi-host logs -f greeter",
		Args:    c.arguments(0, 1, "at most one NAME, a plugin's"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkLines(lines); err != nil {
				return err
			}
			var plugin string
			if len(args) > 0 {
				plugin = args[0]
			}
			return c.follow(cmd.Context(), follow, func(ctx context.Context, host *admin.Client) error {
				show, err := c.lineShower(ctx, host)
				if err != nil {
					return err
				}
				return host.Logs(ctx, plugin, lines, follow, show)
			})
		},
	}
	linesFlag(cmd, &lines, &follow)
	return cmd
}

// levelNames are as wide as the widest of them.
var levelNames = map[slog.Level]string{slog.LevelDebug: "DEBUG", slog.LevelInfo: "INFO ", slog.LevelWarn: "WARN ", slog.LevelError: "ERROR"}

func levelName(l slog.Level) string {
	if name, ok := levelNames[l]; ok {
		return name
	}
	return fmt.Sprint(l)
}
