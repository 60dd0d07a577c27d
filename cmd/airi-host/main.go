package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/manifest/evaluate"
)

func main() {
	// Without a listener the runtime ends the process when a pipe at standard output
	// or standard error is closed. Ignoring the signal would reach the workers too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// gcPercent lets the heap grow before it is collected. A host's heap is a few
// megabytes, and a call through a worker leaves some hundred bytes: with Go's default
// of 100, a fifth of a busy host's time goes into collecting.
const gcPercent = 400

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// Main runs one command line and returns its exit code.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	c := &cli{in: in, out: newOutput(out), err: newOutput(errOut), modules: &evaluate.Node{}, logs: &slog.LevelVar{}}
	c.err.lasting = true
	root := c.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if asksForJSON(args) {
			c.output = outputJSON
		}
		return usageError{flagError(err)}
	})
	ran, err := root.ExecuteContextC(ctx)
	c.command = ran.CommandPath()
	if err == nil {
		err = c.out.failure()
	}
	return c.end(err)
}

// cli is what all commands share.
type cli struct {
	in       io.Reader
	out, err *output
	// command is the path of the one that was run, for its help.
	command string
	// output is "text" or "json".
	output   string
	logLevel string
	// logFormat is how logs look.
	logFormat string
	// levelGiven tells that logLevel was asked for.
	levelGiven bool
	// modules evaluates manifests that are code.
	modules *evaluate.Node
	// config is --config, or "". settings are what the file of settings says, once
	// configure has read it.
	config   string
	settings *settings
	// over lays flags over settings; nil where there are none that do.
	over func(*manifest.Settings)
	// logs is the level of what is logged, which may change.
	logs *slog.LevelVar
	// stateGiven is --state, or "".
	stateGiven string
	// service is told how a host stands; nil for nobody.
	service *service
	// verbose tells that whoever reads an error wants all of it.
	verbose bool
	// metrics count what a host does that can be asked; nil for others.
	metrics *admin.Metrics
}

const (
	outputText = "text"
	outputJSON = "json"
)

func (c *cli) json() bool { return c.output == outputJSON }

// asksForJSON tells whether a command line has --output json, also behind a flag at which
// reading it has ended.
func asksForJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	i := slices.Index(args, "--output")
	return i >= 0 && slices.Contains(args[i:min(i+2, len(args))], outputJSON) || slices.Contains(args, "--output="+outputJSON)
}

const rootText = `airi-host runs the plugins of AI agents, whatever ecosystem they were written for.

Results go to standard output, logs and errors to standard error. With --output json
standard output holds one JSON object a line; an error that no other line tells is the last:
  {"event":"error","code":"not-found","message":"…"}
Its code is "usage" for wrong usage, "plugin" for a plugin's own words, "failed" where
no other fits, else what kind of failure it is, e.g. "timeout" or "not-ready".

Exit codes: 0 done, 1 it failed, 2 wrong usage.

AIRI_HOST_DEBUG=wire logs every frame of every plugin's wire, secrets masked.
NO_COLOR keeps terminals free of color.`

func (c *cli) root() *cobra.Command {
	asked := false
	root := &cobra.Command{
		Use:           "airi-host",
		Short:         "Run the plugins of AI agents, whatever ecosystem they were written for",
		Long:          rootText,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked {
				c.printVersion()
				return nil
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			c.levelGiven = cmd.Flags().Changed("log-level")
			return c.checkGlobals()
		},
	}
	root.PersistentFlags().StringVar(&c.output, "output", outputText, "how to print: text, or json for one object a line")
	root.PersistentFlags().StringVar(&c.logLevel, "log-level", "info", "what to log on standard error: debug, info, warn or error")
	root.PersistentFlags().StringVar(&c.logFormat, "log-format", formatAuto, "how logs look: tint for people, text, json, or auto")
	root.Flags().BoolVarP(&asked, "version", "v", false, "tell the version of airi-host")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(c.runCommand(), c.validateCommand(), c.callCommand(), c.lifecycleCommand(), c.configCommand(), c.forgetCommand(), c.ptyCommand(), c.newCommand())
	root.AddCommand(c.askCommands()...)
	return root
}

func (c *cli) checkGlobals() error {
	if c.output != outputText && c.output != outputJSON {
		return usageError{fmt.Errorf("--output %q: expected text or json", c.output)}
	}
	if _, err := c.format(); err != nil {
		return err
	}
	_, err := c.level()
	return err
}

// arguments checks how many there are, at most being ignored when it is below
// least; what says in the error what the command takes.
func (c *cli) arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch n := len(args); {
		case n < least:
			return usageError{fmt.Errorf("%s takes %s", cmd.Name(), what)}
		case most >= least && n > most:
			return usageError{fmt.Errorf("%s takes %s, and there is also %q", cmd.Name(), what, strings.Join(args[most:], " "))}
		}
		return nil
	}
}

// unknownCommand refuses what is no command, and says what there is.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(names, cmd.Name())
		}
	}
	return usageError{fmt.Errorf("there is no command %q: expected one of %s", args[0], strings.Join(names, ", "))}
}
