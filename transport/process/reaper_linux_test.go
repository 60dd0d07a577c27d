package process

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReaper_leavesNoZombieAndOthersTheirChildren(t *testing.T) {
	for _, r := range reaches(t) {
		t.Run(string(r), func(t *testing.T) {
			w := start(t, "adopting", withHostReach(r))
			w.want("while it lives: 2", "after the stop: 0 [] <nil>", "the child: exit status 7")
			require.Equal(t, 0, w.wantExit().Status.Code)
		})
	}
}

// withHostReach is the reach of the workers of a worker that is a host.
func withHostReach(r Reach) func(*Spec) {
	return func(s *Spec) { s.Env = append(s.Env, reachVar+"="+string(r)) }
}

func TestReaper_isIdleWhereNoOrphansCome(t *testing.T) {
	require.False(t, adopts(), "the tests are no container's first process")
	w := start(t, "echo")
	w.wantEcho("call")
	require.Empty(t, theReaper.trees)
}

func TestReapOrphans_takesWhatIsTaggedAndNothingElse(t *testing.T) {
	tr := &tree{tag: tagOf(newMarker(Spec{}))}
	ours, foreign := exec.Command("cat"), exec.Command("cat")
	for _, c := range []*exec.Cmd{ours, foreign} {
		stdin, err := c.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		if c == ours {
			require.NoError(t, tr.tag.put(c.Process.Pid))
		}
		require.NoError(t, stdin.Close())
		eventually(t, "it is a zombie", func() bool { return !runs(c.Process.Pid) })
	}
	tr.reapOrphans(snapshot())
	require.ErrorIs(t, ours.Wait(), syscall.ECHILD)
	require.NoError(t, foreign.Wait())
}
