//go:build linux

package process

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

func TestStop_takesTheStepThatIsNeeded(t *testing.T) {
	for name, tc := range map[string]struct {
		mode string
		step Step
		exit ExitStatus
	}{
		"the end of its input is enough": {"echo", StepStdin, ExitStatus{Step: StepStdin}},
		"it does not read":               {"sleep", StepTerm, ExitStatus{Code: -1, Signal: "SIGTERM", Step: StepTerm}},
		"it ignores SIGTERM too":         {"deaf", StepKill, ExitStatus{Code: -1, Signal: "SIGKILL", Step: StepKill}},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, tc.mode, withWire(Own))
			// A worker that is still being loaded ignores nothing yet.
			if tc.mode == "deaf" {
				w.awaitIgnoring()
			}
			w.wantStop(tc.step)
			tc.exit.Uptime = w.Exit().Uptime
			require.Equal(t, tc.exit, w.Exit())
		})
	}
}

// awaitIgnoring waits until the worker ignores SIGTERM.
func (w *worker) awaitIgnoring() {
	w.t.Helper()
	eventually(w.t, "the worker ignores SIGTERM", func() bool { return ignores(w.t, w.Pid(), syscall.SIGTERM) })
}

func TestStop_letsWhatIsQueuedGoOut(t *testing.T) {
	w := start(t, "count")
	record := strings.Repeat("x", 64<<10-1)
	for range 100 {
		w.send(record)
	}
	w.wantStop(StepStdin)
	w.want("6553600")
	require.ErrorIs(t, w.wantEnd(), io.EOF)
}

func TestStop_refusesLaterRecords(t *testing.T) {
	w := start(t, "sleep")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_, _ = w.Stop(t.Context(), Ladder{CloseStdin: soon, Term: soon})
	}()
	eventually(t, "records are refused", func() bool { return errors.Is(w.Send(nil), transport.ErrClosed) })
	require.NoError(t, w.Close())
	<-stopped
}

func TestStop_endsTheRestOfTheGroup(t *testing.T) {
	for name, tc := range map[string]struct {
		mode string
		step Step
	}{
		"left in the group, reads":   {"leave-echo", StepStdin},
		"left in the group, sleeps":  {"leave", StepTerm},
		"left in the group, is deaf": {"leave-deaf", StepKill},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, tc.mode)
			require.True(t, w.wantDone(soon).Leftover)
			eventually(t, "the descendant is itself", func() bool { return settled(t, w, tc.mode) })
			w.wantStop(tc.step)
			require.Empty(t, marked(w.spec.Env))
			require.Equal(t, StepNone, w.Exit().Step, "the worker had gone by itself")
		})
	}
}

// settled tells whether the descendant has come as far as its mode says.
func settled(t *testing.T, w *worker, mode string) bool {
	t.Helper()
	pids := w.living()
	return len(pids) == 1 && (mode != "leave-deaf" || ignores(t, pids[0], syscall.SIGTERM))
}

func TestStop_endsWhatTheWorkerWasStartedWith(t *testing.T) {
	s := spec(t, "echo")
	s.Args = []string{"-c", `sleep 600 & exec "$0"`, s.Path}
	s.Path = "sh"
	w := startSpec(t, s)
	w.wantEcho("call")
	require.Len(t, marked(s.Env), 2)
	w.wantStop(StepTerm)
	require.Empty(t, marked(s.Env))
}

func TestStop_findsAWorkerThatHasLeftItsGroup(t *testing.T) {
	w := start(t, "desert")
	w.want("deserted")
	w.wantStop(StepKill)
	require.Equal(t, "SIGKILL", w.Exit().Signal)
}

func TestStop_failsInTimeAndMayBeCalledAgain(t *testing.T) {
	w := start(t, "deaf", withReach(ReachSweep))
	hang := func(c *cgroup) { // as one that nothing can be killed in
		w.mu.Lock()
		defer w.mu.Unlock()
		w.tree.cgroup = c
	}
	hang(fakeCgroup(t, map[string]string{"cgroup.events": "populated 1\n", "cgroup.procs": "4711\n"}))
	report, err := w.Stop(t.Context(), Ladder{CloseStdin: 1, Term: 1, Kill: time.Millisecond})
	wantErrorText(t, err, `plugin probe`, "survived SIGKILL", "4711")
	require.Equal(t, StepKill, report.Step)
	require.Equal(t, []int{4711}, report.Left)
	hang(nil)
	_, err = w.Stop(t.Context(), Ladder{Kill: soon})
	require.NoError(t, err)
}

func TestStop_afterTheExitOfAll(t *testing.T) {
	w := start(t, "exit")
	w.wantDone(soon)
	report := w.wantStop(StepNone)
	require.Less(t, report.Took, soon)
}

func TestStop_sharesOneRun(t *testing.T) {
	w := start(t, "deaf", withWire(Own))
	w.awaitIgnoring()
	reports := make([]StopReport, 8)
	var group sync.WaitGroup
	for i := range reports {
		group.Go(func() {
			report, err := w.Stop(t.Context(), ladderTo(StepKill))
			if err != nil {
				t.Error(err)
			}
			reports[i] = report
		})
	}
	group.Wait()
	for _, r := range reports {
		require.Equal(t, reports[0], r)
	}
	require.Equal(t, StepKill, reports[0].Step)
	require.Equal(t, reports[0], w.mustStop(Ladder{}), "and again, when all is over")
}

func TestStop_hurriesWhenItsContextEnds(t *testing.T) {
	w := start(t, "deaf")
	w.awaitIgnoring()
	ctx, cancel := context.WithCancel(t.Context())
	patient := make(chan StopReport, 1)
	go func() {
		report, _ := w.Stop(t.Context(), Ladder{CloseStdin: time.Hour, Term: time.Hour})
		patient <- report
	}()
	cancel()
	report, err := w.Stop(ctx, Ladder{CloseStdin: time.Hour, Term: time.Hour})
	require.NoError(t, err)
	require.Equal(t, StepKill, report.Step)
	require.Equal(t, report, <-patient, "whoever is in a hurry hurries all")
}

func TestStop_closeJoinsIt(t *testing.T) {
	w := start(t, "deaf")
	w.awaitIgnoring()
	stopped := make(chan StopReport, 1)
	go func() {
		report, _ := w.Stop(t.Context(), Ladder{CloseStdin: time.Hour})
		stopped <- report
	}()
	require.NoError(t, w.Close())
	require.Equal(t, StepKill, (<-stopped).Step)
}

func TestStop_recvGoesOn(t *testing.T) {
	w := start(t, "echo")
	w.send("one", "two")
	w.wantStop(StepStdin)
	w.want("one", "two")
	require.ErrorIs(t, w.wantEnd(), io.EOF)
}

func TestStop_aKilledWorkerIsNoGoodEnd(t *testing.T) {
	w := start(t, "sleep")
	w.wantStop(StepTerm)
	exit := w.wantExit()
	require.Equal(t, "SIGTERM", exit.Status.Signal)
	require.Equal(t, StepTerm, exit.Status.Step)
}

func TestLadder_defaults(t *testing.T) {
	require.Equal(t, Ladder{2 * time.Second, 3 * time.Second, 2 * time.Second}, Ladder{}.resolved())
	require.Equal(t, Ladder{1, 3 * time.Second, 2}, Ladder{CloseStdin: 1, Term: -1, Kill: 2}.resolved())
}
