package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher looks at folders. Close must follow.
type Watcher struct {
	limits Options
	system *fsnotify.Watcher
	// add has the system watch a directory: system.Add, but in tests.
	add func(dir string) error
	// asks are carried out by the goroutine that all below belongs to.
	asks  chan func()
	life  context.Context
	end   context.CancelFunc
	ended chan struct{}
	// telling are those who are told.
	telling sync.WaitGroup

	trees map[*tree]bool
	// places are the directories that the system watches for us, by their real paths.
	places map[string]fs.FileInfo
	// nextLook is when stale trees may be looked at again.
	nextLook time.Time
}

// New makes a watcher of no folder. The error says what of the system's limits stands
// against it.
func New(o Options) (*Watcher, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching files: %w", explained(err))
	}
	life, end := context.WithCancel(context.Background())
	w := &Watcher{
		limits: o.withDefaults(), system: system, add: system.Add, asks: make(chan func()), life: life, end: end, ended: make(chan struct{}),
		trees: map[*tree]bool{}, places: map[string]fs.FileInfo{},
	}
	go w.run()
	return w, nil
}

// Watch is a folder that a watcher looks at.
type Watch struct {
	watcher *Watcher
	tree    *tree
}

// Add looks at a folder from now on. There may be several of one path.
func (w *Watcher) Add(f Folder) *Watch {
	t := &tree{Folder: f, pace: pace{Options: w.limits}}
	if path, err := filepath.Abs(f.Path); err == nil {
		t.Path = path
	}
	if f.Passive {
		t.pace.PerMinute = math.MaxInt
	}
	t.life, t.giveUp = context.WithCancel(w.life)
	w.do(func() {
		w.trees[t] = true
		w.look(time.Now(), t)
	})
	return &Watch{w, t}
}

// Touch has the folder change.
func (x *Watch) Touch() {
	x.watcher.do(func() {
		if x.watcher.trees[x.tree] {
			x.tree.stale = true
			x.watcher.change(x.tree, x.tree.Path, time.Now())
		}
	})
}

// Remove looks at the folder no more, and ends the context of who is told.
func (x *Watch) Remove() {
	x.tree.giveUp()
	x.watcher.do(func() {
		delete(x.watcher.trees, x.tree)
		x.watcher.tidy()
	})
}

// Close looks at nothing more, and returns when nobody is told any more. It may be called
// again.
func (w *Watcher) Close() error {
	w.end()
	<-w.ended
	w.telling.Wait()
	return w.system.Close()
}

// do has something done by the goroutine that all belongs to; after the end, by nobody.
func (w *Watcher) do(what func()) {
	done := make(chan struct{})
	select {
	case w.asks <- func() { defer close(done); what() }:
		<-done
	case <-w.ended:
	}
}

func (w *Watcher) run() {
	defer close(w.ended)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.life.Done():
			return
		case what := <-w.asks:
			what()
		case e := <-w.system.Events:
			w.heard(e, time.Now())
		case err := <-w.system.Errors:
			w.lost(err, time.Now())
		case <-timer.C:
		}
		timer.Reset(w.turn(time.Now()))
	}
}

// heard notes what an event of the system's changes.
func (w *Watcher) heard(e fsnotify.Event, now time.Time) {
	comesOrGoes := e.Has(fsnotify.Create) || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	if !comesOrGoes && !e.Has(fsnotify.Write) {
		return
	}
	dir, name := filepath.Dir(e.Name), filepath.Base(e.Name)
	ignored := w.limits.ignored(name) // node_modules is not: that it is there now may be what was missing
	for t := range w.trees {
		switch {
		case comesOrGoes && (t.anchors[dir][name] || t.anchors[e.Name] != nil || t.dirs[e.Name]):
		case t.dirs[dir] && !ignored:
		default:
			continue
		}
		t.stale = t.stale || comesOrGoes
		w.change(t, e.Name, now)
	}
}

// lost takes an error: events may be missing.
func (w *Watcher) lost(err error, now time.Time) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.limits.Log.Warn("what changes may not be seen", "error", explained(err))
	}
	for t := range w.trees {
		t.stale = true
		w.change(t, t.Path, now)
	}
}

func (w *Watcher) change(t *tree, file string, now time.Time) {
	t.file = file
	if t.pace.change(now) {
		w.limits.Log.Warn("files change again whenever their change was told: it is told once a minute from now on, until nothing changes for two; have them written elsewhere, or list their names in watch.ignore of the settings",
			"plugin", t.Name, "file", file, "per_minute", w.limits.PerMinute)
	}
}

// turn looks at what is stale and tells what is due; it returns how long there is
// nothing to do then.
func (w *Watcher) turn(now time.Time) time.Duration {
	var stale, due []*tree
	hasty := false // so that what changes while it is told is seen
	next := now.Add(time.Hour)
	for t := range w.trees {
		at := t.pace.due()
		isDue := !at.IsZero() && !at.After(now)
		switch {
		case isDue:
			due = append(due, t)
		case !at.IsZero() && at.Before(next):
			next = at
		}
		if t.stale {
			stale = append(stale, t)
			hasty = hasty || isDue
		}
	}
	switch { // all at once, since one may have what another has lost
	case len(stale) == 0:
	case hasty || !now.Before(w.nextLook):
		w.look(now, stale...)
	case w.nextLook.Before(next):
		next = w.nextLook
	}
	for _, t := range due {
		w.tell(t, now)
	}
	return max(time.Until(next), 0)
}

func (w *Watcher) tell(t *tree, now time.Time) {
	t.pace.begin(now)
	file := t.file
	w.telling.Go(func() {
		defer w.do(t.pace.end)
		t.Changed(t.life, file)
	})
}
