package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// newPipe makes a pipe that no other child inherits.
func newPipe() (r, w int, err error) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return -1, -1, os.NewSyscallError("pipe2", err)
	}
	return p[0], p[1], nil
}

// enlarge makes a pipe hold pipeSize bytes. When the user's share of pipe memory
// is used up it stays as it is, which costs speed only.
func enlarge(fd int) {
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize)
}
