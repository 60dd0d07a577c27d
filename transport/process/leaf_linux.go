package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// hostLeaf is the name of the group that the host moves into, below the one that it was
// started in. The groups of its workers stay beside it.
const hostLeaf = "airi-host.self"

const (
	// vacateTries and vacatePause bound how long a group is tried to be emptied, in
	// which something forks or ends meanwhile.
	vacateTries = 20
	vacatePause = time.Millisecond
)

// workersCgroup is the directory below which workers have theirs: the one that this
// process is in, or was in until it moved into a leaf of it.
func workersCgroup() (string, error) {
	own, err := ownCgroup()
	if err == nil && filepath.Base(own) == hostLeaf {
		own = filepath.Dir(own)
	}
	return own, err
}

// give has the group give a controller to those below it. The kernel refuses (EBUSY) as
// long as a process is in the group itself, which is "no processes in inner groups" of
// cgroups(7): where that is the host, as below a systemd service with Delegate=yes, it
// goes into a leaf.
func (c *cgroup) give(controller string) error {
	if has, err := os.ReadFile(c.file("cgroup.controllers")); err == nil && !slices.Contains(strings.Fields(string(has)), controller) {
		return fmt.Errorf("the group has not got it itself (cgroup.controllers: %q)", bytes.TrimSpace(has))
	}
	err := c.write("cgroup.subtree_control", "+"+controller)
	if !errors.Is(err, unix.EBUSY) {
		return reasonOf(err)
	}
	if err := c.vacate(); err != nil {
		return err
	}
	return reasonOf(c.write("cgroup.subtree_control", "+"+controller))
}

// vacate moves this process, and what has descended from it, out of the group into a
// leaf. If there is anybody else in the group it moves nothing: he does not expect it,
// and the group would not get empty.
func (c *cgroup) vacate() error {
	for range vacateTries {
		here := c.own()
		if len(here) == 0 {
			return nil
		}
		moved, others := ours(here)
		if len(others) > 0 {
			return sharedError(others)
		}
		if err := c.retire(moved); err != nil {
			return err
		}
		time.Sleep(vacatePause)
	}
	return fmt.Errorf("the host's processes do not go into %s: new ones keep coming", hostLeaf)
}

// retire moves processes into the leaf.
func (c *cgroup) retire(procs []proc) error {
	leaf := &cgroup{dir: c.file(hostLeaf)}
	if err := os.Mkdir(leaf.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the host cannot go into a group below: %w", err)
	}
	var failed error
	for _, p := range procs {
		handle(p.pid, p.is, func(int) {
			if err := leaf.write("cgroup.procs", strconv.Itoa(p.pid)); err != nil && !errors.Is(err, unix.ESRCH) {
				failed = fmt.Errorf("the host cannot go into %s: %w", leaf.dir, reasonOf(err))
			}
		})
	}
	return failed
}

// own lists the processes in the group itself. One of another PID namespace is 0.
func (c *cgroup) own() []int {
	var pids []int
	procs, _ := os.ReadFile(c.file("cgroup.procs"))
	for field := range bytes.FieldsSeq(procs) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ours parts processes into those that are this one or descend from it, and others. It
// leaves out those that have ended.
func ours(pids []int) (own []proc, others []int) {
	all := snapshot()
	live, mine := map[int]proc{}, map[int]bool{}
	for _, p := range all {
		live[p.pid] = p
	}
	if self, ok := live[os.Getpid()]; ok {
		for _, p := range withChildren([]proc{self}, all, map[int]bool{}) {
			mine[p.pid] = true
		}
	}
	for _, pid := range pids {
		p, seen := live[pid]
		switch {
		case mine[pid]:
			own = append(own, p)
		case pid == 0, seen && !p.dead(), !seen && hidden(pid):
			others = append(others, pid)
		}
	}
	return own, others
}

// hidden tells whether there is a process that /proc does not show (hidepid).
func hidden(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

// sharedError tells who keeps the host from having the group for itself.
func sharedError(others []int) error {
	who := "a process of another PID namespace"
	if first := others[0]; first != 0 {
		who = fmt.Sprintf("process %d %s", first, command(first))
	}
	if more := len(others) - 1; more > 0 {
		who += fmt.Sprintf(", and %d more", more)
	}
	return fmt.Errorf("the host shares this group (%s): give it one of its own, as Delegate=yes does below systemd", who)
}
