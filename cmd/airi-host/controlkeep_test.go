package main

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/logtest"
)

// A control socket that is removed is made anew, and what else has its place is told once and
// left alone.
func TestSteadyControl_isMadeAnew(t *testing.T) {
	dir := t.TempDir()
	socket, err := listenControl(t.Context(), dir)
	require.NoError(t, err)
	var said logtest.Buffer
	l := keepControl(dir, socket, time.Millisecond, slog.New(slog.NewTextHandler(&said, nil)))
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	wantReached := func() {
		t.Helper()
		require.Eventually(t, func() bool {
			conn, err := dialControl(t.Context(), dir)
			if err != nil {
				return false
			}
			_ = conn.Close()
			return true
		}, patience, time.Millisecond)
		require.NoError(t, (<-accepted).Close())
	}
	wantReached()
	for range 3 {
		require.NoError(t, os.Remove(socket.path))
		wantReached()
	}
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, os.Rename(other, socket.path))
	require.Eventually(t, func() bool {
		return strings.Contains(said.String(), "is not the one that the host has made")
	}, patience, time.Millisecond)
	require.NoError(t, os.Remove(socket.path))
	wantReached()
	require.Equal(t, 1, strings.Count(said.String(), "nobody can command this host"))

	require.NoError(t, os.Rename(dir, dir+"-away"))
	require.Eventually(t, func() bool { return strings.Contains(said.String(), "no such file") }, patience, time.Millisecond)
	require.NoError(t, os.Rename(dir+"-away", dir))
	wantReached()
	require.NoError(t, l.Close())
	require.ErrorIs(t, l.Close(), net.ErrClosed)
	_, open := <-accepted
	require.False(t, open)
	require.NoFileExists(t, socket.path)
}
