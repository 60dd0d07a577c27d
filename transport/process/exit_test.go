//go:build linux

package process

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestExit_namesCodeAndUptime(t *testing.T) {
	w := start(t, "exit", withArg("3"))
	status := w.wantDone(soon)
	require.Positive(t, status.Uptime)
	require.Equal(t, ExitStatus{Code: 3, Uptime: status.Uptime}, status)
	wantErrorText(t, w.wantExit(), `plugin probe`, "exited with code 3", "after ")
	w.wantStop(StepNone)
}

func TestExit_namesTheSignal(t *testing.T) {
	for mode, signal := range map[string]string{"kill-itself": "SIGKILL", "kill-group": "SIGTERM"} {
		w := start(t, mode)
		exit := w.wantExit()
		require.Equal(t, -1, exit.Status.Code)
		require.Equal(t, signal, exit.Status.Signal)
		wantErrorText(t, exit, "was killed by "+signal)
	}
}

func TestExit_isNothingBeforeItHappens(t *testing.T) {
	w := start(t, "echo")
	require.Equal(t, ExitStatus{Code: -1}, w.Exit())
}

func TestExit_isSeenAlthoughADescendantHoldsThePipes(t *testing.T) {
	for _, code := range []int{0, 3} {
		w := start(t, "leave", withArg(strconv.Itoa(code)))
		status := w.wantDone(soon)
		require.Equal(t, ExitStatus{Code: code, Leftover: true, Uptime: status.Uptime}, status)
		began := time.Now()
		require.Equal(t, code, w.wantExit().Status.Code)
		require.Less(t, time.Since(began), soon, "the pipes are given up")
		require.Len(t, marked(w.spec.Env), 1, "the descendant is Stop's")
		require.NotEqual(t, StepNone, w.mustStop(ladderTo(StepKill)).Step)
	}
}

func TestExit_looksPastADescendantOfAnotherGroup(t *testing.T) {
	for _, reach := range reaches(t) {
		w := start(t, "leave-away", withArg("3"), withReach(reach))
		_, err := w.Recv()
		require.NoError(t, err)
		exit := w.wantExit()
		require.Equal(t, 3, exit.Status.Code)
		require.True(t, exit.Status.Leftover)
		w.wantStop(StepTerm)
		require.Empty(t, marked(w.spec.Env))
	}
}

func TestExitStatus_String(t *testing.T) {
	require.Equal(t, "exited with code 0", ExitStatus{}.String())
	require.Equal(t, "was killed by SIGKILL", ExitStatus{Code: -1, Signal: "SIGKILL"}.String())
	require.Equal(t, "was killed by SIGXCPU: it reached its CPU time limit of 1s",
		ExitStatus{Code: -1, Signal: "SIGXCPU", Limit: "CPU time limit of 1s"}.String())
	require.Equal(t, "ended, nobody knows how (stolen)", ExitStatus{Code: -1, Err: errors.New("stolen")}.String())
}

func TestEnding_status(t *testing.T) {
	require.Equal(t, ExitStatus{Code: 4, Uptime: 1, Step: StepTerm, Leftover: true}, ending{code: 4}.status(1, StepTerm, true))
	require.Equal(t, ExitStatus{Code: -1, Signal: "SIGHUP"}, ending{signal: syscall.SIGHUP}.status(0, "", false))
	require.Equal(t, ExitStatus{Code: -1, Signal: "signal 40"}, ending{signal: 40}.status(0, "", false))
	stolen := errors.New("stolen")
	require.Equal(t, ExitStatus{Code: -1, Err: stolen}, ending{err: stolen}.status(0, "", false))
}

func TestReap_tellsThatSomebodyElseReaped(t *testing.T) {
	end := reap(1) // no child of ours
	require.ErrorIs(t, end.err, syscall.ECHILD)
	require.True(t, end.reaped)
}

func TestExitError_quotesTheLastWords(t *testing.T) {
	err := &ExitError{
		Plugin: "hello",
		Status: ExitStatus{Code: 1, Uptime: 1234567 * time.Microsecond},
		Tail:   []string{"first", "second", "", "third \x1b[0m", strings.Repeat("é", 150)},
	}
	require.EqualError(t, err, `plugin hello: the worker exited with code 1 after 1.235s; `+
		`its last words: "second", "third \x1b[0m", "`+strings.Repeat("é", 100)+`…"`)
}

func TestLostError_namesThePipe(t *testing.T) {
	err := &LostError{Plugin: "hello", Pipe: "input", Truncated: true}
	require.EqualError(t, err,
		`plugin hello: the worker closed its input and runs on: it has to be stopped, in the middle of a record`)
}
