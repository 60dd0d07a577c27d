package process

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// killedHost starts a host with one worker, which descends into a session of its own,
// and kills the host alone. It returns the host's number and the worker's spec.
func killedHost(t *testing.T, owner string, r Reach) *worker {
	t.Helper()
	// In the sweep way, or the host's own end would be seen to by a cgroup.
	w := start(t, "host", withArg(owner), withHostReach(r), withReach(ReachGroup))
	record, err := w.Recv()
	require.NoError(t, err)
	leader, err := strconv.Atoi(string(record))
	require.NoError(t, err)
	eventually(t, "the worker and its descendant are there", func() bool { return len(deaf(w.spec.Env)) == 2 })
	require.NoError(t, syscall.Kill(w.Pid(), syscall.SIGKILL))
	w.wantDone(soon)
	eventually(t, "the worker has died with it", func() bool { return !runs(leader) })
	require.Len(t, deaf(w.spec.Env), 1, "its descendant has not")
	return w
}

// deaf lists the processes of env that ignore SIGTERM.
func deaf(env []string) []int {
	var pids []int
	for _, text := range marked(env) {
		pid, _ := strconv.Atoi(text)
		if slices.ContainsFunc(environOf(pid), func(e []byte) bool { return string(e) == modeVar+"=deaf" }) && command(pid) != "sh" {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestSweep_endsWhatADeadHostLeft(t *testing.T) {
	for _, r := range reaches(t) {
		t.Run(string(r), func(t *testing.T) {
			owner, other := rand.Text(), rand.Text()
			live := start(t, "echo", func(s *Spec) { s.Owner = owner })
			w := killedHost(t, owner, r)
			left := deaf(w.spec.Env)

			ended, err := Sweep(t.Context(), other)
			require.NoError(t, err)
			require.Empty(t, ended)
			require.Equal(t, left, deaf(w.spec.Env), "another owner's")

			ended, err = Sweep(t.Context(), owner)
			require.NoError(t, err)
			require.Equal(t, []Leftover{{Pid: left[0], Command: ended[0].Command, Plugin: "deaf", Host: w.Pid()}}, ended)
			require.NotEmpty(t, ended[0].Command)
			require.Empty(t, marked(w.spec.Env))
			live.wantEcho("a live host's worker is left alone")

			ended, err = Sweep(t.Context(), owner)
			require.NoError(t, err)
			require.Empty(t, ended)
			wantNoCgroupOf(t, w.Pid())
		})
	}
}

// wantNoCgroupOf tells that nothing is left of a dead host's, whatever other hosts that ran
// on this machine have left.
func wantNoCgroupOf(t *testing.T, host int) {
	t.Helper()
	base, _ := workersCgroup()
	for _, dir := range deadCgroups(base) {
		require.NotContains(t, filepath.Base(dir), fmt.Sprintf(".%d.", host))
	}
}

func TestSweep_tellsWhatItCouldNotEnd(t *testing.T) {
	owner := rand.Text()
	w := killedHost(t, owner, ReachSweep)
	left := deaf(w.spec.Env)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := sweep{owner: owner, spared: map[int]bool{}, cgroups: map[string]bool{}}
	found := s.look()
	require.Len(t, found, 1)
	s.all = []Leftover{{Pid: 1 << 30}, {Pid: left[0]}}
	ended, err := s.report(found)
	wantErrorText(t, err, strconv.Itoa(left[0]), "live on")
	require.Equal(t, []Leftover{{Pid: 1 << 30}}, ended)
	_, _ = Sweep(ctx, owner) // one look, one blow
	wantNothingLeft(t, w.spec.Env)
}

func TestSweep_sparesItsOwnLine(t *testing.T) {
	line := lineage(snapshot())
	require.True(t, line[os.Getpid()])
	require.True(t, line[os.Getppid()])
}

func TestSweep_refusesAnOwnerThatCanBeGuessed(t *testing.T) {
	_, err := Sweep(t.Context(), "me")
	wantErrorText(t, err, "sweep: ", "owner")
}
