package process

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// cpuGrace is how many seconds on a processor a process may spend on SIGXCPU.
	cpuGrace = 2
	// clockTicks is how many a second the kernel tells user space.
	clockTicks = 100
)

// limitCgroup sets, before the fork, what a cgroup can hold the worker to.
func (t *tree) limitCgroup() {
	for i := range t.held.Limits {
		l := &t.held.Limits[i]
		switch {
		case l.Name == LimitCPUTime: // set on the leader
		case t.cgroup == nil:
			l.settle("", fmt.Errorf("it takes a cgroup of the worker's own: %s", t.held.Why))
		case l.Name == LimitMemory:
			l.settle("memory.max of the worker's cgroup", t.cgroup.limitMemory(t.limits.MemoryBytes))
		case l.Name == LimitProcesses:
			l.settle("pids.max of the worker's cgroup", t.cgroup.limit("pids", "pids.max", int64(t.limits.Processes)))
		}
	}
}

// limitMemory limits memory. Kernels without swap lack its file; and when one
// process has to go all do, since a worker that lost a part of itself is of no use.
func (c *cgroup) limitMemory(bytes int64) error {
	if err := c.limit("memory", "memory.max", bytes); err != nil {
		return err
	}
	_ = c.write("memory.swap.max", "0")
	return c.write("memory.oom.group", "1")
}

// limitLeader sets, after the fork, what the leader passes on to its children.
func (t *tree) limitLeader() {
	for i := range t.held.Limits {
		if l := &t.held.Limits[i]; l.Name == LimitCPUTime {
			l.settle("RLIMIT_CPU of each process", limitCPU(t.leader, cpuSeconds(t.limits.CPUTime)))
		}
	}
}

func cpuSeconds(d time.Duration) uint64 { return uint64((d + time.Second - 1) / time.Second) }

// limitCPU limits a process. A limit that the host has itself cannot be raised.
func limitCPU(pid int, seconds uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_CPU, nil, &old); err != nil {
		return fmt.Errorf("prlimit: %w", err)
	}
	limit := unix.Rlimit{Cur: min(seconds, old.Max), Max: min(seconds+cpuGrace, old.Max)}
	if err := unix.Prlimit(pid, unix.RLIMIT_CPU, &limit, nil); err != nil {
		return fmt.Errorf("prlimit: %w", err)
	}
	return nil
}

// reached tells which limit has ended the leader, or had its part in it, in words;
// empty if none. The leader is a zombie and the cgroup is still there.
func (t *tree) reached(end ending, step Step) string {
	if end.err != nil {
		return "" // the number may be somebody else's
	}
	for _, l := range t.held.Limits {
		if l.InForce && t.hit(l.Name, end, step) {
			return l.words()
		}
	}
	return ""
}

func (t *tree) hit(name string, end ending, step Step) bool {
	killed := end.signal == syscall.SIGKILL
	switch name {
	case LimitMemory:
		return killed && t.cgroup.count("memory.events", "oom_kill") > 0
	case LimitProcesses:
		return step == StepNone && (end.code != 0 || end.signal != 0) && t.cgroup.count("pids.events", "max") > 0
	case LimitCPUTime:
		return end.signal == syscall.SIGXCPU || killed && step != StepKill && t.cpuSpent()
	}
	return false
}

// cpuSpent tells whether the leader used all the time that it had. It may have
// ignored SIGXCPU: programs written in Go do.
func (t *tree) cpuSpent() bool {
	p, ok := readProc(t.leader)
	return ok && p.cpu >= cpuSeconds(t.limits.CPUTime)*clockTicks
}
