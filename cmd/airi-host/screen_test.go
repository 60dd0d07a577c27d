package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
)

// stage is a screen on a terminal of which the test is the far end.
type stage struct {
	*screen
	pty, tty *os.File
}

func onStage(t *testing.T) stage {
	t.Helper()
	host, err := actors.New(actors.Options{})
	require.NoError(t, err)
	far, tty, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(far, &pty.Winsize{Rows: 20, Cols: 80}))
	t.Cleanup(func() {
		_ = far.Close()
		_ = tty.Close()
		require.NoError(t, host.Shutdown(t.Context()))
	})
	return stage{newScreen(host, []string{"p"}, (&settings{}).queues(), tty, tty, newOutput(tty)), far, tty}
}

// reads returns what comes out of the terminal, up to a text.
func (s stage) reads(t *testing.T, text string) string {
	t.Helper()
	var seen bytes.Buffer
	require.NoError(t, s.pty.SetReadDeadline(time.Now().Add(patience)))
	for !strings.Contains(seen.String(), text) {
		_, err := io.CopyN(&seen, s.pty, 1)
		require.NoError(t, err, "it did not come: %s; only %q", text, seen.String())
	}
	return seen.String()
}

// A view that panics is gone: the terminal is as it was, and lines are shown on.
func TestScreen_outlivesAViewThatPanics(t *testing.T) {
	s := onStage(t)
	before, err := term.GetState(s.tty.Fd())
	require.NoError(t, err)
	s.out.divert.Store(&s.backlog)
	s.show()
	s.reads(t, "airi-host starting")
	during, err := term.GetState(s.tty.Fd())
	require.NoError(t, err)
	require.NotEqual(t, before, during)
	s.program.Send(tea.BatchMsg{func() tea.Msg { panic("thrown on purpose by a test") }})
	<-s.ended
	go s.feed()
	fmt.Fprintln(s.out, "a line")
	s.reads(t, "a line\r\n")
	s.close()
	after, err := term.GetState(s.tty.Fd())
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// A terminal that takes nothing, as at Ctrl-S, holds nobody up who writes; the end waits
// for it until it is hurried.
func TestScreen_doesNotWaitForATerminalThatIsStuck(t *testing.T) {
	s := onStage(t)
	s.open()
	s.reads(t, "airi-host starting")
	line := strings.Repeat("x", 1000)
	for range 2 * maxBacklog / len(line) { // nobody reads them
		fmt.Fprintln(s.out, line)
	}
	s.do(doingStop)
	s.out.hurry()
	s.close()
	require.ErrorIs(t, s.out.loss(), errStuck)
}

// The terminal is gone, and no signal tells so.
func TestScreen_losesItsTerminal(t *testing.T) {
	s := onStage(t)
	s.open()
	s.reads(t, "airi-host starting")
	require.NoError(t, s.pty.Close())
	fmt.Fprintln(s.out, "for nobody")
	s.close()
	require.NoError(t, s.out.failure(), "whoever closes a terminal has had enough")
}

// What comes is shown at most ten times a second, however much there is.
func TestScreen_paintsAtMostTenTimesASecond(t *testing.T) {
	s := onStage(t)
	s.open()
	s.reads(t, "airi-host starting")
	began := time.Now()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				s.do(fmt.Sprintf("busy%d", i))
			}
		}
	}()
	const pictures = 6
	for range pictures {
		s.reads(t, "\x1b[1m")
	}
	require.Greater(t, time.Since(began), (pictures-2)*refreshEvery)
	close(stop)
	<-done
	s.close()
}
