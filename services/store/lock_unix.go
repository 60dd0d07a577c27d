//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package store

import (
	"errors"
	"os"
	"syscall"
)

// flock locks an open file; held tells that somebody else has it. Programs that the
// process starts do not inherit it: Go opens files so that they are closed in them.
func flock(file *os.File) (held bool, err error) {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return true, nil
		}
		return false, err
	}
}

// ended tells that the process that is named as a lock's holder is no more.
func ended(h Holder) bool { return h.PID > 0 && errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) }
