package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// The keeper's descriptors beside those of its command.
const (
	lifeFD   = 3
	reportFD = 4
)

// keep runs a command, and ends when nothing is left that descends from it.
//
//	worker ── keeper ── command ── whatever it starts
//	   └─pipe───┘
//
// What loses its parent falls to the keeper, however often it has forked and whatever
// session it has made: the keeper is their reaper. So when it has no child there is
// nobody. It kills what is left when the command has ended, and all when the pipe has:
// the worker wants it so, or is dead.
func keep(terminal bool, command []string) int {
	is := ended{Error: "no command"}
	if len(command) > 0 {
		is = run(terminal, command)
	}
	report, _ := json.Marshal(is) // numbers and strings
	_, _ = os.NewFile(reportFD, "report").Write(report)
	return 0
}

func run(terminal bool, command []string) ended {
	unix.CloseOnExec(lifeFD)
	unix.CloseOnExec(reportFD)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return ended{Error: "prctl: " + err.Error()}
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return ended{Error: err.Error()}
	}
	pid, err := syscall.ForkExec(path, command, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: terminal},
	})
	if err != nil {
		return ended{Error: command[0] + ": " + err.Error()}
	}
	k := &keeper{pid: pid}
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(lifeFD, "life"))
		k.end()
	}()
	return k.reap()
}

// keeper is the one process that is left when its command has ended.
type keeper struct {
	// pid is the command.
	pid int

	// mu is held while a child is reaped, so that none is signaled that has been: its number
	// may be another's.
	mu sync.Mutex
	// over tells that whoever is left has to go.
	over bool
	is   ended
}

// end kills whoever is left.
func (k *keeper) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	killChildren()
}

// reap waits until there is no child. Whoever dies may have left children to the keeper, so
// that these are looked for each time.
func (k *keeper) reap() ended {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD
			return k.is
		default:
			k.reapOne()
		}
	}
}

func (k *keeper) reapOne() {
	k.mu.Lock()
	defer k.mu.Unlock()
	var status syscall.WaitStatus
	dead, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if err != nil {
		return // the next Waitid says the same
	}
	if dead == k.pid {
		k.over = true
		if k.is.Code = status.ExitStatus(); status.Signaled() {
			k.is = ended{Signal: unix.SignalName(status.Signal())}
		}
	}
	if k.over {
		killChildren()
	}
}

// killChildren kills those whose parent the keeper is.
func killChildren() {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		// Behind the program's name, which may hold anything: its state and its parent.
		fields := strings.Fields(string(stat[max(strings.LastIndexByte(string(stat), ')'), 0):]))
		if len(fields) > 2 && fields[2] == strconv.Itoa(os.Getpid()) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it is a child that nobody else reaps
		}
	}
}
