package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAcquire_tellsWhoHoldsIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "for it")
	lock, err := Acquire(dir)
	require.NoError(t, err)
	require.Equal(t, dir, lock.Dir())

	_, err = Acquire(dir)
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, os.Getpid(), locked.Holder.PID)
	require.WithinDuration(t, time.Now(), locked.Holder.Since, 10*time.Second)
	require.ErrorContains(t, err, filepath.Join(dir, LockName)+": held by the host with process id ")
	require.ErrorContains(t, err, "stop that one, or name another directory")

	require.NoError(t, lock.Release())
	again, err := Acquire(dir)
	require.NoError(t, err)
	require.NoError(t, again.Release())
}

func TestAcquire_aLockThatIsLeftBehindMeansNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, LockName), []byte(`{"pid":1,"since":"2020-01-01T00:00:00Z"}`), 0o600))
	lock, err := Acquire(dir)
	require.NoError(t, err)
	_, err = Acquire(dir)
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, os.Getpid(), locked.Holder.PID)
	require.NoError(t, lock.Release())
}

func TestAcquire_aHolderThatIsNotNamedIsOne(t *testing.T) {
	dir := t.TempDir()
	lock, err := Acquire(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, lock.Release()) }()
	require.NoError(t, os.Truncate(filepath.Join(dir, LockName), 0))
	_, err = Acquire(dir)
	require.ErrorContains(t, err, "held by another host;")
}

func TestAcquire_oneOfManyGetsIt(t *testing.T) {
	dir := t.TempDir()
	locks := make(chan *Lock, 16)
	var all sync.WaitGroup
	for range cap(locks) {
		all.Go(func() {
			if lock, err := Acquire(dir); err == nil {
				locks <- lock
			}
		})
	}
	all.Wait()
	require.Len(t, locks, 1)
	require.NoError(t, (<-locks).Release())
}

func TestAcquire_endsWithItsProcess(t *testing.T) {
	dir := t.TempDir()
	child := startChild(t, "holds", dir)
	child.wantLine("held")
	_, err := Acquire(dir)
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, child.cmd.Process.Pid, locked.Holder.PID)
	child.kill()
	lock, err := Acquire(dir)
	require.NoError(t, err)
	require.NoError(t, lock.Release())
}

// A process is killed while it starts others, which have its files until they are what they
// are to be.
func TestAcquire_endsWithAProcessThatIsKilledWhileItStartsOthers(t *testing.T) {
	dir := t.TempDir()
	for range 50 {
		child := startChild(t, "starts", dir)
		child.wantLine("held")
		child.kill()
		lock, err := Acquire(dir)
		require.NoError(t, err)
		require.NoError(t, lock.Release())
	}
}

// Who has ended and is named all the same is waited for, and not for ever.
func TestAcquire_waitsALimitedTimeForWhoHasEnded(t *testing.T) {
	dir := t.TempDir()
	lock, err := Acquire(dir)
	require.NoError(t, err)
	gone := exec.Command("/bin/true")
	require.NoError(t, gone.Run())
	name := fmt.Appendf(nil, `{"pid":%d}`, gone.Process.Pid)
	require.NoError(t, os.WriteFile(filepath.Join(dir, LockName), name, 0o600))
	_, err = Acquire(dir)
	require.ErrorContains(t, err, fmt.Sprintf("held by the host with process id %d ", gone.Process.Pid))
	require.NoError(t, lock.Release())
}

func TestAcquire_namesAPathThatIsNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Acquire(file)
	require.ErrorContains(t, err, file)
	require.ErrorContains(t, err, "state directory")
}

func TestAcquire_namesALockThatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, LockName), 0o700))
	_, err := Acquire(dir)
	require.EqualError(t, err, filepath.Join(dir, LockName)+": expected the lock of the state directory, found what is no regular file: move it away")
}
