package process

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// wire is the host's reading end of the pipe that carries records.
//
// It waits with poll(2) in the reading goroutine. A thread blocks for that, and
// in return a lone answer wakes the reader directly instead of by way of the
// runtime's poller, which is half of what a call costs. Because a blocked thread
// cannot be freed by closing the descriptor under it, poll watches a second pipe,
// whose other end is closed to wake the reader.
type wire struct {
	fd, wakeRead int

	// Owned by the reading goroutine.
	drained bool // the last read took all there was: wait before the next
	yielded bool // others have had the processor since bytes arrived last
	budget  int  // how many bytes may still be read once given up

	givenUp atomic.Bool  // no more waiting
	last    atomic.Int64 // when bytes last arrived, Unix nanoseconds

	mu      sync.Mutex
	wakeEnd int // -1 once closed
	users   int // who uses the descriptors at this moment
	closed  bool
	freed   bool
}

func newWire(fd, wakeRead, wakeEnd int) *wire {
	return &wire{fd: fd, wakeRead: wakeRead, wakeEnd: wakeEnd, budget: pipeSize}
}

// Read returns what has arrived and waits if nothing has. After interrupt it
// does not wait: it still returns what a pipe can hold, and then io.EOF. One
// goroutine calls it.
func (w *wire) Read(p []byte) (int, error) {
	if !w.acquire() {
		return 0, os.ErrClosed
	}
	defer w.release()
	for {
		if err := w.wait(); err != nil {
			return 0, err
		}
		givenUp := w.givenUp.Load()
		n, err := syscall.Read(w.fd, p)
		switch {
		case n > 0:
			w.arrived(n, len(p))
			return n, nil
		case err == nil:
			return 0, io.EOF
		case errors.Is(err, syscall.EAGAIN):
			if givenUp {
				return 0, io.EOF
			}
			w.drained = true
		case !errors.Is(err, syscall.EINTR):
			return 0, os.NewSyscallError("read", err)
		}
	}
}

// arrived notes a read of n bytes. One that did not fill its room took all there
// was.
func (w *wire) arrived(n, room int) {
	w.drained, w.yielded = n < room, false
	w.last.Store(time.Now().UnixNano())
	if w.givenUp.Load() {
		w.budget -= n
	}
}

// wait returns when a read would not block, or must not be waited for.
func (w *wire) wait() error {
	switch {
	case w.givenUp.Load():
		if w.budget <= 0 {
			return io.EOF
		}
		return nil
	case !w.drained:
		return nil
	}
	w.drained = false
	if !w.yielded {
		w.yield()
		return nil
	}
	fds := [...]unix.PollFd{
		{Fd: int32(w.fd), Events: unix.POLLIN},
		{Fd: int32(w.wakeRead), Events: unix.POLLIN},
	}
	if _, err := unix.Poll(fds[:], -1); err != nil && !errors.Is(err, syscall.EINTR) {
		return os.NewSyscallError("poll", err)
	}
	return nil
}

// yield lets those run first whom the last read has woken: a thread that blocks in
// poll(2) keeps its processor until the runtime takes it away, and they would be moved
// to another one, which costs more than all else when many calls are in flight.
func (w *wire) yield() {
	w.yielded = true
	runtime.Gosched()
}

// ready waits until a read would return at once, or for d, rounded up to
// milliseconds, and tells whether it would. Signals do not shorten the wait; the first one
// begins it anew.
func (w *wire) ready(d time.Duration) bool {
	if !w.acquire() {
		return true
	}
	defer w.release()
	fds := [...]unix.PollFd{
		{Fd: int32(w.fd), Events: unix.POLLIN},
		{Fd: int32(w.wakeRead), Events: unix.POLLIN},
	}
	watched := fds[:]
	if d <= shortWait {
		watched = fds[:1]
	}
	var deadline time.Time // is zero while there was no signal, since it costs to look at the clock
	for left := d; !w.givenUp.Load(); left = time.Until(deadline) {
		const up = time.Millisecond - 1
		n, err := unix.Poll(watched, int((max(left, 0)+up)/time.Millisecond))
		if !errors.Is(err, syscall.EINTR) {
			w.drained = n == 0 || err != nil
			return !w.drained
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(d)
		}
	}
	return true
}

// shortWait is how long a wait may be that nobody ends by waking the reader: its end is near,
// and to watch a second pipe costs a tenth of a call.
const shortWait = 2 * time.Millisecond

// held tells whether somebody still has the worker's end of the pipe. It waits
// until nobody has, or for d.
func (w *wire) held(d time.Duration) bool {
	if !w.acquire() {
		return false
	}
	defer w.release()
	return held(w.fd, d)
}

// held waits until nobody has the other end of fd, or for d, and tells whether
// somebody has. Bytes that wait in the pipe do not matter.
func held(fd int, d time.Duration) bool {
	deadline := time.Now().Add(d)
	for {
		fds := [...]unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds[:], int(max(time.Until(deadline), 0).Milliseconds()))
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		return err == nil && n == 0
	}
}

// lastRead is when bytes last arrived.
func (w *wire) lastRead() time.Time { return time.Unix(0, w.last.Load()) }

// interrupt makes Read return what is there and then io.EOF, although somebody
// may still hold the worker's end.
func (w *wire) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake()
}

// wake ends the poll of a reader, for good.
func (w *wire) wake() {
	w.givenUp.Store(true)
	if w.wakeEnd >= 0 {
		_ = syscall.Close(w.wakeEnd)
		w.wakeEnd = -1
	}
}

// close frees a blocked Read and gives the descriptors back, at once or as soon
// as nobody uses them.
func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.wake()
	w.free()
}

func (w *wire) acquire() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.users++
	return true
}

func (w *wire) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users--
	w.free()
}

func (w *wire) free() {
	if !w.closed || w.freed || w.users > 0 {
		return
	}
	w.freed = true
	_ = syscall.Close(w.fd)
	_ = syscall.Close(w.wakeRead)
}
