//go:build linux

package process

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reaches are the ways that find every descendant, as far as this system has them.
func reaches(t *testing.T) []Reach {
	t.Helper()
	c, err := newCgroup("", newMarker(Spec{}))
	if err != nil {
		t.Logf("only sweeping is tested: %v", err)
		return []Reach{ReachSweep}
	}
	c.remove()
	return []Reach{ReachCgroup, ReachSweep}
}

func withReach(r Reach) func(*Spec) { return func(s *Spec) { s.Reach = r } }

// shell runs a script with the worker's program as $0. The script ends in a worker,
// or in none.
func shell(t *testing.T, r Reach, mode, script string) *worker {
	t.Helper()
	s := spec(t, mode)
	s.Args = []string{"-c", script, s.Path}
	s.Path, s.Reach = "sh", r
	return startSpec(t, s)
}

// within is how long a stop may take: the waits of its ladder, and two seconds.
const within = 2*time.Second + 200*time.Millisecond

// quick are short waits, the last of which suffices for everything.
var quick = Ladder{CloseStdin: 100 * time.Millisecond, Term: 100 * time.Millisecond, Kill: within}

// wantTreeEnd stops the worker and finds nothing of it any more.
func (w *worker) wantTreeEnd() StopReport {
	w.t.Helper()
	report := w.mustStop(quick)
	require.Empty(w.t, marked(w.spec.Env))
	require.Less(w.t, report.Took, soon)
	if dir := w.Containment().Cgroup; dir != "" {
		require.NoDirExists(w.t, dir)
	}
	return report
}

// wantProcesses waits until the worker's tree has n live processes.
func (w *worker) wantProcesses(n int) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("there are %d processes", n), func() bool { return len(marked(w.spec.Env)) == n })
}

func TestReach_nothingOutlivesAStop(t *testing.T) {
	for name, tc := range map[string]struct {
		mode, script string
		processes    int
	}{
		"a child in the group":          {"echo", `sleep 1000 & exec "$0"`, 2},
		"a wrapper that exits":          {"echo", `exec 3<&0; "$0" <&3 & exit 0`, 1},
		"a worker that is deaf":         {"deaf", `exec "$0"`, 1},
		"a session of its own":          {"echo", `setsid sleep 1000 & exec "$0"`, 2},
		"a double fork":                 {"echo", `(sleep 1000 &) ; exec "$0"`, 2},
		"a double fork, then a session": {"deaf", `(setsid sh -c "trap : TERM; sleep 1000 & sleep 1000; sleep 1000" &) ; exec "$0"`, 4},
		"and its leader gone":           {"", `(setsid sh -c "(setsid sleep 1000 &) ; sleep 1000" &) ; exit 0`, 3},
		"deaf in a session":             {"deaf", `setsid "$0" & exit 0`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range reaches(t) {
				t.Run(string(r), func(t *testing.T) {
					w := shell(t, r, tc.mode, tc.script)
					w.wantProcesses(tc.processes)
					require.Equal(t, r, w.Containment().Reach)
					w.wantTreeEnd()
				})
			}
		})
	}
}

func TestReach_nothingOutlivesACrash(t *testing.T) {
	for _, r := range reaches(t) {
		t.Run(string(r), func(t *testing.T) {
			w := shell(t, r, "", `(setsid sh -c "sleep 1000 & exec sleep 1000" &) ; exec sleep 1000`)
			w.wantProcesses(3)
			require.NoError(t, syscall.Kill(w.Pid(), syscall.SIGKILL))
			require.True(t, w.wantDone(soon).Leftover)
			require.NoError(t, w.Close())
			w.wantTreeEnd()
		})
	}
}

func TestReach_findsWhatHasForgottenItsEnvironment(t *testing.T) {
	for _, r := range reaches(t) {
		t.Run(string(r), func(t *testing.T) {
			w := shell(t, r, "", `read go; env -i setsid sh -c 'echo $$; exec sleep 1000' & exit 0`)
			w.send("go") // it is not faster than the host marks it
			record, err := w.Recv()
			require.NoError(t, err)
			var pid int
			_, err = fmt.Sscan(string(record), &pid)
			require.NoError(t, err)
			w.wantDone(soon)
			require.Empty(t, marked(w.spec.Env))
			require.Equal(t, []int{pid}, w.living())
			w.wantTreeEnd()
			require.False(t, runs(pid))
		})
	}
}

