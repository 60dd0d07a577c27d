package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/protocol"
)

const ptyText = `Attach this terminal to a pseudo-terminal of a plugin of the running host, which has an environment
driver: a login, which --login names. With a COMMAND behind -- it is a channel to that command
instead, whose bytes pass as they are.

Keys go to the program as they are pressed, Ctrl-C among them; Ctrl-] leaves, which ends it. A
program that takes nothing for a second is not given what is typed until it does again. Where
standard input is no terminal, it is passed on, and its end changes nothing. The size of the
program's terminal is the plugin's: no plugin can be told that of this one.

The exit code is 0 where the program's status is, or where it was left, else 1.

With --output json the terminal is left as it is, and what comes are objects with an "event":
"attached", "data" with the "bytes" that the program wrote, in base64, and "exit" with the "code",
null where there is none, and "lost" where the plugin lost the program.`

// ptyOptions are the flags of pty.
type ptyOptions struct{ driver, environment, lease, login, scope string }

func (c *cli) ptyCommand() *cobra.Command {
	var opts ptyOptions
	cmd := &cobra.Command{
		Use:   "pty PLUGIN [-- COMMAND …]",
		Short: "Attach the terminal to a program at a plugin",
		Long:  ptyText,
		Example: `  airi-host pty cloud --driver vm --environment e1 --lease l1 --login claude
  airi-host pty cloud --driver vm --environment e1 --lease l1 -- sh -i`,
		Args: func(cmd *cobra.Command, args []string) error {
			before := cmd.ArgsLenAtDash()
			switch {
			case before < 0 && len(args) != 1, before >= 0 && before != 1:
				return usageError{errors.New("pty takes a PLUGIN, and perhaps a COMMAND behind --")}
			case before == 1 && len(args) == 1:
				return usageError{errors.New("expected a COMMAND behind --; without -- it is a login")}
			case len(args) > 1 && cmd.Flags().Changed("login"):
				return usageError{errors.New("--login: expected none where there is a COMMAND: it is the one or the other")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, params, err := opts.params(args[1:])
			if err != nil {
				return err
			}
			asked := admin.AttachRequest{Params: params, Scope: opts.scope}
			return c.ask(cmd.Context(), c.whileTaken(func(ctx context.Context, host *admin.Client) error {
				return c.attach(ctx, host, kind, args[0], asked)
			}))
		},
	}
	c.askFlag(cmd)
	cmd.Flags().StringVar(&opts.driver, "driver", "", "the environment's driver")
	cmd.Flags().StringVar(&opts.environment, "environment", "", "the environment's id")
	cmd.Flags().StringVar(&opts.lease, "lease", "", "the id of the lease")
	cmd.Flags().StringVar(&opts.login, "login", "claude", "which login: claude, codex or grok")
	cmd.Flags().StringVar(&opts.scope, "scope", "", "the tenant")
	return cmd
}

// params say what is to be opened.
func (o ptyOptions) params(command []string) (kind protocol.RouteKind, params json.RawMessage, err error) {
	members := map[string]any{}
	for _, one := range [...]struct{ flag, member, value, expected string }{
		{"driver", "driverKey", o.driver, "the DRIVER of an environment:DRIVER.… in 'airi-host caps'"},
		{"environment", "environmentId", o.environment, "the id that the lease was acquired for"},
		{"lease", "providerLeaseId", o.lease, "a lease, which 'airi-host call environment:DRIVER.acquireLease' gives"},
	} {
		if one.value == "" {
			return "", nil, usageError{fmt.Errorf("--%s: expected %s: the plugin is told by it where the program is to run", one.flag, one.expected)}
		}
		members[one.member] = one.value
	}
	kind = protocol.RoutePTY
	if len(command) > 0 {
		kind, members["command"] = protocol.RouteDuplex, command
	} else {
		members["loginCommandKey"] = o.login
	}
	params, err = json.Marshal(members)
	return kind, params, err
}

// attach joins this terminal to a program until either leaves.
func (c *cli) attach(ctx context.Context, host *admin.Client, kind protocol.RouteKind, plugin string, asked admin.AttachRequest) error {
	a, err := host.Attach(ctx, kind, plugin, asked)
	if err != nil {
		return explainFailure(err, "plugin "+plugin)
	}
	defer func() { _ = a.Close() }() // it was read to its end, or is left
	in, err := newKeyboard(c.in, !c.json())
	if err != nil {
		return err
	}
	defer in.restore()
	switch {
	case c.json():
		c.encode(attachedLine{"attached", plugin, kind})
	case in.isRaw():
		_, _ = fmt.Fprintf(c.err, "attached to plugin %s; Ctrl-] leaves\r\n", plugin)
	}
	passed := in.pass(a)
	isOpen, err := c.show(a)
	in.restore()
	if isOpen && in.isRaw() { // what is told next has a line of its own
		_, _ = fmt.Fprintln(c.err)
	}
	left, lost := passed()
	if lost > 0 {
		fmt.Fprintf(c.err, "note: %s typed in vain: the program took nothing\n", plural(lost, "byte was", "bytes were"))
	}
	switch {
	case left:
		_, _ = fmt.Fprintf(c.err, "left plugin %s\n", plugin)
		return nil
	case err != nil:
		return explainFailure(err, "plugin "+plugin)
	}
	err = exitOf(plugin, a.Exit())
	if !c.json() {
		return err
	}
	c.encode(exitLine{"exit", a.Exit().Code, a.Exit().Lost})
	if err != nil {
		return errFailed // which the line tells
	}
	return nil
}

// The lines of --output json.
type (
	attachedLine struct {
		Event  string             `json:"event"`
		Plugin string             `json:"plugin"`
		Kind   protocol.RouteKind `json:"kind"`
	}
	dataLine struct {
		Event string `json:"event"`
		Bytes []byte `json:"bytes"`
	}
	exitLine struct {
		Event string `json:"event"`
		Code  *int   `json:"code"`
		Lost  bool   `json:"lost,omitempty"`
	}
)

// dataLines writes what the program does as lines.
type dataLines struct{ *cli }

func (l dataLines) Write(b []byte) (int, error) {
	l.encode(dataLine{"data", b})
	return len(b), nil
}

// lastShown is standard output, and the last byte of what was shown there.
type lastShown struct {
	io.Writer
	last byte
}

func (s *lastShown) Write(b []byte) (int, error) {
	s.last = b[len(b)-1]
	return s.Writer.Write(b)
}

// show prints what the program writes until it has ended; isOpen tells that its last line has
// no end.
func (c *cli) show(a io.Reader) (isOpen bool, err error) {
	if c.json() {
		_, err = io.Copy(dataLines{c}, a)
		return false, err
	}
	to := &lastShown{Writer: c.out, last: '\n'}
	_, err = io.Copy(to, a)
	return to.last != '\n', err
}

// exitOf is nil for a program that ended well.
func exitOf(plugin string, e admin.AttachExit) error {
	switch {
	case e.Lost:
		return fmt.Errorf("plugin %s lost the program: how it ended is not known", plugin)
	case e.Code == nil:
		return fmt.Errorf("plugin %s: the program ended without a status", plugin)
	case *e.Code != 0:
		return fmt.Errorf("plugin %s: the program ended with status %d", plugin, *e.Code)
	}
	return nil
}

// leaveKey is Ctrl-].
const leaveKey = 0x1d

// keyboard is standard input, which a terminal gives key by key.
type keyboard struct {
	tty    *os.File
	old    *term.State
	reader cancelreader.CancelReader
	done   chan struct{}
}

// newKeyboard has a terminal that is ours give its keys as they are pressed, until restore,
// if it is to be raw.
func newKeyboard(in io.Reader, raw bool) (*keyboard, error) {
	k := &keyboard{}
	var err error
	if k.reader, err = cancelreader.NewReader(in); err != nil {
		// It cannot be waited for, as a file or /dev/null: reading it does not wait.
		if k.reader, err = cancelreader.NewReader(struct{ io.Reader }{in}); err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
	}
	if tty, ok := in.(*os.File); raw && ok && isTerminal(in) && inForeground(tty) {
		if k.old, err = term.MakeRaw(tty.Fd()); err != nil {
			return nil, errors.Join(fmt.Errorf("the terminal: %w", err), k.reader.Close())
		}
		k.tty = tty
	}
	return k, nil
}

func (k *keyboard) isRaw() bool { return k.tty != nil }

// pass passes on what is typed; passed tells whether the key was pressed that leaves, and the
// attachment closed for that, and how many bytes the program was not given.
func (k *keyboard) pass(to io.WriteCloser) (passed func() (left bool, lost int)) {
	k.done = make(chan struct{})
	var hasLeft bool
	var hasLost int
	go func() {
		defer close(k.done)
		if !k.isRaw() {
			hasLeft = k.passOn(to)
			return
		}
		t := newTyping(to)
		hasLeft = k.passOn(t)
		t.finish()
		hasLost = t.lost
		if hasLeft {
			_ = to.Close()
		}
	}()
	return func() (bool, int) {
		select {
		case <-k.done:
			return hasLeft, hasLost
		default:
			return false, 0
		}
	}
}

// passOn passes on what is typed until its end; left tells that it was the key that leaves.
func (k *keyboard) passOn(to io.Writer) (left bool) {
	typed := make([]byte, typedChunk)
	for {
		n, err := k.reader.Read(typed)
		text := typed[:n]
		if at := bytes.IndexByte(text, leaveKey); at >= 0 && k.isRaw() {
			_, _ = to.Write(text[:at]) // it is left in any case
			return true
		}
		if n > 0 {
			if _, failed := to.Write(text); failed != nil {
				return false // whoever reads is told why
			}
		}
		if err != nil {
			return false
		}
	}
}

// restore gives the terminal back as it was. It may be called again.
func (k *keyboard) restore() {
	if k.reader == nil {
		return
	}
	if k.reader.Cancel() && k.done != nil {
		<-k.done
	}
	_ = k.reader.Close()
	k.reader = nil
	if k.tty != nil {
		_ = term.Restore(k.tty.Fd(), k.old) // there is no other way
	}
}
