package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services/logs"
)

const logsText = `Show the end of what plugins have logged and written: of the one with the NAME, or of all,
what was said before the host began among it. The host keeps it in files, in the folder logs
of its state directory, or in logs.dir of its settings; where no host runs, the files are read:
of the settings in the state directory, or of --config.

--since leaves out what is older: than a time (2026-01-31T12:00:00Z, 2026-01-31), or than as
much as a duration ago (10m). It shows all there is since then, unless -n says how much; of
more than api.logBytes of its settings, a running host shows the end, and how many lines are
not shown.

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
	if n <= 0 || n > mostLines {
		return usageError{fmt.Errorf("--lines: expected a number from 1 to %d", mostLines)}
	}
	return nil
}

// mostLines is how many lines a host shows at most.
const mostLines = 100_000

// logsOptions are the flags of logs.
type logsOptions struct {
	plugin string
	lines  int
	follow bool
	since  time.Time
	from   string
}

func (c *cli) logsCommand() *cobra.Command {
	var o logsOptions
	var since string
	cmd := &cobra.Command{
		Use:     "logs [NAME]",
		Short:   "Show what plugins say, and have said",
		Long:    logsText,
		Example: "  airi-host logs -f greeter\n  airi-host logs --since 1h",
		Args:    c.arguments(0, 1, "at most one NAME, a plugin's"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkLines(o.lines); err != nil {
				return err
			}
			var err error
			if o.since, err = sinceOf(since, time.Now()); err != nil {
				return err
			}
			if since != "" && !cmd.Flags().Changed("lines") {
				o.lines = mostLines
			}
			if len(args) > 0 {
				o.plugin = args[0]
			}
			return c.showLogs(cmd.Context(), o)
		},
	}
	linesFlag(cmd, &o.lines, &o.follow)
	c.configFlag(cmd)
	cmd.Flags().StringVar(&since, "since", "", sinceUsage)
	cmd.Flags().StringVar(&o.from, "from", "", "read the files of this directory, and ask no host")
	return cmd
}

// sinceUsage is what --since takes.
const sinceUsage = "leave out what is older: a time such as 2026-01-31T12:00:00Z or 2026-01-31, or a duration such as 10m"

// sinceOf reads --since; "" is the zero time.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usageError{fmt.Errorf("--since %q: expected a time such as 2026-01-31T12:00:00Z or 2026-01-31, or a duration such as 10m", text)}
}

// showLogs asks the running host or, where there is none, reads its files.
func (c *cli) showLogs(ctx context.Context, o logsOptions) error {
	if o.from != "" {
		if o.follow {
			return usageError{errors.New("--from reads files as they are: leave out -f")}
		}
		return c.printLogs(o.from, o)
	}
	dir, err := c.stateOf()
	if err != nil {
		return err
	}
	if !o.follow && !running(ctx, dir) {
		kept, err := c.keptIn(dir)
		if err != nil {
			return err
		}
		if _, never := os.Stat(kept); never != nil {
			return &protocol.Error{Code: protocol.CodeNotFound, Message: fmt.Sprintf(
				"no host runs here (%s), and no logs are in %s: name the state directory of a host with --state, or where its logs are with --from", dir, kept)}
		}
		return c.printLogs(kept, o)
	}
	return c.follow(ctx, o.follow, func(ctx context.Context, host *admin.Client) error {
		show, err := c.lineShower(ctx, host)
		if err != nil {
			return err
		}
		return host.Logs(ctx, o.plugin, o.lines, o.since, o.follow, show)
	})
}

// keptIn is where a host that has a state directory keeps logs, by its settings. That
// those beside its state are not good, which the host does not start with, keeps nobody from
// reading what it said before.
func (c *cli) keptIn(dir string) (string, error) {
	s, err := c.settled(false)
	switch _, wrong := errors.AsType[*settingsError](err); {
	case err == nil:
		return logDirOf(s, dir), nil
	case wrong && c.config == "":
		kept := filepath.Join(dir, logFolder)
		fmt.Fprintf(c.err, "note: %s; the logs are those in %s\n", printable(err.Error()), printable(kept))
		return kept, nil
	}
	return "", err
}

// running tells whether a host can be asked in a state directory.
func running(ctx context.Context, dir string) bool {
	conn, err := dialControl(ctx, dir)
	if err == nil {
		_ = conn.Close() // it only showed that somebody is there
	}
	return !nobodyListens(err)
}

// printLogs shows what the files of a directory have.
func (c *cli) printLogs(dir string, o logsOptions) error {
	lines, err := readLogs(dir, o.plugin, logs.Query{N: o.lines, Since: o.since})
	if err != nil {
		return err
	}
	if len(lines) == 0 && o.since.IsZero() {
		return &protocol.Error{Code: protocol.CodeNotFound, Message: fmt.Sprintf(
			"no log of %s is in %s", cmp.Or(o.plugin, "any plugin"), dir)}
	}
	l := layout{color: c.out.color, today: time.Now()}
	for _, line := range lines {
		l.names = max(l.names, min(maxNames, len([]rune(line.Plugin))))
	}
	for _, line := range lines {
		if c.json() {
			text, err := actors.EncodeEvent(line)
			if err != nil {
				return err
			}
			c.write(text)
			continue
		}
		c.say("%s", l.logged(line))
	}
	return nil
}

// levelNames are as wide as the widest of them.
var levelNames = map[slog.Level]string{slog.LevelDebug: "DEBUG", slog.LevelInfo: "INFO ", slog.LevelWarn: "WARN ", slog.LevelError: "ERROR"}

func levelName(l slog.Level) string {
	if name, ok := levelNames[l]; ok {
		return name
	}
	return fmt.Sprint(l)
}
