package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
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

// members returns the live processes of a group, as far as /proc shows them.
// Zombies do not count: in a container nobody may ever reap them.
func members(pgid int) []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = proc.Close() }()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if group, alive := groupOf(pid); alive && group == pgid {
			pids = append(pids, pid)
		}
	}
	return pids
}

// groupOf reads the group of a process, and whether it is more than a zombie,
// from "pid (name) state parent group …". The name may hold anything.
func groupOf(pid int) (group int, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return 0, false
	}
	group, err = strconv.Atoi(string(fields[2]))
	state := fields[0][0]
	return group, err == nil && state != 'Z' && state != 'X'
}
