//go:build linux

package process

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

func TestEnd_returnsAPartialLastLine(t *testing.T) {
	w := start(t, "partial", withArg("7"))
	w.want("a", "b")
	exit := w.wantExit()
	require.True(t, exit.Truncated)
	require.Equal(t, 7, exit.Status.Code)
	wantErrorText(t, exit, `plugin probe`, "code 7", "middle of a record", `"oh no"`)
}

func TestEnd_seesThatTheOutputIsClosed(t *testing.T) {
	w := start(t, "close-stdout", withShortGrace)
	w.want("bye")
	wantErrorText(t, w.wantLost("output"), `plugin probe`, "output", "stopped")
	select {
	case <-w.Done():
		t.Fatal("it runs on")
	default:
	}
	w.wantStop(StepTerm)
}

func TestEnd_seesThatTheInputIsClosed(t *testing.T) {
	w := start(t, "close-stdin", withShortGrace)
	w.want("closed")
	require.ErrorContains(t, w.Send([]byte("anybody?")), "does not read")
	_ = w.wantLost("input")
	w.wantStop(StepTerm)
}

func TestEnd_closeFreesAllAtOnce(t *testing.T) {
	w := start(t, "deaf")
	freed := make(chan error)
	go func() {
		_, err := w.Recv()
		freed <- err
	}()
	require.NoError(t, w.Close())
	require.ErrorIs(t, <-freed, transport.ErrClosed)
	require.ErrorIs(t, w.Send(nil), transport.ErrClosed)
	status := w.wantDone(soon)
	require.Equal(t, "SIGKILL", status.Signal)
	require.Equal(t, StepKill, status.Step)
}

func TestEnd_waitsForTheExitWhileItIsStopped(t *testing.T) {
	w := start(t, "tidy-up", func(s *Spec) { s.ExitGrace = 1 })
	w.want("ready")
	stopped := make(chan error)
	go func() {
		_, err := w.Stop(t.Context(), Ladder{CloseStdin: soon})
		stopped <- err
	}()
	require.ErrorIs(t, w.wantEnd(), io.EOF, "its output was closed before that")
	require.NoError(t, <-stopped)
}
