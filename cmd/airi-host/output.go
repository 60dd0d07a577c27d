package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// output is standard output or standard error. Any goroutine may write to it; each
// Write is one or several whole lines. When a write fails, what follows is dropped:
// a pipe that nobody reads any more stops neither the host nor its plugins.
//
// A reader that is slow is waited for, since nothing is to be lost, until the output
// is hurried: from then on a write that takes longer than stuckAfter fails. A host that
// serves waits for nobody: see spool.
type output struct {
	terminal, color bool

	// lasting is an output that is used for as long as the host lives, whatever became of
	// what was written: where a disk is full, the next write tries again. missed is how many
	// writes were lost so.
	lasting bool
	missed  int

	// divert, if there is one, gets what is written in the place of w.
	divert atomic.Pointer[backlog]

	// spool, if there is one, writes in the place of those who have something to say.
	spool atomic.Pointer[spool]

	// turn is held while somebody writes to w.
	turn sync.Mutex
	w    io.Writer

	// hurried is closed by hurry, once.
	hurried chan struct{}
	once    sync.Once

	// gone is closed once something is lost.
	gone chan struct{}
	mu   sync.Mutex
	lost error
}

// stuckAfter is how long a write may take once its output is hurried.
const stuckAfter = time.Second

// errStuck tells that a reader has stopped reading, and keeps its end open.
var errStuck = errors.New("its reader takes nothing")

func newOutput(w io.Writer) *output {
	terminal := isTerminal(w)
	return &output{
		w: w, terminal: terminal, hurried: make(chan struct{}), gone: make(chan struct{}),
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

// hurry ends the patience with slow readers, so that nothing waits for one for ever.
func (o *output) hurry() { o.once.Do(func() { close(o.hurried) }) }

// Write never fails; see failure.
func (o *output) Write(p []byte) (int, error) {
	if to := o.divert.Load(); to == nil || !to.add(p) {
		o.put(p)
	}
	return len(p), nil
}

// put writes, or has it written.
func (o *output) put(p []byte) {
	if s := o.spool.Load(); s == nil || !s.put(p) {
		o.within(p)
	}
}

// past is an output whose diversion is passed by: of whoever diverted it.
type past struct{ *output }

func (o past) Write(p []byte) (int, error) {
	o.within(p)
	return len(p), nil
}

// revert ends a diversion; what it has not shown is written.
func (o *output) revert(from *backlog) {
	rest := from.close()
	o.divert.Store(nil)
	if len(rest) > 0 {
		o.put([]byte(strings.Join(rest, "\n") + "\n"))
	}
}

// within writes, and does not wait for ever once it is hurried.
func (o *output) within(p []byte) {
	if o.loss() != nil {
		return
	}
	text, done := bytes.Clone(p), make(chan struct{}) // a write that is stuck keeps its text
	go func() {
		defer close(done)
		o.write(text)
	}()
	o.await(done)
}

func (o *output) write(p []byte) {
	o.turn.Lock()
	defer o.turn.Unlock()
	if o.loss() != nil {
		return
	}
	if o.missed > 0 {
		p = append(missedLine(o.missed, p[0] == '{'), p...)
	}
	_, err := o.w.Write(p)
	switch {
	case err == nil:
		o.missed = 0
	case o.lasting && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)):
		o.missed++
	default:
		o.lose(err)
	}
}

// missedLine tells what was not written, as JSON among JSON.
func missedLine(n int, json bool) []byte {
	if json {
		return fmt.Appendf(nil, `{"level":"WARN","msg":"lines were not written here: the disk was full","count":%d}`+"\n", n)
	}
	return fmt.Appendf(nil, "… %d lines were not written here: the disk was full\n", n)
}

// await returns when a write is done, or is given up.
func (o *output) await(done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-o.hurried:
	}
	late := time.NewTimer(stuckAfter)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		o.lose(errStuck)
	}
}

// lose makes a failure the reason why nothing more is written.
func (o *output) lose(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost == nil {
		o.lost = err
		close(o.gone)
	}
}

func (o *output) loss() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// whileTaken is a context that ends with ctx, or as soon as something is lost: what is
// asked for only to be written has no use then.
func (o *output) whileTaken(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-o.gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// failure is why something was not written. That a pipe was closed is none: its
// reader has had enough; nor is that a terminal was.
func (o *output) failure() error {
	lost := o.loss()
	if lost == nil || errors.Is(lost, syscall.EPIPE) || o.terminal && errors.Is(lost, syscall.EIO) {
		return nil
	}
	return fmt.Errorf("not all of the output was written: %w", lost)
}

// hurry ends the patience of standard output and standard error.
func (c *cli) hurry() {
	c.out.hurry()
	c.err.hurry()
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
