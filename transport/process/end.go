package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/airi-host/airi-host/transport"
)

// endReason is why the connection has ended, or nil.
func (p *Process) endReason() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason
}

// settle ends the connection, once, and returns why it has ended.
func (p *Process) settle(reason error) error {
	p.mu.Lock()
	if p.reason == nil {
		p.reason = reason
		close(p.ended)
	}
	reason = p.reason
	p.mu.Unlock()
	p.writer.Fail(reason)
	p.closeInput()
	p.wire.close()
	return reason
}

// reasonFor finds out why the worker's records have ended, err being what the
// reader says.
func (p *Process) reasonFor(err error) error {
	var long *transport.TooLongError
	if errors.As(err, &long) {
		return fmt.Errorf("plugin %s: %w", p.spec.Plugin, err)
	}
	truncated := errors.Is(err, io.ErrUnexpectedEOF)
	switch exited := p.awaitExit(); {
	case p.endReason() != nil:
		return p.endReason()
	case exited:
		return p.exitReason(truncated)
	}
	return p.lostReason(truncated)
}

// awaitExit tells whether the worker exits now that its records have ended. Both
// come together, but in any order, so that it gets ExitGrace for it, and while it
// is being stopped as long as that takes. A wire that was given up has been
// waited for.
func (p *Process) awaitExit() bool {
	grace := p.spec.ExitGrace
	if p.wire.givenUp.Load() {
		grace = 0
	}
	if p.exitsWithin(grace) {
		return true
	}
	p.mu.Lock()
	run := p.stop
	p.mu.Unlock()
	if run == nil {
		return false
	}
	select {
	case <-p.exited:
		return true
	case <-run.done:
	case <-p.ended:
	}
	return p.exitsWithin(0)
}

// exitsWithin waits for the exit, or for the end of the connection.
func (p *Process) exitsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-p.ended:
	case <-timer.C:
	}
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// exitReason is the end's reason after an exit. It waits for the last log lines,
// at most DrainMost.
func (p *Process) exitReason(truncated bool) error {
	select {
	case <-p.drained:
	case <-p.ended:
	}
	if p.exit.Step != StepNone && p.exit.Code == 0 && !truncated {
		return io.EOF
	}
	return &ExitError{Plugin: p.spec.Plugin, Status: p.exit, Tail: p.book.last(), Truncated: truncated}
}

// lostReason is the end's reason when the worker runs on.
func (p *Process) lostReason(truncated bool) error {
	pipe := "output"
	if p.inputLost.Load() {
		pipe = "input"
	}
	return &LostError{Plugin: p.spec.Plugin, Pipe: pipe, Tail: p.book.last(), Truncated: truncated}
}

// inputFailed is told that a write has failed. If the worker has exited, its exit
// tells the reason better; if it runs on, the connection ends all the same,
// because nothing reaches the worker any more.
func (p *Process) inputFailed(err error) {
	if errors.Is(err, os.ErrClosed) {
		return // by us
	}
	p.inputLost.Store(true)
	go func() {
		if !p.exitsWithin(p.spec.ExitGrace) {
			p.wire.interrupt()
		}
	}()
}
