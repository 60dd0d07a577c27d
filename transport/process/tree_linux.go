package process

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// tree is the processes of one worker: the leader, which is the worker itself, and
// all that descend from it. After the start its fields do not change; whoever calls
// over, signal or fell holds the lock of the Process, so that nothing is signaled
// once it has fallen.
type tree struct {
	env    []string // with the marker
	limits Limits
	marker marker
	tag    tag
	strict bool    // a cgroup or nothing
	cgroup *cgroup // nil without
	held   Containment
	leader int    // 0 before the fork
	since  uint64 // when the leader started: nothing of the tree is older
}

// newTree prepares for a fork. The error says why the reach that the Spec insists
// on is not to be had.
func newTree(spec Spec) (*tree, error) {
	m := newMarker(spec)
	t := &tree{env: m.within(spec.Env), limits: spec.Limits, marker: m, tag: tagOf(m), strict: spec.Reach == ReachCgroup}
	t.held = Containment{Reach: spec.Reach, Limits: spec.Limits.asked()}
	if spec.Adopt {
		if err := adopt(); err != nil {
			return nil, err
		}
	}
	if spec.Reach == ReachSweep || spec.Reach == ReachGroup {
		t.held.Why = "the host asked for no more"
		return t, nil
	}
	c, err := newCgroup(spec.Cgroup, m)
	switch {
	case err == nil:
		t.cgroup = c
		t.held.Reach, t.held.Cgroup = ReachCgroup, c.dir
	case t.strict:
		return nil, fmt.Errorf("cgroup: %w", err)
	default:
		t.sweepBecause(err)
	}
	return t, nil
}

// sweepBecause goes on without a cgroup.
func (t *tree) sweepBecause(err error) {
	t.fell()
	t.cgroup = nil
	t.held.Reach, t.held.Cgroup, t.held.Why = ReachSweep, "", err.Error()
}

func (t *tree) containment() Containment {
	held := t.held
	held.Limits = slices.Clone(held.Limits)
	return held
}

// fork starts the leader by means of f, on the spawner's thread. Whether a process
// can be born into a cgroup shows only here: a sandbox may forbid it.
func (t *tree) fork(f launch) (pid int, err error) {
	t.limitCgroup()
	pid, err = t.forkInto(f)
	if err != nil && t.cgroup != nil && !t.strict {
		why := fmt.Errorf("no process can be started in the cgroup: %w", err)
		if pid, err = f(t.env, attributes()); err == nil {
			t.sweepBecause(why)
			t.limitCgroup()
		}
	}
	if err == nil {
		t.root(pid)
	}
	return pid, err
}

// forkInto forks into the cgroup, if there is one.
func (t *tree) forkInto(f launch) (int, error) {
	sys := attributes()
	if t.cgroup != nil {
		fd, err := t.cgroup.open()
		if err != nil {
			return 0, err
		}
		defer func() { _ = syscall.Close(fd) }()
		sys.UseCgroupFD, sys.CgroupFD = true, fd
	}
	return f(t.env, sys)
}

// root takes the leader in. Its number is its own until it is reaped.
func (t *tree) root(pid int) {
	t.leader = pid
	_ = t.tag.put(pid) // what it forks before is found by its environment
	if p, ok := readProc(pid); ok {
		t.since = p.start
	}
	t.limitLeader()
	theReaper.watch(t)
}

// members picks the live processes of the tree from all. While the leader is not
// reaped (pinned) nobody else can have its number, nor its group's.
func (t *tree) members(all []proc, pinned bool) []proc {
	var found []proc
	for _, p := range all {
		if !p.dead() && t.has(p, pinned) {
			found = append(found, p)
		}
	}
	if t.held.Reach == ReachSweep {
		found = withChildren(found, all, map[int]bool{os.Getpid(): true})
	}
	return found
}

// has tells whether a process is proven to be of the tree, by itself.
func (t *tree) has(p proc, pinned bool) bool {
	inGroup := p.group == t.leader || p.pid == t.leader
	switch {
	case inGroup && pinned:
		return true
	case t.held.Reach == ReachGroup:
		return inGroup && t.tag.on(p.pid)
	}
	return t.tag.on(p.pid) || p.start >= t.since && slices.ContainsFunc(environOf(p.pid), t.marks)
}

func (t *tree) marks(entry []byte) bool { return bytes.Equal(entry, []byte(t.marker.entry())) }

// withChildren adds all live descendants of those found, whatever they have done to
// what they inherited, but for those spared and what descends from these.
func withChildren(found, all []proc, spared map[int]bool) []proc {
	known := maps.Clone(spared)
	for _, p := range found {
		known[p.pid] = true
	}
	for i := 0; i < len(found); i++ {
		for _, p := range all {
			if p.parent == found[i].pid && !known[p.pid] && !p.dead() && p.start >= found[i].start {
				known[p.pid] = true
				found = append(found, p)
			}
		}
	}
	return found
}

// living lists what lives of the tree.
func (t *tree) living(pinned bool) []int {
	if t.cgroup != nil {
		return t.cgroup.living()
	}
	var pids []int
	for _, p := range t.members(snapshot(), pinned) {
		pids = append(pids, p.pid)
	}
	return pids
}

// signal sends sig to the whole tree: to the group at one blow, and to each of those
// that have left it.
func (t *tree) signal(sig syscall.Signal, pinned bool) {
	if pinned {
		_ = syscall.Kill(-t.leader, sig)
	}
	reached := func(group int) bool { return pinned && group == t.leader }
	switch {
	case t.cgroup != nil && sig == syscall.SIGKILL:
		t.cgroup.kill()
	case t.cgroup != nil:
		t.cgroup.signal(sig, func(pid int) bool {
			p, ok := readProc(pid)
			return !ok || reached(p.group)
		})
	default:
		for _, p := range t.members(snapshot(), pinned) {
			if !reached(p.group) {
				signalProc(p.pid, sig, p.is)
			}
		}
	}
}

// over tells that nothing of the tree lives, and then reaps what of it has become
// the host's own child. It looks twice: what was born while it looked for the first
// time, of a parent that was gone when its turn came, it sees the second time.
func (t *tree) over(pinned bool) bool {
	if t.cgroup != nil {
		if t.cgroup.populated() {
			return false
		}
		if !adopts() {
			return true
		}
	}
	for range 2 {
		all := snapshot()
		if len(t.members(all, pinned)) > 0 {
			return false
		}
		t.reapOrphans(all)
	}
	return true
}

// fell gives back what the tree holds. Nothing of it lives.
func (t *tree) fell() {
	theReaper.forget(t)
	if t.cgroup != nil {
		t.cgroup.remove()
	}
}

// reapOrphans takes the zombies of the tree out of the kernel's table that the host
// has got for children, except for the leader, whose turn comes last.
func (t *tree) reapOrphans(all []proc) {
	self := os.Getpid()
	for _, p := range all {
		if p.parent == self && p.state == 'Z' && p.pid != t.leader && t.tag.on(p.pid) {
			handle(p.pid, p.is, reapHandle)
		}
	}
}

// reapHandle reaps this process and no other.
func reapHandle(fd int) {
	for errors.Is(unix.Waitid(unix.P_PIDFD, fd, nil, unix.WEXITED|unix.WNOHANG, nil), syscall.EINTR) {
	}
}
