package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// callOptions are the flags of call.
type callOptions struct {
	dirs   []string
	plugin string
	// instance is one of a guest's.
	instance string
	scope    string
	timeout  time.Duration
	idle     time.Duration
	follow   bool
	verbose  bool
}

const callText = `Call a capability of the running host and print its JSON result; with --dir start a host on
the plugins there, call, and stop it.

JSON is the input; - reads it from standard input. Without it there is none. With --dir the call
is made as soon as it is clear who answers, or when no plugin can become ready any more; --timeout
bounds that wait and the call together. A result with an "error" is a failed call. Problems of other
plugins and what plugins log go to standard error.

A host that call starts keeps nothing of what plugins put into it, unless --state says where.

With --follow what comes is printed as one JSON object a line: what the plugin reports while
it is at it, or the items of its stream, and the result as the last one:
  {"event":"progress","item":…}
  {"event":"result","result":…}
Chunks of a command's log that were missed since output was taken too slowly are told on standard
error; the result has all of them. A plugin that is still at it can be told from one that hangs by --idle. A call whose output
nobody takes any more is given up.`

func (c *cli) callCommand() *cobra.Command {
	var opts callOptions
	cmd := &cobra.Command{
		Use:   "call KEY [JSON]",
		Short: "Call a capability and print its JSON result",
		Long:  callText,
		Example: `  airi-host call tool:greet '{"name":"Ada"}'
  airi-host call tool:greet '{"name":"Ada"}' --dir testdata/plugins
  echo '{"text":"hello"}' | airi-host call tool:echo - --dir testdata/plugins`,
		Args: c.arguments(1, 2, "a KEY, and perhaps its JSON input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.verbose = opts.verbose
			one, err := opts.call(args[0], time.Now())
			if err == nil && len(opts.dirs) == 0 && c.config != "" {
				err = usageError{errors.New("--config is for a host that call starts, on --dir: the running one has its own")}
			}
			if err == nil {
				one.Input, err = c.input(args[1:])
			}
			if err != nil {
				return err
			}
			if len(opts.dirs) == 0 {
				return c.callRunning(cmd.Context(), one, opts)
			}
			if err := c.configure(c.aside(), true); err != nil {
				return err
			}
			return c.call(cmd.Context(), one, opts)
		},
	}
	c.configFlag(cmd)
	c.askFlag(cmd)
	cmd.Flags().StringSliceVar(&opts.dirs, "dir", nil, "a directory of plugins to start a host on, instead of asking the running one; may be given again")
	cmd.Flags().StringVar(&opts.plugin, "plugin", "", "which plugin's capability, where several offer it")
	cmd.Flags().StringVar(&opts.instance, "instance", "", "which instance of --plugin, where several are there")
	cmd.Flags().StringVar(&opts.scope, "scope", "", "the tenant")
	cmd.Flags().DurationVar(&opts.timeout, "timeout", 0, "the deadline, the start included; 0 or less stands for the defaults: 30s for the start, 30s for the call")
	cmd.Flags().DurationVar(&opts.idle, "idle", 0, "how long the plugin may report nothing; 0 stands for what its manifest says, less for no such limit")
	cmd.Flags().BoolVar(&opts.follow, "follow", false, "print what comes, an object a line")
	cmd.Flags().BoolVar(&opts.verbose, "verbose", false, "where the plugin fails, show its own stack, too, if its wire has it")
	return cmd
}

// call is the call to make, but for its input.
func (o callOptions) call(key string, now time.Time) (protocol.Call, error) {
	one := protocol.Call{Key: key, Plugin: o.plugin, Instance: o.instance, Scope: o.scope, Idle: o.idle}
	if err := capability.Key(key).Validate(); err != nil {
		return one, usageError{fmt.Errorf("KEY: %w", err)}
	}
	if o.instance != "" && o.plugin == "" {
		return one, usageError{errors.New("--instance: expected --plugin as well, whose instance it is")}
	}
	if o.timeout > 0 {
		one.Deadline = now.Add(o.timeout)
	}
	return one, nil
}

// callDrain is how long plugins may take to stop once the call is over.
const callDrain = 3 * time.Second

