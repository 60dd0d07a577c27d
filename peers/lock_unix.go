//go:build linux || darwin

package peers

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lockInterval is how often a lock that another process holds is tried again.
const lockInterval = 50 * time.Millisecond

// lock waits until this process alone holds the file. The lock ends with the process
// that holds it, however that ends, so that no file that is left behind means
// anything.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	again := time.NewTicker(lockInterval)
	defer again.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, context.Cause(ctx)
		case <-again.C:
		}
	}
}
