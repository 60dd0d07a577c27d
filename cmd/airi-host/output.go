package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// output is standard output or standard error. Any goroutine may write to it; each
// Write is one or several whole lines. When a write fails, what follows is dropped:
// a pipe that nobody reads any more stops neither the host nor its plugins.
type output struct {
	terminal, color bool

	mu   sync.Mutex
	w    io.Writer
	lost error
}

func newOutput(w io.Writer) *output {
	terminal := isTerminal(w)
	return &output{
		w: w, terminal: terminal,
		color: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// isTerminal tells whether w is a character device other than the null device.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Write never fails; see failure.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost == nil {
		_, o.lost = o.w.Write(p)
	}
	return len(p), nil
}

// failure is why something was not written. That a pipe was closed is none: its
// reader has had enough.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost == nil || errors.Is(o.lost, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("not all of the output was written: %w", o.lost)
}

// say prints a line for people; with --output json there is none.
func (c *cli) say(format string, args ...any) {
	if !c.json() {
		fmt.Fprintf(c.out, format+"\n", args...)
	}
}

// encode prints a JSON object on a line of its own.
func (c *cli) encode(v any) {
	line, err := json.Marshal(v)
	if err != nil { // all that is printed is made of strings, numbers and valid JSON
		line, _ = json.Marshal(lineOf(err))
	}
	c.write(line)
}

// write prints a line.
func (c *cli) write(line []byte) {
	_, _ = c.out.Write(append(line, '\n')) // see failure
}
