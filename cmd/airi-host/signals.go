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

// interrupted returns two contexts: one ends at the first SIGINT, SIGTERM or SIGHUP,
// the other at the second. The SIGHUP of a terminal that is closed counts unless it was
// ignored from the beginning, as under nohup. A third signal does what it does to a program that does not
// listen. release stops listening and ends both.
func interrupted(ctx context.Context) (first, second context.Context, release func()) {
	first, cancelFirst := context.WithCancel(ctx)
	second, cancelSecond := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		defer signal.Stop(signals)
		if !heard(second, signals) {
			return
		}
		cancelFirst()
		began := time.Now()
		for heard(second, signals) {
			if time.Since(began) > echo {
				cancelSecond()
			}
		}
	}()
	return first, second, func() {
		cancelFirst()
		cancelSecond()
	}
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
