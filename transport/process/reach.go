package process

import "fmt"

// Reach says how the processes of a worker are held together, and so which of
// them Stop finds and ends.
type Reach string

// The ways, from the farthest.
const (
	// ReachBest is ReachCgroup where that works, else ReachSweep, else ReachGroup.
	// Only a Spec says so; a Containment never does.
	ReachBest Reach = ""
	// ReachCgroup: the worker is born in a control group of its own, which no
	// descendant leaves and which the kernel kills as one. Linux 5.14 or newer, and
	// a writable cgroup v2 directory.
	ReachCgroup Reach = "cgroup"
	// ReachSweep: the host looks for descendants among all processes, by what they
	// inherit from the worker; see the package's text. Linux 5.4 or newer.
	ReachSweep Reach = "sweep"
	// ReachGroup: the worker's process group. A descendant that leaves it (setsid)
	// is out of reach.
	ReachGroup Reach = "group"
)

// Containment says how far a worker is held: what Stop reaches, and which of the
// limits of its Spec are in force.
type Containment struct {
	// Reach is the way taken.
	Reach Reach
	// Why says why it is not ReachCgroup; empty when it is.
	Why string
	// Cgroup is the worker's own directory, with ReachCgroup.
	Cgroup string
	// Limits has one entry for each limit that the Spec asks for.
	Limits []LimitState
}

// LimitState says whether a limit is in force.
type LimitState struct {
	// Name is LimitMemory, LimitProcesses or LimitCPUTime.
	Name string
	// Value is what was asked for, in words: "104857600 bytes", "30 processes", "2s".
	Value string
	// InForce tells whether the system holds the worker to it.
	InForce bool
	// Note says by what means, or why not.
	Note string
}

// String tells the state in words, e.g. "CPU time limit of 2s: in force (RLIMIT_CPU
// of each process)".
func (s LimitState) String() string {
	state := "not in force"
	if s.InForce {
		state = "in force"
	}
	return fmt.Sprintf("%s: %s (%s)", s.words(), state, s.Note)
}

// Containment says how the worker is held. It does not change during its life.
func (p *Process) Containment() Containment { return p.tree.containment() }

func (s Spec) checkReach() error {
	switch s.Reach {
	case ReachBest, ReachCgroup, ReachSweep, ReachGroup:
		return nil
	}
	return fmt.Errorf("reach %q is unknown: take cgroup, sweep, group, or nothing for the best there is", s.Reach)
}
