//go:build unix && !linux

package process

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// tree is the processes of one worker, as far as they are in its group: nothing
// else is known of a process here.
type tree struct {
	env    []string
	leader int // 0 before the fork
	held   Containment
}

var errLinuxOnly = fmt.Errorf("it takes Linux: %w", errors.ErrUnsupported)

func newTree(spec Spec) (*tree, error) {
	if spec.Reach != ReachBest && spec.Reach != ReachGroup {
		return nil, fmt.Errorf("reach %s: %w", spec.Reach, errLinuxOnly)
	}
	limits := spec.Limits.asked()
	for i := range limits {
		limits[i].settle("", errLinuxOnly)
	}
	return &tree{
		env:  newMarker(spec).within(spec.Env),
		held: Containment{Reach: ReachGroup, Why: errLinuxOnly.Error(), Limits: limits},
	}, nil
}

func (t *tree) containment() Containment {
	held := t.held
	held.Limits = slices.Clone(held.Limits)
	return held
}

func (t *tree) fork(f launch) (pid int, err error) {
	t.leader, err = f(t.env, attributes())
	return t.leader, err
}

// living tells whether the group has any, zombies included; it does not know their
// numbers and returns that of the group.
func (t *tree) living(bool) []int {
	if syscall.Kill(-t.leader, 0) == nil {
		return []int{t.leader}
	}
	return nil
}

// signal sends sig to the group, and to the leader itself if it has left it.
func (t *tree) signal(sig syscall.Signal, pinned bool) {
	_ = syscall.Kill(-t.leader, sig)
	if group, err := syscall.Getpgid(t.leader); err == nil && group != t.leader && pinned {
		_ = syscall.Kill(t.leader, sig)
	}
}

func (t *tree) over(pinned bool) bool { return len(t.living(pinned)) == 0 }

func (t *tree) fell() {}

func (t *tree) reached(ending, Step) string { return "" }

// ownIdentity says nothing: no host is looked for here.
func ownIdentity() identity { return identity{} }