// runs tells whether a process is there and no zombie.
func runs(pid int) bool {
	p, ok := readProc(pid)
	return ok && !p.dead()
}

func TestReach_killGroupHurtsNobodyElse(t *testing.T) {
	for _, r := range reaches(t) {
		t.Run(string(r), func(t *testing.T) {
			other := start(t, "echo", withReach(r))
			w := start(t, "kill-group", withReach(r))
			require.Equal(t, "SIGTERM", w.wantDone(soon).Signal)
			w.wantStop(StepNone)
			other.wantEcho("fine")
		})
	}
}

func TestReach_termReachesThoseWhoLeft(t *testing.T) {
	for _, r := range reaches(t) {
		t.Run(string(r), func(t *testing.T) {
			w := shell(t, r, "", `setsid sh -c 'trap "echo asked; exit" TERM; echo ready; while :; do sleep 0.1; done' & exit 0`)
			w.want("ready")
			w.wantDone(soon)
			report := w.mustStop(Ladder{CloseStdin: time.Millisecond, Term: soon})
			require.Equal(t, StepTerm, report.Step)
			w.want("asked")
		})
	}
}

func TestReach_survivesAForkStorm(t *testing.T) {
	for _, r := range reaches(t) {
		t.Run(string(r), func(t *testing.T) {
			w := shell(t, r, "", `storm() { while :; do setsid sleep 0.01 & wait; done; }; trap : TERM; storm & storm & echo on; storm`)
			w.want("on")
			require.Equal(t, StepKill, w.wantTreeEnd().Step)
		})
	}
}

func TestReach_groupLeavesTheHostAsItIs(t *testing.T) {
	w := shell(t, ReachGroup, "echo", `setsid sleep 1000 & exec "$0"`)
	w.wantProcesses(2)
	require.Equal(t, Containment{Reach: ReachGroup, Why: "the host asked for no more"}, w.Containment())
	require.Equal(t, os.Getpid() == 1, adopts())
	w.mustStop(quick)
	left := marked(w.spec.Env)
	require.Len(t, left, 1, "what has left the group is out of reach")
	var pid int
	_, err := fmt.Sscan(left[0], &pid)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

func TestReach_bestGoesOnWithoutACgroup(t *testing.T) {
	w := start(t, "echo", func(s *Spec) { s.Cgroup = "/no/such" })
	held := w.Containment()
	require.Equal(t, ReachSweep, held.Reach)
	require.Contains(t, held.Why, "/no/such")
	w.wantEcho("fine")
}

func TestReach_manyWorkersEndAtOnce(t *testing.T) {
	for _, r := range reaches(t) {
		t.Run(string(r), func(t *testing.T) {
			done := make(chan error)
			var workers []*worker
			for range 6 {
				w := shell(t, r, "deaf", `setsid sleep 1000 & (setsid sleep 1000 &) ; exec "$0"`)
				workers = append(workers, w)
			}
			for _, w := range workers {
				go func() {
					_, err := w.Stop(context.WithoutCancel(t.Context()), quick)
					done <- err
				}()
			}
			for range workers {
				require.NoError(t, <-done)
			}
			for _, w := range workers {
				require.Empty(t, marked(w.spec.Env))
			}
		})
	}
}

func TestReach_leavesNoCgroup(t *testing.T) {
	own, err := ownCgroup()
	if err != nil {
		own = t.TempDir()
	}
	before := cgroupsOfThisHost(t, own)
	for range 5 {
		w := start(t, "exit")
		w.wantDone(soon)
		w.wantStop(StepNone)
	}
	_, err = Start(Spec{Plugin: "p", Path: "sh", Dir: "/no/such"})
	require.Error(t, err)
	require.Equal(t, before, cgroupsOfThisHost(t, own))
}

func cgroupsOfThisHost(t *testing.T, base string) []string {
	t.Helper()
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if host, _, ok := parseCgroupName(e.Name()); ok && host == ownIdentity() {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestLimitState_String(t *testing.T) {
	s := LimitState{Name: LimitCPUTime, Value: "1s", InForce: true, Note: "RLIMIT_CPU"}
	require.Equal(t, "CPU time limit of 1s: in force (RLIMIT_CPU)", s.String())
	s.InForce = false
	require.Equal(t, "CPU time limit of 1s: not in force (RLIMIT_CPU)", s.String())
}
