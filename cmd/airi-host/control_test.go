package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestListenControl_isForItsUserAlone(t *testing.T) {
	for name, dir := range map[string]string{
		"usual": t.TempDir(),
		"long":  filepath.Join(t.TempDir(), strings.Repeat("a-very-long-name/", 12)),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.MkdirAll(dir, 0o700))
			t.Setenv("TMPDIR", t.TempDir())
			c, err := listenControl(t.Context(), dir)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), c.info.Mode().Perm())
			conn, err := dialControl(t.Context(), dir)
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			require.NoError(t, c.Close())
			for _, place := range []string{dir, os.TempDir()} {
				left, err := os.ReadDir(place)
				require.NoError(t, err)
				require.Empty(t, left, "nothing is left")
			}
			_, err = clientOf(dir).Info(t.Context())
			require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
		})
	}
}

func TestListenControl_aTemporaryDirectoryMayBeFarDownToo(t *testing.T) {
	deep := filepath.Join(t.TempDir(), strings.Repeat("a-very-long-name/", 12))
	require.NoError(t, os.MkdirAll(deep, 0o700))
	t.Setenv("TMPDIR", deep)
	c, err := listenControl(t.Context(), deep)
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

func TestListenControl_takesThePlaceOfADeadHost(t *testing.T) {
	dir := t.TempDir()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, controlName)})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	c, err := listenControl(t.Context(), dir)
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

func TestListenControl_leavesALiveHostAlone(t *testing.T) {
	dir := t.TempDir()
	first, err := listenControl(t.Context(), dir) // which does not answer
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // nobody waits for it to say who it is
		if conn, err := first.Accept(); err == nil {
			cancel()
			_ = conn.Close()
		}
	}()
	_, err = listenControl(ctx, dir)
	require.ErrorContains(t, err, "another host runs here, in "+dir)
	require.NoError(t, first.Close())
}

func TestControl_leavesTheSocketOfAnotherHostAlone(t *testing.T) {
	dir := t.TempDir()
	c, err := listenControl(t.Context(), dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(c.path))
	require.NoError(t, os.WriteFile(c.path, nil, 0o600))
	require.NoError(t, c.Close())
	require.FileExists(t, c.path)
	_, err = listenControl(t.Context(), dir)
	require.ErrorContains(t, err, "expected a socket: remove what is there")
}

func TestState_isMadeForNobodyElse(t *testing.T) {
	given := filepath.Join(t.TempDir(), "a", "b")
	st, err := (&cli{stateGiven: given}).newState(true)
	require.NoError(t, err)
	dir, err := st.path()
	require.NoError(t, err)
	require.Equal(t, given, dir)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.NoError(t, st.close())
	require.DirExists(t, dir)
}

func TestState_ofAHostThatIsAskedOnceIsTemporary(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	st, err := (&cli{}).newState(true)
	require.NoError(t, err)
	require.NoError(t, st.close(), "it was not needed")
	dir, err := st.path()
	require.NoError(t, err)
	again, err := st.path()
	require.NoError(t, err)
	require.Equal(t, dir, again)
	require.DirExists(t, dir)
	require.NoError(t, st.close())
	require.NoDirExists(t, dir)
}
