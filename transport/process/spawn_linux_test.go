package process

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpawner_forksFromOneThread(t *testing.T) {
	var s spawner
	var mu sync.Mutex
	threads := map[int]bool{}
	var group sync.WaitGroup
	first, err := s.fork(func() (int, error) { return syscall.Gettid(), nil })
	require.NoError(t, err)
	for range 16 {
		group.Go(func() {
			tid, err := s.fork(func() (int, error) { return syscall.Gettid(), nil })
			mu.Lock()
			defer mu.Unlock()
			threads[tid] = err == nil
		})
	}
	group.Wait()
	require.Equal(t, map[int]bool{first: true}, threads)
	for range 17 {
		s.release()
	}
	require.Nil(t, s.jobs, "without workers there is no goroutine")
}

func TestSpawner_aForkThatFailsCountsForNothing(t *testing.T) {
	var s spawner
	_, err := s.fork(func() (int, error) { return 0, errors.New("no") })
	require.Error(t, err)
	require.Zero(t, s.users)
}

func TestSpawner_workersDieWithTheirHost(t *testing.T) {
	w := start(t, "host")
	record, err := w.Recv()
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(record))
	require.NoError(t, err)
	require.Equal(t, pid, mustGetpgid(t, pid), "a group of its own, so that no signal to the host's reaches it")
	require.NoError(t, syscall.Kill(w.Pid(), syscall.SIGKILL))
	w.wantDone(soon)
	eventually(t, "the worker dies with its host", func() bool { return !runs(pid) })
}

func mustGetpgid(t *testing.T, pid int) int {
	t.Helper()
	group, err := syscall.Getpgid(pid)
	require.NoError(t, err)
	return group
}

// A thread ends with a goroutine that is locked to it. Had it forked the worker,
// the kernel would kill the worker now.
func TestSpawner_workersOutliveTheThreadThatStartedThem(t *testing.T) {
	s := spec(t, "echo")
	var p *Process
	var err error
	thread := onThreadThatEnds(func() { p, err = Start(s) })
	require.NoError(t, err)
	w := &worker{Process: p, t: t}
	t.Cleanup(func() {
		require.NoError(t, w.Close())
		wantNothingLeft(t, s.Env)
	})
	eventually(t, "the thread ends", func() bool {
		_, err := os.Stat("/proc/self/task/" + strconv.Itoa(thread))
		return err != nil
	})
	w.wantEcho("alive")
}

// onThreadThatEnds runs f on a thread that ends then, and names it. The main thread
// never does: it is kept busy while a goroutine is started on another one.
func onThreadThatEnds(f func()) (thread int) {
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		if syscall.Gettid() == syscall.Getpid() {
			thread = onThreadThatEnds(f)
			runtime.UnlockOSThread()
		} else {
			thread = syscall.Gettid()
			f()
		}
		close(done)
	}()
	<-done
	return thread
}
