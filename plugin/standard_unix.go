//go:build unix

package plugin

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// pollable returns a pipe or a socket in a form whose reader leaves its thread to
// others while it waits, and can be closed under it: os.Stdin holds on to a thread,
// and a lone call would have to wait until another one wakes up. Other files, a
// terminal above all, are shared with programs that want them as they are.
func pollable(f *os.File) io.ReadCloser {
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return f
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return f
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd) // it was not used
		return f
	}
	return &polled{os.NewFile(uintptr(fd), f.Name()), f}
}

// polled is a file and the one that it was made of.
type polled struct {
	*os.File
	origin *os.File
}

// Close closes both, so that the other end of a pipe learns of it.
func (p *polled) Close() error { return errors.Join(p.File.Close(), p.origin.Close()) }
