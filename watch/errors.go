package watch

import (
	"errors"
	"fmt"
	"syscall"
)

// explained says what to do about an error of the system's.
func explained(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the system lets this user watch no more directories (%w): raise fs.inotify.max_user_watches, e.g. with 'sysctl -w fs.inotify.max_user_watches=524288'", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("the system lets this user have no more watchers, or open no more files (%w): raise fs.inotify.max_user_instances, e.g. with 'sysctl -w fs.inotify.max_user_instances=512', or 'ulimit -n'", err)
	}
	return err
}
