package process

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// treeIn returns a tree whose cgroup nothing can be born into, and a launch that tells
// whether it was to be.
func treeIn(t *testing.T, r Reach) (*tree, launch) {
	t.Helper()
	tr := &tree{cgroup: fakeCgroup(t, nil), strict: r == ReachCgroup, held: Containment{Reach: ReachCgroup}}
	return tr, func(_ []string, sys *syscall.SysProcAttr) (int, error) {
		if sys.UseCgroupFD {
			return 0, syscall.ENOSYS
		}
		return os.Getpid(), nil
	}
}

func TestTree_goesOnWhereNothingIsBornIntoACgroup(t *testing.T) {
	tr, f := treeIn(t, ReachBest)
	_, err := tr.forkInto(f)
	require.ErrorIs(t, err, syscall.ENOSYS)
	why := errors.New("no")
	tr.sweepBecause(why)
	require.Nil(t, tr.cgroup)
	require.Equal(t, Containment{Reach: ReachSweep, Why: "no"}, tr.containment())
	_, err = tr.forkInto(f)
	require.NoError(t, err)
}

func TestTree_insistsOnACgroup(t *testing.T) {
	tr, f := treeIn(t, ReachCgroup)
	_, err := tr.fork(f)
	require.ErrorIs(t, err, syscall.ENOSYS)
}

func TestTree_startsWithoutTheCgroupThatRefuses(t *testing.T) {
	s := spec(t, "echo")
	s, err := s.resolved()
	require.NoError(t, err)
	tr := &tree{env: s.Env, cgroup: fakeCgroup(t, nil), held: Containment{Reach: ReachCgroup}} // no cgroup at all
	pipes, err := openPlumbing(Stdio)
	require.NoError(t, err)
	defer pipes.closeAll()
	pid, err := tr.fork(forkExec(s, pipes))
	require.NoError(t, err)
	require.Equal(t, ReachSweep, tr.held.Reach)
	require.Contains(t, tr.held.Why, "no process can be started in the cgroup")
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	reap(pid)
}

func TestWithChildren_followsAllButTheSpared(t *testing.T) {
	all := []proc{
		{pid: 5, parent: 4, state: 'S', start: 9},
		{pid: 4, parent: 3, state: 'S', start: 8},
		{pid: 3, parent: 1, state: 'S', start: 7},
		{pid: 6, parent: 3, state: 'Z', start: 9}, // dead
		{pid: 7, parent: 3, state: 'S', start: 6}, // older than its parent: of one that had the number before
		{pid: 8, parent: 3, state: 'S', start: 9}, // spared
		{pid: 9, parent: 8, state: 'S', start: 9},
		{pid: 10, parent: 1, state: 'S', start: 9},
	}
	found := withChildren([]proc{all[2]}, all, map[int]bool{8: true})
	require.Equal(t, []proc{all[2], all[1], all[0]}, found)
}
