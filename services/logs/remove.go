package logs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove removes all files of a plugin that a directory has, however many there may be
// now, and returns how many went. A directory that is not there has none. Where a host
// keeps the logs, its Files do it.
func Remove(dir, plugin string) (files int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("the logs of plugin %s: %w", plugin, err)
	}
	base := baseName(plugin)
	var failed []error
	for _, e := range entries {
		if name := aFile.FindStringSubmatch(e.Name()); name == nil || name[1] != base || e.IsDir() {
			continue
		}
		switch err := os.Remove(filepath.Join(dir, e.Name())); {
		case err == nil:
			files++
		case !errors.Is(err, fs.ErrNotExist):
			failed = append(failed, err)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return files, fmt.Errorf("the logs of plugin %s: %w", plugin, err)
	}
	return files, nil
}

// removal asks the writer to remove the files of a plugin.
type removal struct {
	plugin string
	done   chan removed
}

// removed is what has come of it.
type removed struct {
	files int
	err   error
}

// Remove removes the files of a plugin, what waits to be written to them, and what is
// counted of it, and returns how many files went. What the plugin says later begins anew.
// It waits for the writer, until ctx ends.
func (f *Files) Remove(ctx context.Context, plugin string) (files int, err error) {
	m := removal{plugin, make(chan removed, 1)}
	select {
	case f.removals <- m:
	case <-f.done: // nobody writes any more
		return Remove(f.dir, plugin)
	case <-ctx.Done():
		return 0, f.unremoved(ctx, plugin)
	}
	select {
	case got := <-m.done:
		return got.files, got.err
	case <-ctx.Done():
		return 0, f.unremoved(ctx, plugin)
	}
}

func (f *Files) unremoved(ctx context.Context, plugin string) error {
	return fmt.Errorf("the logs of plugin %s in %s are not removed, the disk is slow: %w", plugin, f.dir, context.Cause(ctx))
}

// remove is for the writer: nothing is written meanwhile.
func (f *Files) remove(m removal) {
	f.mu.Lock()
	if p := f.pens[m.plugin]; p != nil {
		f.stats.Waiting -= len(p.lines)
		f.settle(p, nil)
		delete(f.pens, m.plugin)
	}
	f.mu.Unlock()
	files, err := Remove(f.dir, m.plugin)
	f.keepTotal(true)
	m.done <- removed{files, err}
}
