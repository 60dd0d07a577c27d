package process

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSnapshot_hasThisProcess(t *testing.T) {
	all := snapshot()
	i := slices.IndexFunc(all, func(p proc) bool { return p.pid == os.Getpid() })
	require.GreaterOrEqual(t, i, 0)
	self := all[i]
	require.Equal(t, os.Getppid(), self.parent)
	require.Equal(t, syscall.Getpgrp(), self.group)
	require.False(t, self.dead())
	require.True(t, self.is())
	self.start++
	require.False(t, self.is(), "another process of the same number")
}

func TestReadProc_readsPastAnyName(t *testing.T) {
	link := t.TempDir() + "/a) Z 1 1 (b"
	path, err := exec.LookPath("sleep")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(path, link))
	c := exec.Command(link, "1000")
	require.NoError(t, c.Start())
	p, ok := readProc(c.Process.Pid)
	require.True(t, ok)
	require.Equal(t, os.Getpid(), p.parent)
	require.False(t, p.dead())
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	_, ok = readProc(1 << 30)
	require.False(t, ok)
}

func TestEnvironOf_readsEntries(t *testing.T) {
	env := environOf(os.Getpid())
	require.True(t, slices.ContainsFunc(env, func(e []byte) bool { return bytes.HasPrefix(e, []byte("PATH=")) }))
	require.Empty(t, environOf(1 << 30)[0])
}

func TestSignalProc_sparesWhatIsNotProven(t *testing.T) {
	c := exec.Command("sleep", "1000")
	require.NoError(t, c.Start())
	p, ok := readProc(c.Process.Pid)
	require.True(t, ok)
	other := p
	other.start++ // the one that had the number when it was looked at
	signalProc(other.pid, syscall.SIGKILL, other.is)
	signalProc(p.pid, syscall.SIGTERM, p.is)
	require.ErrorContains(t, c.Wait(), "terminated")
}

// BenchmarkSnapshot says what a look at all processes costs, per process.
func BenchmarkSnapshot(b *testing.B) {
	n := 0
	for b.Loop() {
		n += len(snapshot())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/process")
}
