//go:build linux

package process

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlumbing_givesEverythingBack(t *testing.T) {
	for kind, workers := range map[Wire]int{Stdio: 3, Own: 5} {
		before := descriptors(t)
		p, err := openPlumbing(kind)
		require.NoError(t, err)
		require.Len(t, p.files(), workers)
		p.closeAll()
		require.Equal(t, before, descriptors(t))
	}
}

func TestPlumbing_namesWhatTheSystemRefuses(t *testing.T) {
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	before := descriptors(t)
	low := old
	low.Cur = uint64(before + 4) // some pipes, not all
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
	_, err := Start(Spec{Plugin: "p", Path: "/bin/sh"})
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
	require.ErrorIs(t, err, syscall.EMFILE)
	wantErrorText(t, err, `plugin p: start: pipes: pipe2: `)
	require.Equal(t, before, descriptors(t))
}

func TestInputFile_takesWhatFits(t *testing.T) {
	r, w, err := newPipe()
	require.NoError(t, err)
	require.NoError(t, syscall.SetNonblock(w, true))
	input := newInputFile(w, "input")
	defer func() { _ = input.Close() }()

	n, err := input.TryWrite(make([]byte, 1<<20))
	require.NoError(t, err)
	require.Greater(t, n, 0)
	require.Less(t, n, 1<<20)
	n, err = input.TryWrite([]byte("x"))
	require.NoError(t, err)
	require.Zero(t, n)

	require.NoError(t, syscall.Close(r))
	_, err = input.TryWrite([]byte("x"))
	require.ErrorIs(t, err, syscall.EPIPE)
	require.NoError(t, input.Close())
	_, err = input.TryWrite([]byte("x"))
	require.ErrorIs(t, err, os.ErrClosed)
}
