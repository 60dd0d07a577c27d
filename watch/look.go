package watch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// restless is how long to wait between two looks at what comes and goes, at least, and
// how many times what the last look took.
const (
	restless = 20 * time.Millisecond
	share    = 5
)

// look finds out which directories belong to trees by now, and has the system watch
// those and no others.
func (w *Watcher) look(now time.Time, list ...*tree) {
	for _, t := range list {
		w.forget(t)
	}
	for _, t := range list {
		w.enter(t)
	}
	w.tidy()
	took := time.Since(now)
	w.nextLook = time.Now().Add(restless + share*took)
}

// forget ends the watch over what is not there any more, or is another directory. It goes
// before what is new: the system knows a directory by one name only, the first.
func (w *Watcher) forget(t *tree) {
	for _, dir := range t.watched() {
		known := w.places[dir]
		if known == nil {
			continue
		}
		if now, err := os.Lstat(dir); err != nil || !os.SameFile(known, now) {
			w.leave(dir)
		}
	}
}

// watched are the directories that a tree needs.
func (t *tree) watched() []string {
	list := make([]string, 0, len(t.anchors)+len(t.dirs))
	for dir := range t.anchors {
		list = append(list, dir)
	}
	for dir := range t.dirs {
		list = append(list, dir)
	}
	return list
}

func (w *Watcher) leave(dir string) {
	_ = w.system.Remove(dir) // the system may have left it before
	delete(w.places, dir)
}

// enter watches a tree, from the top. A directory is watched before it is listed, so
// that nothing comes into it unseen.
func (w *Watcher) enter(t *tree) {
	target, anchors := locate(t.Path)
	t.anchors, t.dirs, t.stale = anchors, map[string]bool{}, false
	before := t.left
	t.left = 0
	var refusal error
	place := func(dir string) bool {
		err := w.place(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // else it has gone, which will be told
			t.left++
			refusal = cmp.Or(refusal, fmt.Errorf("%s: %w", dir, explained(err)))
		}
		return err == nil
	}
	for dir := range anchors {
		place(dir)
	}
	level := []string{target}
	if target == "" || !isDirectory(target) {
		level = nil
	}
	for depth := 0; len(level) > 0; depth++ {
		var below []string
		for _, dir := range level {
			if t.dirs[dir] || !place(dir) {
				continue
			}
			t.dirs[dir] = true
			if !t.Shallow || depth == 0 {
				below = append(below, t.subdirectories(dir)...)
			}
		}
		level = below
	}
	if t.left > 0 && before == 0 {
		w.limits.Log.Warn("not all directories are watched: what changes in the others is not seen", "plugin", t.Name, "left_out", t.left, "error", refusal)
	}
}

// place has the system watch a directory, also where it does so: it may have been
// another one of that name.
func (w *Watcher) place(dir string) error {
	if w.places[dir] == nil && len(w.places) >= w.limits.Directories {
		return fmt.Errorf("%d directories are watched, and no more may be: raise watch.directories in the settings, or list names that need not be in watch.ignore", len(w.places))
	}
	if err := w.add(dir); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		w.leave(dir)
		return err
	}
	w.places[dir] = info
	return nil
}

// tidy ends the watch over what no tree needs any more.
func (w *Watcher) tidy() {
	needed := map[string]bool{}
	for t := range w.trees {
		for _, dir := range t.watched() {
			needed[dir] = true
		}
	}
	for dir := range w.places {
		if !needed[dir] {
			w.leave(dir)
		}
	}
}
