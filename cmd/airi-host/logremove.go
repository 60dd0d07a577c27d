package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/services/logs"
	"github.com/airi-host/airi-host/services/store"
)

// removedLogs counts log files among what was removed of a plugin.
const removedLogs = "logFiles"

// logRemover removes the log files of a plugin, and returns how many there were.
type logRemover func(ctx context.Context, plugin string) (int, error)

// logDir is where plugins' logs are kept.
func (c *cli) logDir(st *state) string { return logDirOf(c.settings, st.dir) }

// logDirOf is logDir of a host with settings and a state directory.
func logDirOf(s *settings, dir string) string {
	if s.Logs.Dir != "" {
		return s.Logs.Dir
	}
	return filepath.Join(dir, logFolder)
}

// logRemover is how log files are removed: by whoever writes them, where somebody does;
// also where none are kept any more.
func (c *cli) logRemover(kept *logFiles, st *state) logRemover {
	if kept != nil {
		return kept.remove
	}
	return func(_ context.Context, plugin string) (files int, err error) {
		dir := c.logDir(st)
		if c.settings.Logs.Dir != "" { // the state's lock is not that of another directory
			lock, err := store.Acquire(dir)
			if err != nil {
				return 0, ofLogDir(err)
			}
			defer func() { err = errors.Join(err, lock.Release()) }()
		}
		return logs.Remove(dir, plugin)
	}
}

// remove removes the files of a plugin that has stopped, once all that it said is written:
// else its last words would be the first of a new file.
func (k *logFiles) remove(ctx context.Context, plugin string) (int, error) {
	k.host.Subscribe(actors.KindLog, 1).Close() // what was said before is handed on by then
	done := make(chan struct{})
	select {
	case k.caughtUp <- done:
		<-done
	case <-k.pumped:
	}
	return k.Remove(ctx, plugin)
}
