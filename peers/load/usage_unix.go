//go:build unix

package load

import (
	"syscall"
	"time"
)

// CPU is the CPU time that this process has used, without its children.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for a bad argument alone
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
