package process

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// strayGrace is how long a dead child that nobody here has started stays in the kernel's
// table: who starts a child by other means than this package, and waits for it, does so
// sooner.
const strayGrace = 3 * time.Second

// Init does the duty of a process that is PID 1, in a container say, until ctx ends: what
// dies there and was started by nobody here, an orphan of a command that was run beside
// the host, is taken out of the kernel's table. It never waits for "any child", and leaves
// a child alone that died less than a few seconds ago, so that those who wait for their own
// get what they wait for. Elsewhere it does nothing.
func Init(ctx context.Context) {
	if os.Getpid() == 1 {
		reapStrays(ctx, strayGrace)
	}
}

// stray is a dead child; its number alone may be given away.
type stray struct {
	pid   int
	start uint64
}

// reapStrays looks for dead children at each death, and once more after the grace.
func reapStrays(ctx context.Context, grace time.Duration) {
	deaths := make(chan os.Signal, 1)
	signal.Notify(deaths, syscall.SIGCHLD)
	defer signal.Stop(deaths)
	again := time.NewTimer(0) // there may be some already
	defer again.Stop()
	since := map[stray]time.Time{}
	for {
		select {
		case <-deaths:
			if len(since) > 0 {
				continue // another look is coming
			}
		case <-again.C:
		case <-ctx.Done():
			return
		}
		since = buryStrays(since, grace, time.Now())
		if len(since) > 0 {
			again.Reset(grace)
		}
		select {
		case <-time.After(min(reapPause, grace)):
		case <-ctx.Done():
			return
		}
	}
}

// buryStrays reaps those that were dead for the grace, and returns the others with when
// they were first seen.
func buryStrays(since map[stray]time.Time, grace time.Duration, now time.Time) map[stray]time.Time {
	self, ours := os.Getpid(), theReaper.leaders()
	left := map[stray]time.Time{}
	for _, p := range snapshot() {
		if p.parent != self || p.state != 'Z' || ours[p.pid] {
			continue
		}
		seen, known := since[stray{p.pid, p.start}]
		switch {
		case !known:
			left[stray{p.pid, p.start}] = now
		case now.Sub(seen) < grace:
			left[stray{p.pid, p.start}] = seen
		default:
			handle(p.pid, p.is, reapHandle)
		}
	}
	return left
}

// leaders are the workers whose trees are watched: each is reaped last of its tree, and
// keeps its number until then.
func (r *reaper) leaders() map[int]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[int]bool, len(r.trees))
	for t := range r.trees {
		all[t.leader] = true
	}
	return all
}
