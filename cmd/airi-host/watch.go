package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/watch"
)

// watching keeps the plugins of the directories that run was given as their files are:
// one whose files change is reloaded, one that comes is started, one that goes is
// stopped. It is nil where that was not asked for; its methods do nothing then.
type watching struct {
	c       *cli
	h       *house
	st      *state
	watcher *watch.Watcher
	dirs    []string
	// begun closes once the host has started its plugins: before that nothing is done.
	begun chan struct{}
	once  sync.Once

	mu sync.Mutex
	// folders are those that hold plugins or mean to, by their real paths.
	folders map[string]*pluginFolder
	// refused are those in which a plugin has a name that another one has.
	refused map[*pluginFolder]bool
	// scans are the watches of the directories that are looked through for more.
	scans []*watch.Watch
}

// newWatching watches nothing yet. Its close must follow.
func (c *cli) newWatching(wanted bool, dirs []string) (*watching, error) {
	if !wanted {
		return nil, nil
	}
	log, err := c.logger()
	if err != nil {
		return nil, err
	}
	limits := c.settings.watch()
	limits.Log = log
	watcher, err := watch.New(limits)
	return &watching{
		c: c, watcher: watcher, dirs: dirs, begun: make(chan struct{}), folders: map[string]*pluginFolder{}, refused: map[*pluginFolder]bool{},
	}, err
}

// watch says when plugins whose files change are reloaded.
func (s *settings) watch() watch.Options {
	w := s.Watch
	return watch.Options{
		Debounce: w.Debounce, MaxWait: w.MaxWait, Directories: w.Directories, PerMinute: w.ReloadsPerMinute, Ignore: w.Ignore,
	}
}

// look watches the directories of a host, which is to run what was found in them.
func (w *watching) look(h *house, st *state, all []*manifest.Manifest, problems manifest.Problems) {
	if w == nil {
		return
	}
	w.h, w.st = h, st
	for _, given := range w.dirs {
		dir := absolute(given)
		if isManifest(dir) {
			w.enter(filepath.Dir(dir), dir, all)
			continue
		}
		for _, folder := range foldersIn(dir, manifest.Found{Manifests: all, Problems: problems}) {
			w.enter(folder, folder, all)
		}
		scan := w.watcher.Add(watch.Folder{Name: given, Path: dir, Shallow: true, Passive: true, Changed: func(ctx context.Context, _ string) {
			w.scan(ctx, dir)
		}})
		w.mu.Lock()
		w.scans = append(w.scans, scan)
		w.mu.Unlock()
	}
}

// begin follows what has changed since look, and from now on.
func (w *watching) begin() {
	if w != nil {
		w.once.Do(func() { close(w.begun) })
	}
}

// close follows nothing more, and waits for what is being done. It may be called again.
func (w *watching) close() {
	if w != nil && w.watcher != nil {
		_ = w.watcher.Close() // nothing is lost by it
	}
}

// mayAct waits until the host has started its plugins; it tells whether that was before
// the end.
func (w *watching) mayAct(ctx context.Context) bool {
	select {
	case <-w.begun:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// scan looks for folders of plugins that have come. What they hold is for their own
// watch: to look at all manifests again would run the code that some of them are.
func (w *watching) scan(ctx context.Context, dir string) {
	if !w.mayAct(ctx) {
		return
	}
	for _, folder := range foldersIn(dir, manifest.Discover([]string{dir}, w.c.manifests(false))) {
		if f := w.enter(folder, folder, nil); f != nil {
			f.watch.Touch()
		}
	}
}

// enter watches a folder of plugins, some of which the host knows; find is what leads to
// all of them. It returns nil if the folder is watched already.
func (w *watching) enter(folder, find string, known []*manifest.Manifest) *pluginFolder {
	f := &pluginFolder{watching: w, path: folder, find: find, key: realPath(find), plugins: map[string]string{}}
	for _, m := range known {
		if m.Dir == folder && (find == folder || m.File == find) {
			f.plugins[m.File] = m.PluginName()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.folders[f.key] != nil {
		return nil
	}
	w.folders[f.key] = f
	f.watch = w.watcher.Add(watch.Folder{Name: f.called(), Path: folder, Changed: f.changed})
	return f
}

// leave watches a folder no more. If it comes back, or has come back meanwhile, it is a
// new one.
func (w *watching) leave(f *pluginFolder) {
	w.mu.Lock()
	delete(w.folders, f.key)
	delete(w.refused, f)
	scans := slices.Clone(w.scans)
	w.mu.Unlock()
	f.watch.Remove()
	for _, scan := range scans {
		scan.Touch()
	}
}

// refuse remembers a folder until a name is given up.
func (w *watching) refuse(f *pluginFolder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused[f] = true
}

// retry has another look at the folders that were refused.
func (w *watching) retry() {
	w.mu.Lock()
	all := slices.Collect(maps.Keys(w.refused))
	clear(w.refused)
	w.mu.Unlock()
	for _, f := range all {
		f.watch.Touch()
	}
}

// foldersIn are the folders that hold what was found in a directory: itself, or
// sub-directories.
func foldersIn(dir string, found manifest.Found) (folders []string) {
	var files []string
	for _, m := range found.Manifests {
		files = append(files, m.File)
	}
	for _, p := range found.Problems {
		files = append(files, absolute(p.File))
	}
	for _, file := range files {
		rest, below := strings.CutPrefix(file, dir+string(filepath.Separator))
		if !below {
			continue
		}
		first, _, deeper := strings.Cut(rest, string(filepath.Separator))
		if !deeper {
			return []string{dir}
		}
		if folder := filepath.Join(dir, first); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}
