//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// newPipe makes a pipe that no other child inherits: nobody forks meanwhile.
func newPipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		return -1, -1, os.NewSyscallError("pipe", err)
	}
	syscall.CloseOnExec(p[0])
	syscall.CloseOnExec(p[1])
	return p[0], p[1], nil
}

// enlarge does nothing: pipes grow by themselves here.
func enlarge(int) {}
