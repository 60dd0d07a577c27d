package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// proc is one process as /proc shows it.
type proc struct {
	pid, parent, group int
	state              byte
	start              uint64 // clock ticks since the machine started
	cpu                uint64 // clock ticks spent, without those of its children
}

// dead tells that nothing of the process runs. A zombie counts as dead: in a
// container nobody may ever reap it.
func (p proc) dead() bool { return p.state == 'Z' || p.state == 'X' }

// snapshot reads all processes. They come and go meanwhile: one that was born after
// its beginning may be missing. It takes some 8 ms where there are 1000.
func snapshot() []proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	all := make([]proc, 0, len(names))
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProc(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// Where the fields of /proc/PID/stat are that we want, counted behind the name.
const (
	statState  = 0
	statParent = 1
	statGroup  = 2
	statUser   = 11
	statSystem = 12
	statStart  = 19
	statFields = 20
)

// readProc reads one process, from "pid (name) state parent group …". The name may
// hold anything.
func readProc(pid int) (proc, bool) {
	var buf [1024]byte // four times what the fields take
	stat := readInto(buf[:], "/proc/"+strconv.Itoa(pid)+"/stat")
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < statFields {
		return proc{}, false
	}
	number := func(i int) uint64 {
		n, _ := strconv.ParseUint(string(fields[i]), 10, 64)
		return n
	}
	return proc{
		pid:    pid,
		parent: int(number(statParent)),
		group:  int(number(statGroup)),
		state:  fields[statState][0],
		start:  number(statStart),
		cpu:    number(statUser) + number(statSystem),
	}, true
}

// readSmall reads up to 4 KiB of a file that the kernel makes up.
func readSmall(path string) []byte { return readInto(make([]byte, 4096), path) }

// readInto reads what fits at once, with half of the system calls of os.ReadFile.
func readInto(buf []byte, path string) []byte {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = syscall.Close(fd) }()
	n, _ := syscall.Read(fd, buf)
	return buf[:max(n, 0)]
}

// environOf reads with which environment a process was started; nil for another
// user's, for one that is dead, and for a thread of the kernel.
func environOf(pid int) [][]byte {
	environ, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return bytes.Split(environ, []byte{0})
}

// ownIdentity names this process. It is asked for at every start and never changes.
var ownIdentity = sync.OnceValue(func() identity {
	self, _ := readProc(os.Getpid())
	return identity{space: ownSpace(), pid: self.pid, start: self.start}
})

// ownSpace is the number of the namespace that this process's number is of.
func ownSpace() uint64 {
	link, _ := os.Readlink("/proc/self/ns/pid")
	digits := strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]")
	space, _ := strconv.ParseUint(digits, 10, 64)
	return space
}

// lives tells whether the process may still be there. One of another namespace
// cannot be judged from here, so that it may.
func (i identity) lives() bool {
	if i.space != ownIdentity().space {
		return true
	}
	p, ok := readProc(i.pid)
	return ok && p.start == i.start && !p.dead()
}

// is tells whether the number still stands for the same process.
func (p proc) is() bool {
	now, ok := readProc(p.pid)
	return ok && now.start == p.start
}

// handle calls act with a descriptor of a process, if it is the one that proof says.
// The descriptor is taken before the proof, so that it cannot be of another one
// that was given the number since.
func handle(pid int, proof func() bool, act func(fd int)) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if proof() {
		act(fd)
	}
}

// signalProc signals a process that is proven to be a worker's.
func signalProc(pid int, sig syscall.Signal, proof func() bool) {
	handle(pid, proof, func(fd int) { _ = unix.PidfdSendSignal(fd, sig, nil, 0) })
}
