package process

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// childInfo is siginfo_t as waitid(2) fills it in. The kernel aligns what comes
// after the first three numbers like a pointer, and the whole is 128 bytes long.
type childInfo struct {
	signo, errno, code int32
	child              struct {
		_      [0]uintptr
		pid    int32
		uid    uint32
		status int32
	}
	_ [128]byte
}

// Values of childInfo.code.
const (
	childKilled = 2
	childDumped = 3
)

// awaitExit blocks until the process exits and tells how. It leaves the zombie,
// so that its number, and its group's, stay taken until reap.
func awaitExit(pid int) ending {
	var info childInfo
	for {
		err := unix.Waitid(unix.P_PID, pid, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return ending{err: fmt.Errorf("waitid: %w", err), reaped: true}
		}
		break
	}
	if info.code == childKilled || info.code == childDumped {
		return ending{signal: syscall.Signal(info.child.status)}
	}
	return ending{code: int(info.child.status)}
}
