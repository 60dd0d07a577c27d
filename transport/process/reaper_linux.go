package process

import (
	"fmt"
	"maps"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reapPause is the least time between two looks for zombies, so that a worker whose
// orphans die by the thousand costs little.
const reapPause = 200 * time.Millisecond

// reaper sees to orphans that die while their worker lives. It works only if the
// operating system's process gets orphans at all: as PID 1, or by Spec.Adopt. It
// never waits for "any child": a program that embeds the host has its own.
type reaper struct {
	mu    sync.Mutex
	trees map[*tree]struct{}
	quit  chan struct{} // nil without trees
}

// theReaper belongs to the operating system's process, as children do.
var theReaper reaper

// watch sees to the orphans of a tree until forget.
func (r *reaper) watch(t *tree) {
	if !adopts() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.quit == nil {
		r.trees, r.quit = map[*tree]struct{}{}, make(chan struct{})
		go r.run(r.quit)
	}
	r.trees[t] = struct{}{}
}

func (r *reaper) forget(t *tree) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.trees, t)
	if len(r.trees) == 0 && r.quit != nil {
		close(r.quit)
		r.quit = nil
	}
}

func (r *reaper) run(quit <-chan struct{}) {
	deaths := make(chan os.Signal, 1) // one more death during a look is one more look
	signal.Notify(deaths, syscall.SIGCHLD)
	defer signal.Stop(deaths)
	for {
		select {
		case <-deaths:
		case <-quit:
			return
		}
		r.reap()
		select {
		case <-time.After(reapPause):
		case <-quit:
			return
		}
	}
}

func (r *reaper) reap() {
	all := snapshot()
	r.mu.Lock()
	trees := maps.Clone(r.trees)
	r.mu.Unlock()
	for t := range trees {
		t.reapOrphans(all)
	}
}

// adopt makes the operating system's process the parent of its orphans, for good.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: prctl: %w", err)
	}
	return nil
}

// adopts tells whether orphans come to this process, whoever saw to that.
func adopts() bool {
	if os.Getpid() == 1 {
		return true
	}
	var set int32
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&set)), 0)
	return errno == 0 && set != 0
}
