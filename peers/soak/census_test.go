package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/internal/need"
)

// startChild runs a program that waits for the end of its input.
func startChild(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	child := exec.Command("cat")
	child.Env = append(os.Environ(), env...)
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = in.Write([]byte("x")) // once it answers it is cat, with its own environment
	require.NoError(t, err)
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	return child
}

func needProc(t *testing.T) {
	t.Helper()
	need.That(t, hasProc(), "there is no /proc here")
}

func TestCensus_findsWhatIsLeft(t *testing.T) {
	needProc(t)
	s := startScratch(t)
	require.NoError(t, goleak.Find(), "what earlier tests began has ended")
	before := s.census()
	require.Empty(t, before.since(before))

	child := startChild(t, markVar+"="+s.mark)
	pid := child.Process.Pid
	file, err := os.Create(filepath.Join(s.temp, "left"))
	require.NoError(t, err)
	end := make(chan struct{})
	go func() { <-end }()
	now := s.census()
	require.Equal(t, []int{pid}, now.marked)
	require.Contains(t, now.children, pid)
	require.Equal(t, before.goroutines+1, now.goroutines)
	require.Greater(t, now.descriptors, before.descriptors)
	left := now.since(before)
	require.Len(t, left, 5, "%v", left)
	require.NoError(t, now.found(1))
	require.ErrorContains(t, now.found(2), "of 2 workers a census finds 1 by their marker")

	close(end)
	require.NoError(t, file.Close())
	require.NoError(t, os.Remove(file.Name()))
	require.True(t, s.strike(pid))
	require.Error(t, child.Wait())
	require.False(t, s.marks(pid))
}

// A zombie has no marker any more, and is still a child.
func TestCensus_findsAZombie(t *testing.T) {
	needProc(t)
	s := startScratch(t)
	before := s.census()
	child := startChild(t, markVar+"="+s.mark)
	require.True(t, s.strike(child.Process.Pid))
	require.Eventually(t, func() bool { return !s.marks(child.Process.Pid) }, patience, time.Millisecond)
	now := s.census()
	require.Empty(t, now.marked)
	require.Contains(t, now.children, child.Process.Pid)
	require.NotEmpty(t, now.since(before))
}

func TestScratch_strikesNobodyElse(t *testing.T) {
	needProc(t)
	s := startScratch(t)
	child := startChild(t, markVar+"=somebody-else's")
	require.False(t, s.strike(child.Process.Pid))
	require.NoError(t, child.Process.Signal(syscall.Signal(0)), "it lives")
	require.Equal(t, os.Getpid(), parent(child.Process.Pid))
	require.Zero(t, parent(1<<30))
}
