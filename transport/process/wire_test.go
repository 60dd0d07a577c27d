//go:build linux

package process

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// openWire returns a wire and the descriptor that writes to it.
func openWire(t *testing.T) (*wire, int) {
	t.Helper()
	before := descriptors(t)
	r, w, err := newPipe()
	require.NoError(t, err)
	enlarge(r)
	require.NoError(t, syscall.SetNonblock(r, true))
	wakeRead, wakeEnd, err := newPipe()
	require.NoError(t, err)
	end := newWire(r, wakeRead, wakeEnd)
	t.Cleanup(func() {
		end.close()
		_ = syscall.Close(w)
		require.Equal(t, before, descriptors(t))
	})
	return end, w
}

func write(t *testing.T, fd int, p []byte) {
	t.Helper()
	n, err := syscall.Write(fd, p)
	require.NoError(t, err)
	require.Equal(t, len(p), n)
}

func TestWire_readsToTheEnd(t *testing.T) {
	end, w := openWire(t)
	got := make(chan []byte)
	go func() {
		all, err := io.ReadAll(end)
		if err != nil {
			t.Error(err)
		}
		got <- all
	}()
	for range 100 {
		write(t, w, []byte("piece"))
	}
	require.NoError(t, syscall.Close(w))
	require.Equal(t, bytes.Repeat([]byte("piece"), 100), <-got)
}

func TestWire_othersRunBeforeItBlocks(t *testing.T) {
	end, w := openWire(t)
	write(t, w, []byte("piece"))
	buffer := make([]byte, 100)
	n, err := end.Read(buffer)
	require.NoError(t, err)
	require.Equal(t, "piece", string(buffer[:n]))
	require.True(t, end.drained)
	require.NoError(t, end.wait(), "it gives way, and does not wait yet")
	require.True(t, end.yielded)

	over := make(chan error)
	go func() {
		end.drained = true
		over <- end.wait()
	}()
	select {
	case err := <-over:
		t.Fatal("nothing had arrived", err)
	default:
	}
	write(t, w, []byte("more"))
	require.NoError(t, <-over)
	_, err = end.Read(buffer)
	require.NoError(t, err)
	require.False(t, end.yielded, "once for each read")
}

func TestWire_signalsDoNotShortenAWait(t *testing.T) {
	end, w := openWire(t)
	var waits atomic.Bool
	waits.Store(true)
	thread, over := make(chan int), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread <- unix.Gettid()
		const limit = 30 * time.Millisecond
		began := time.Now()
		if end.ready(limit) || time.Since(began) < limit {
			t.Error("it did not wait", time.Since(began))
		}
		waits.Store(false)
		close(over)
	}()
	for waiting := <-thread; waits.Load(); runtime.Gosched() {
		if err := unix.Tgkill(os.Getpid(), waiting, unix.SIGURG); err != nil { // which the runtime ignores
			t.Error(err)
		}
	}
	<-over
	write(t, w, []byte("more"))
	require.True(t, end.ready(0))
}

func TestWire_closeFreesARead(t *testing.T) {
	end, _ := openWire(t)
	freed := make(chan error)
	go func() {
		_, err := end.Read(make([]byte, 1))
		freed <- err
	}()
	end.close()
	require.Error(t, <-freed)
	_, err := end.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrClosed)
	end.close()
	require.False(t, end.held(0))
}

func TestWire_interruptLeavesWhatHadArrived(t *testing.T) {
	end, w := openWire(t)
	write(t, w, bytes.Repeat([]byte{'x'}, 100<<10))
	end.interrupt()
	all, err := io.ReadAll(end)
	require.NoError(t, err)
	require.Len(t, all, 100<<10)
}

func TestWire_interruptEndsAFlood(t *testing.T) {
	end, w := openWire(t)
	end.interrupt()
	piece := bytes.Repeat([]byte{'x'}, 4096)
	var got int
	for range 1000 {
		write(t, w, piece)
		n, err := end.Read(make([]byte, len(piece)))
		if err != nil {
			require.Equal(t, io.EOF, err)
			break
		}
		got += n
	}
	require.Equal(t, pipeSize, got, "as much as a pipe holds, and no more")
}

func TestWire_heldUntilNobodyHasTheOtherEnd(t *testing.T) {
	end, w := openWire(t)
	write(t, w, []byte("unread"))
	require.True(t, end.held(0))
	other, err := syscall.Dup(w)
	require.NoError(t, err)
	require.NoError(t, syscall.Close(w))
	require.True(t, end.held(5*time.Millisecond))
	require.NoError(t, syscall.Close(other))
	require.False(t, end.held(soon), "although something is unread")
}
