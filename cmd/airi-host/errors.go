package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/airi-host/airi-host/protocol"
)

// errFailed is a failure that has been told already.
var errFailed = errors.New("failed")

// usageError is a mistake in how a command was called.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// flagError says in our words what a flag takes whose value is none.
func flagError(err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	takes := map[string]string{"duration": "a time such as 500ms, 10s or 2m", "int": "a whole number", "int64": "a whole number", "bool": "true or false"}
	flag := wrong.GetFlag()
	what, ok := takes[flag.Value.Type()]
	if !ok {
		return err
	}
	return fmt.Errorf("--%s %q: expected %s", flag.Name, wrong.GetValue(), what)
}

// pluginError is a failure in the plugin's own words; what has failed is the key of a call,
// or the plugin.
type pluginError struct {
	what string
	peer *protocol.PeerError
}

func (e *pluginError) Error() string {
	switch {
	case e.peer.Message == "":
		return e.what + noReason
	case strings.HasPrefix(e.peer.Message, e.what+": "), e.peer.Message == e.what+noReason: // the host has said so
		return e.peer.Message
	}
	return e.what + ": " + e.peer.Message
}

// noReason is said of a failure without words, as the host says it.
const noReason = " failed and gave no reason"

func (e *pluginError) Unwrap() error { return e.peer }

// The codes of errors that have none of the host's own.
const (
	codeUsage  = "usage"
	codePlugin = "plugin"
	codeFailed = "failed"
)

// errorLine is the JSON form of an error.
type errorLine struct {
	Event   string `json:"event"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Place is where in the plugin's code it came from, if known.
	Place string `json:"place,omitempty"`
	// Stack is the plugin's own, if it was asked for.
	Stack string `json:"stack,omitempty"`
}

// lineOf is the error with as much as was asked for.
func (c *cli) lineOf(err error) errorLine {
	line := lineOf(err)
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok && c.verbose {
		line.Stack = peer.Stack
	}
	return line
}

func lineOf(err error) errorLine {
	line := errorLine{Event: "error", Code: codeFailed, Message: err.Error()}
	if _, ok := errors.AsType[usageError](err); ok {
		line.Code = codeUsage
		return line
	}
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok {
		line.Code, line.Place = codePlugin, peer.At
		return line
	}
	if code := protocol.CodeOf(err); code != "" {
		line.Code = string(code)
	}
	return line
}

// end tells the error, if there is one, and returns the exit code.
func (c *cli) end(err error) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, errFailed) {
		return exitFailed
	}
	line := c.lineOf(err)
	switch {
	case c.json():
		c.encode(line)
	case line.Place != "":
		fmt.Fprintf(c.err, "airi-host: %s (%s)\n", printable(line.Message), printable(line.Place))
	default:
		fmt.Fprintf(c.err, "airi-host: %s\n", printable(line.Message))
	}
	if !c.json() {
		c.printStack(line.Stack)
	}
	if line.Code != codeUsage {
		return exitFailed
	}
	if !c.json() {
		fmt.Fprintf(c.err, "See '%s --help'.\n", cmp.Or(c.command, "airi-host"))
	}
	return exitUsage
}

// printStack shows a plugin's stack, a line each.
func (c *cli) printStack(stack string) {
	if stack == "" {
		return
	}
	for line := range strings.Lines(stack) {
		fmt.Fprintf(c.err, "  %s\n", printable(strings.TrimRight(line, "\r\n")))
	}
}
