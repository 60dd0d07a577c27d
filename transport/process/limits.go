package process

import (
	"fmt"
	"time"
)

// The names of limits in a LimitState.
const (
	LimitMemory    = "memory"
	LimitProcesses = "processes"
	LimitCPUTime   = "cpu_time"
)

// Limits is what a worker may use. Zero means no limit. A limit that the system
// cannot hold does not keep the worker from starting: Process.Containment tells
// which are in force.
type Limits struct {
	// MemoryBytes is the most memory of the worker and all its descendants
	// together, without swap. Beyond it the kernel kills all of them. It needs the
	// memory controller of cgroup v2; there is no other way, because address space,
	// which is all that a process can be held to by itself, has nothing to do with
	// the memory that a JavaScript engine uses.
	MemoryBytes int64

	// Processes is the most processes and threads of the worker and all its
	// descendants together. Beyond it a fork fails. It needs the pids controller of
	// cgroup v2; the limit of old (RLIMIT_NPROC) counts all processes of a user.
	Processes int

	// CPUTime is the most time on a processor, in whole seconds, rounded up, for
	// each process of the worker by itself. Beyond it a process gets SIGXCPU, and
	// SIGKILL two seconds of such time later. It is set at once after the start;
	// what the worker has forked in that instant goes without.
	CPUTime time.Duration
}

func (s Spec) checkLimits() error {
	l := s.Limits
	if l.MemoryBytes < 0 || l.Processes < 0 || l.CPUTime < 0 {
		return fmt.Errorf("a limit is negative: memory %d bytes, processes %d, CPU time %s: zero means none",
			l.MemoryBytes, l.Processes, l.CPUTime)
	}
	return nil
}

// asked lists the limits that are set, none of which is in force yet.
func (l Limits) asked() []LimitState {
	var states []LimitState
	add := func(set bool, name, value string) {
		if set {
			states = append(states, LimitState{Name: name, Value: value})
		}
	}
	add(l.MemoryBytes > 0, LimitMemory, fmt.Sprintf("%d bytes", l.MemoryBytes))
	add(l.Processes > 0, LimitProcesses, fmt.Sprintf("%d processes", l.Processes))
	add(l.CPUTime > 0, LimitCPUTime, l.CPUTime.String())
	return states
}

// words names the limit in a sentence, e.g. "limit of 30 processes".
func (s LimitState) words() string {
	kind := map[string]string{LimitMemory: "memory ", LimitCPUTime: "CPU time "}[s.Name]
	return kind + "limit of " + s.Value
}

// settle notes what became of a limit.
func (s *LimitState) settle(means string, err error) {
	s.InForce, s.Note = err == nil, means
	if err != nil {
		s.Note = err.Error()
	}
}
