package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/creack/pty"

	"github.com/airi-host/airi-host/plugin"
)

// How a keeper is started: keeperArg, onTerminal or onPipes, then the command.
const (
	keeperArg  = "keep"
	onTerminal = "terminal"
	onPipes    = "pipes"
)

// endTime is how long a command that was killed may take to be gone.
const endTime = 5 * time.Second

// ended is how a command ended, as its keeper reports it.
type ended struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	// Error is why it did not start.
	Error string `json:"error,omitempty"`
}

// exit is how a route tells it: a signal is no status.
func (e ended) exit() plugin.Exit {
	if e.Signal != "" {
		return plugin.Exit{}
	}
	return plugin.Exited(e.Code)
}

// kept is a command with its keeper. Its streams are set as those of any command.
type kept struct {
	*exec.Cmd
	// life is what the keeper waits for the end of, report is where it tells the exit.
	life, report *os.File
}

// newKept prepares a command, which ends with ctx.
func newKept(ctx context.Context, how, dir string, env map[string]string, command ...string) (*kept, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, errors.New("command: expected a program")
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	waits, life, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	report, reports, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, waits.Close(), life.Close())
	}
	k := &kept{exec.CommandContext(ctx, self, append([]string{keeperArg, how}, command...)...), life, report}
	k.Dir = dir
	k.ExtraFiles = []*os.File{waits, reports}
	k.Cancel = life.Close
	k.WaitDelay = endTime
	k.Env = []string{"TERM=xterm"}
	for _, name := range []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			k.Env = append(k.Env, name+"="+value)
		}
	}
	for name, value := range env {
		k.Env = append(k.Env, name+"="+value)
	}
	return k, nil
}

// start starts it.
func (k *kept) start() error {
	err := k.Start()
	for _, f := range k.ExtraFiles {
		_ = f.Close() // the keeper has its own
	}
	if err != nil {
		k.let()
	}
	return err
}

// let gives the pipes back: the worker's ends, and those of a keeper that is not started.
func (k *kept) let() {
	for _, f := range append(k.ExtraFiles, k.life, k.report) {
		_ = f.Close() // it may be closed
	}
}

// wait returns when nothing of the command is left. What it wrote has been taken then, or an
// error tells that nobody did.
func (k *kept) wait() (ended, error) {
	done := make(chan error, 1)
	go func() { done <- k.Wait() }() // which waits for ever for who takes nothing
	var is ended
	report, _ := io.ReadAll(k.report) // until the keeper has ended
	err := k.taken(done)
	k.let()
	switch {
	case json.Unmarshal(report, &is) != nil:
		return is, fmt.Errorf("the keeper of %s has ended without a report: %w", k.Args[3], errors.Join(err, k.Err))
	case is.Error != "":
		return is, errors.New(is.Error)
	case errors.Is(err, exec.ErrWaitDelay):
		return is, fmt.Errorf("not all that %s wrote was taken within %s of its end: %w", k.Args[3], k.WaitDelay, err)
	}
	return is, nil
}

// taken is how the keeper has ended, once what the command wrote is taken.
func (k *kept) taken(done <-chan error) error {
	bell := time.NewTimer(k.WaitDelay)
	defer bell.Stop()
	select {
	case err := <-done:
		return err
	case <-bell.C:
		return exec.ErrWaitDelay
	}
}

// giveUp ends a command that nobody wants.
func (k *kept) giveUp(why error) error {
	_ = k.life.Close()
	_, _ = k.wait()
	return why
}

// execute runs a command of a call.
func execute(ctx context.Context, e plugin.EnvironmentExecution, log *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
	dir, err := directory(e.Lease.ProviderLeaseID)
	if err != nil {
		return plugin.EnvironmentExecuted{}, err
	}
	if e.Cwd != "" {
		dir = e.Cwd
	}
	k, err := newKept(ctx, onPipes, dir, e.Env, append([]string{e.Command}, e.Args...)...)
	if err != nil {
		return plugin.EnvironmentExecuted{}, err
	}
	k.Stdin, k.Stdout, k.Stderr = strings.NewReader(e.Stdin), log.Stdout, log.Stderr
	if err := k.start(); err != nil {
		return plugin.EnvironmentExecuted{}, err
	}
	is, err := k.wait()
	switch {
	case ctx.Err() != nil:
		return plugin.EnvironmentExecuted{}, ctx.Err()
	case err != nil:
		return plugin.EnvironmentExecuted{}, err
	case is.Signal != "":
		return plugin.EnvironmentExecuted{Signal: is.Signal}, nil
	}
	return plugin.EnvironmentExecuted{ExitCode: &is.Code}, nil
}

// channel runs a program whose standard streams a route is.
func channel(ctx context.Context, c plugin.ChannelRequest, r *plugin.Route) (plugin.Exit, error) {
	dir, err := directory(c.ProviderLeaseID)
	if err != nil {
		return plugin.Exit{}, err
	}
	k, err := newKept(ctx, onPipes, dir, nil, c.Command...)
	if err != nil {
		return plugin.Exit{}, err
	}
	k.Stdout, k.Stderr = r, os.Stderr
	in, err := k.StdinPipe()
	if err != nil {
		k.let()
		return plugin.Exit{}, err
	}
	if err := k.start(); err != nil {
		return plugin.Exit{}, err
	}
	if err := r.Accept(); err != nil {
		return plugin.Exit{}, k.giveUp(err)
	}
	go func() {
		_, _ = io.Copy(in, r) // until the one or the other is over
		_ = in.Close()
	}()
	is, err := k.wait()
	return is.exit(), err
}

// size is that of a terminal: the wire has no word for the one of whoever looks at it.
var size = pty.Winsize{Rows: 30, Cols: 100}

// terminal runs the shell of a login.
func terminal(ctx context.Context, t plugin.TerminalRequest, r *plugin.Route) (plugin.Exit, error) {
	dir, err := directory(t.ProviderLeaseID)
	if err != nil {
		return plugin.Exit{}, err
	}
	shell, ok := shells.Load(t.ProviderLeaseID)
	if !ok {
		return plugin.Exit{}, fmt.Errorf("the lease %s was neither acquired nor resumed here: resume it first", t.ProviderLeaseID)
	}
	ours, theirs, err := pty.Open()
	if err != nil {
		return plugin.Exit{}, err
	}
	defer ours.Close() //nolint:errcheck // it is a terminal, and nobody looks at it any more
	err = pty.Setsize(ours, &size)
	var k *kept
	if err == nil {
		k, err = newKept(ctx, onTerminal, dir, map[string]string{"PS1": "$ ", "LOGIN": t.LoginCommandKey}, shell.(string))
	}
	if err == nil {
		k.Stdin, k.Stdout, k.Stderr = theirs, theirs, theirs
		err = k.start()
	}
	_ = theirs.Close() // the keeper has its own
	if err != nil {
		return plugin.Exit{}, err
	}
	if err := r.Accept(); err != nil {
		return plugin.Exit{}, k.giveUp(err)
	}
	go func() { _, _ = io.Copy(ours, r) }() // until the one or the other is over
	_, _ = io.Copy(r, ours)                 // until nobody has the other end: EIO, then
	is, err := k.wait()
	return is.exit(), err
}
