package evaluate

import "syscall"

// ownGroup starts a process in a group of its own, which ends with the host.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
