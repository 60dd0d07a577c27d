package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// echo is how soon after the first signal another one is the same: wrappers such as
// timeout(1) send it to the process and to its group.
const echo = 20 * time.Millisecond

// interrupted returns two contexts: one ends at the first SIGINT or SIGTERM, the other at
// the second. The SIGHUP of a terminal that is closed counts if hangup says so, unless it
// was ignored from the beginning, as under nohup. A third signal does what it does to a
// program that does not listen. release stops listening and ends both.
func interrupted(ctx context.Context, hangup bool) (first, second context.Context, release func()) {
	first, cancelFirst := context.WithCancel(ctx)
	second, cancelSecond := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if hangup && !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		defer signal.Stop(signals)
		countSignals(second, signals, cancelFirst, cancelSecond)
	}()
	return first, second, func() {
		cancelFirst()
		cancelSecond()
	}
}

// countSignals tells of the first signal, and of the second one, until ctx ends.
func countSignals(ctx context.Context, signals <-chan os.Signal, first, second func()) {
	if !heard(ctx, signals) {
		return
	}
	began := time.Now()
	first()
	for heard(ctx, signals) {
		if time.Since(began) > echo {
			second()
		}
	}
}

// hangups returns where a SIGHUP arrives at which a host reads its settings again, until
// the process ends; nil where it means that the host is to stop. It does so where there
// is a terminal to be closed: one that the host was started from, or that it talks to. A
// service has none. Several that come at once are one.
func (c *cli) hangups(once bool) chan os.Signal {
	if once || c.atTerminal() || signal.Ignored(syscall.SIGHUP) {
		return nil
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}

// atTerminal tells whether a terminal can be taken from this process.
func (c *cli) atTerminal() bool {
	return isTerminal(c.in) || c.out.terminal || c.err.terminal || hasTerminal()
}

// hasTerminal tells whether the process has a controlling terminal, which its standard
// streams may all lead away from: it was started from one, also in the background.
func hasTerminal() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = tty.Close() // it was only looked for
	return true
}

// heard waits for a signal; it tells whether one came before ctx ended.
func heard(ctx context.Context, signals <-chan os.Signal) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case <-signals:
		return true
	case <-ctx.Done():
		return false
	}
}