// maxInput is how much JSON is read from standard input or a file, in bytes.
const maxInput = 64 << 20

func (c *cli) input(args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return nil, nil
	}
	text := []byte(args[0])
	if args[0] == "-" {
		var err error
		if text, err = readInput(c.in); err != nil {
			return nil, err
		}
	}
	return parseInput(text)
}

func readInput(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the input: %w", err)
	case len(text) > maxInput:
		return nil, fmt.Errorf("the input is larger than %d bytes", maxInput)
	}
	return text, nil
}

func parseInput(text []byte) (json.RawMessage, error) {
	var input json.RawMessage
	if err := json.Unmarshal(text, &input); err != nil {
		return nil, usageError{fmt.Errorf("the input is not JSON: %w: %q%s", err, clip(string(text), 80), quotes(string(text)))}
	}
	return input, nil
}

// quotes is advice for an argument that may have been meant as a string: the quotes of
// JSON are not those of the shell.
func quotes(arg string) string {
	if arg == "" || arg == "-" || strings.ContainsAny(arg, "{}[]\"'\\\n") {
		return ""
	}
	return fmt.Sprintf(`; a string has quotes of its own: '"%s"'`, clip(arg, 80))
}

func (c *cli) call(ctx context.Context, one protocol.Call, opts callOptions) error {
	st, err := c.openState(ctx, true)
	if err != nil {
		return err
	}
	return errors.Join(c.callOn(ctx, st, one, opts), st.close())
}

// callOn makes a call on a host of its own, on a state.
func (c *cli) callOn(ctx context.Context, st *state, one protocol.Call, opts callOptions) error {
	found, err := c.aside().discover(ctx, opts.dirs, false)
	if err != nil {
		return err
	}
	list, passed := st.disabled.split(found.Manifests)
	c.aside().printDisabled(passed)
	h, err := c.open(found.Manifests, st, true)
	if err != nil {
		return err
	}
	stop, now, release := interrupted(ctx, true)
	defer release()
	defer context.AfterFunc(stop, c.hurry)() // before release ends stop

	if opts.follow {
		one.Progress, one.Missed = c.printItem, new(atomic.Uint64)
	}
	caller := &caller{
		host: h.Host, list: list, call: one, timeout: opts.timeout,
		journal: follow(h.Host, c.settings.queues().events, func(actors.Event) {}), start: h.configs.start,
	}
	taken, cancel := c.out.whileTaken(stop)
	defer cancel()
	result, err := caller.run(taken)
	err = c.brokenOff(stop, c.untaken(err))
	if opts.follow {
		c.noteMissed(one.Missed.Load())
	}
	if err != nil {
		c.aside().printShortfalls(caller.culprits(err))
	} else {
		c.noteUnheard(one.Key, caller.offers)
	}
	err = errors.Join(err, h.close(now, c.settings.drain(callDrain)))
	if err != nil {
		if opts.follow && !c.json() {
			c.encode(c.lineOf(err))
		}
		return err
	}
	return c.printResult(result, opts.follow)
}

// aside is the command line with its output on standard error: in call, standard
// output belongs to the result.
func (c *cli) aside() *cli {
	aside := *c
	aside.out = c.err
	return &aside
}

// printResult prints the result on one line; an absent one is null.
func (c *cli) printResult(result json.RawMessage, follow bool) error {
	if result == nil {
		result = json.RawMessage("null")
	}
	if follow {
		c.encode(resultLine{"result", result})
		return nil
	}
	var line bytes.Buffer
	switch err := json.Compact(&line, result); {
	case err == nil:
		c.write(line.Bytes())
	case strings.Contains(err.Error(), "exceeded max depth"): // of Go's reader: it is shown as it came
		c.write(result)
	default:
		return fmt.Errorf("the result is not JSON: %w", err)
	}
	return nil
}

// printItem prints an item that comes before the result; it fails when nobody takes it.
func (c *cli) printItem(item json.RawMessage) error {
	c.encode(itemLine{"progress", item})
	return c.out.loss()
}

type itemLine struct {
	Event string          `json:"event"`
	Item  json.RawMessage `json:"item"`
}

type resultLine struct {
	Event  string          `json:"event"`
	Result json.RawMessage `json:"result"`
}
