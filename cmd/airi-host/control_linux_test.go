package main

import (
	"context"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// nobody is a user who owns nothing here.
const nobody = 65534

// dialAsAnother opens a control socket as somebody who may not.
func dialAsAnother(t *testing.T, dir string) (failed error) {
	t.Helper()
	if os.Getuid() != 0 { // then even its owner may not
		require.NoError(t, os.Chmod(filepath.Join(dir, controlName), 0))
		_, failed = dialControl(t.Context(), dir)
		return failed
	}
	done := make(chan struct{})
	go func() { // whose thread is never used again
		defer close(done)
		runtime.LockOSThread()
		if failed = syscall.Setfsuid(nobody); failed == nil {
			_, failed = dialControl(context.Background(), dir)
		}
	}()
	<-done
	return failed
}

// Whoever may not ask is told who may.
func TestControl_namesItsOwner(t *testing.T) {
	dir := t.TempDir()
	c, err := listenControl(t.Context(), dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	me, err := user.Current()
	require.NoError(t, err)

	err = toldOfControl(dialAsAnother(t, dir), dir)
	require.Equal(t, protocol.CodeDenied, protocol.CodeOf(err))
	require.EqualError(t, err, "the control socket "+filepath.Join(dir, controlName)+": permission denied: it is for user "+me.Username+
		" alone: run this as the host's user, e.g. sudo -u "+me.Username+" airi-host ps --state "+dir)

	require.NoError(t, os.Remove(filepath.Join(dir, controlName)))
	require.Contains(t, asOwner(dir), "sudo -u "+me.Username+" ", "the directory has the same owner")
	require.Equal(t, "run this as the host's user, e.g. sudo -u USER airi-host ps --state "+filepath.Join(dir, "away"), asOwner(filepath.Join(dir, "away")))
}

func TestUserCalled_oneWithoutAName(t *testing.T) {
	name, word := userCalled(3999999)
	require.Equal(t, []string{"3999999", "'#3999999'"}, []string{name, word})
}
