package process

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func withLimits(l Limits) func(*Spec) { return func(s *Spec) { s.Limits = l } }

func TestLimits_cpuTimeEndsABurner(t *testing.T) {
	for _, r := range reaches(t) {
		t.Run(string(r), func(t *testing.T) {
			s := Spec{Plugin: "probe", Path: "sh", Args: []string{"-c", "while :; do :; done"}, Env: spec(t, "").Env, Reach: r}
			s.Limits.CPUTime = 300 * time.Millisecond
			w := startSpec(t, s)
			require.Equal(t, []LimitState{{Name: LimitCPUTime, Value: "300ms", InForce: true, Note: "RLIMIT_CPU of each process"}}, w.Containment().Limits)
			exit := w.wantExit()
			require.Equal(t, "SIGXCPU", exit.Status.Signal)
			wantErrorText(t, exit, "was killed by SIGXCPU: it reached its CPU time limit of 300ms")
		})
	}
}

func TestLimits_cpuTimeEndsWhoIgnoresTheSignal(t *testing.T) {
	w := start(t, "burn", withLimits(Limits{CPUTime: time.Second})) // as every Go program does
	exit := w.wantExit()
	require.Equal(t, "SIGKILL", exit.Status.Signal)
	wantErrorText(t, exit, "CPU time limit of 1s")
}

func TestLimits_aKillIsNoLimit(t *testing.T) {
	w := start(t, "kill-itself", withLimits(Limits{CPUTime: time.Hour}))
	require.Empty(t, w.wantExit().Status.Limit)
}

func TestLimits_sayWhyTheyAreNotInForce(t *testing.T) {
	w := start(t, "echo", withReach(ReachSweep), withLimits(Limits{MemoryBytes: 1 << 30, Processes: 30}))
	held := w.Containment()
	require.Len(t, held.Limits, 2)
	for _, l := range held.Limits {
		require.False(t, l.InForce)
		require.Contains(t, l.Note, "cgroup")
	}
	w.wantEcho("it runs all the same")
}

// A system may have the controllers, or not; either has to be said.
func TestLimits_inACgroup(t *testing.T) {
	w := start(t, "echo", withLimits(Limits{MemoryBytes: 1 << 30, Processes: 1000}))
	for _, l := range w.Containment().Limits {
		require.NotEmpty(t, l.Note)
		if l.InForce {
			require.True(t, strings.HasSuffix(l.Note, "of the worker's cgroup"))
		}
	}
	w.wantEcho("fine")
}

func TestLimits_areWrittenBeforeTheStart(t *testing.T) {
	c := fakeCgroup(t, map[string]string{"memory.max": "", "memory.swap.max": "", "memory.oom.group": "", "pids.max": ""})
	limits := Limits{MemoryBytes: 1 << 20, Processes: 7}
	tr := &tree{cgroup: c, limits: limits, held: Containment{Limits: limits.asked()}}
	tr.limitCgroup()
	for name, value := range map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "7"} {
		require.Equal(t, value, string(readSmall(c.file(name))), name)
	}
	for _, l := range tr.held.Limits {
		require.True(t, l.InForce, l)
	}
}

func TestTree_reachedNamesTheLimit(t *testing.T) {
	c := fakeCgroup(t, map[string]string{"memory.events": "oom_kill 1\n", "pids.events": "max 2\n"})
	tr := func(l Limits) *tree {
		held := l.asked()
		for i := range held {
			held[i].InForce = true
		}
		return &tree{cgroup: c, limits: l, held: Containment{Limits: held}}
	}
	memory, forks := tr(Limits{MemoryBytes: 1 << 20}), tr(Limits{Processes: 7})
	require.Equal(t, "memory limit of 1048576 bytes", memory.reached(ending{signal: syscall.SIGKILL}, StepNone))
	require.Empty(t, memory.reached(ending{code: 1}, StepNone), "a part of it only")
	require.Equal(t, "limit of 7 processes", forks.reached(ending{code: 1}, StepNone))
	require.Empty(t, forks.reached(ending{}, StepNone), "it went well")
	require.Empty(t, forks.reached(ending{code: 1}, StepTerm), "it was asked to go")
	require.Empty(t, forks.reached(ending{err: errors.New("stolen")}, StepNone))
}

func TestCPUSeconds_areRoundedUp(t *testing.T) {
	require.Equal(t, uint64(1), cpuSeconds(1))
	require.Equal(t, uint64(1), cpuSeconds(time.Second))
	require.Equal(t, uint64(2), cpuSeconds(time.Second+1))
}
