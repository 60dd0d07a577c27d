package main

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/watch"
)

// pluginFolder is a folder whose files belong to plugins. One at a time may use it.
type pluginFolder struct {
	*watching
	path string
	// find is what leads to its manifests: the folder, or one of them. key is its real
	// path, which tells folders apart.
	find, key string
	// plugins are the names of those that were found in it, by their manifests.
	plugins map[string]string
	watch   *watch.Watch
}

// called is what it is called in the log.
func (f *pluginFolder) called() string {
	if names := slices.Sorted(maps.Values(f.plugins)); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	return filepath.Base(f.path)
}

// changed follows a change of the folder: file is what has changed last.
func (f *pluginFolder) changed(ctx context.Context, file string) {
	if !f.mayAct(ctx) {
		return
	}
	for _, gone := range slices.Sorted(maps.Keys(f.plugins)) {
		if isGone(gone) {
			f.stop(ctx, gone, gone+" is gone; it is started again when that is back")
		}
	}
	found := f.read(ctx)
	if ctx.Err() != nil {
		return
	}
	for _, m := range found.Manifests {
		f.follow(ctx, m, file)
	}
	if f.find == f.path && len(found.Manifests) == 0 && len(found.Problems) == 0 && len(f.plugins) == 0 {
		f.leave(f)
	}
}

// read reads the manifests that are there by now, and tells what is wrong with them: the
// plugins of those go on.
func (f *pluginFolder) read(ctx context.Context) manifest.Found {
	opts := f.c.manifests(true)
	opts.Evaluate = func(_ context.Context, module string) ([]byte, error) { return f.c.modules.Evaluate(ctx, module) }
	found := manifest.Discover([]string{f.find}, opts)
	found.Manifests = slices.DeleteFunc(found.Manifests, func(m *manifest.Manifest) bool { return m.Dir != f.path })
	found.Problems = slices.DeleteFunc(found.Problems, func(p manifest.Problem) bool { return p.File == f.find && (f.find == f.path || isGone(f.find)) })
	if ctx.Err() != nil || len(found.Problems) == 0 {
		return found
	}
	f.c.printProblems(found.Problems)
	for _, file := range slices.Sorted(maps.Keys(f.plugins)) {
		if !slices.ContainsFunc(found.Manifests, func(m *manifest.Manifest) bool { return m.File == file }) {
			f.tell(watchLine{Plugin: f.plugins[file], Action: actionKept, File: file, Reason: "its manifest has problems"})
		}
	}
	return found
}

// follow brings the plugin of a manifest to where its files are.
func (f *pluginFolder) follow(ctx context.Context, m *manifest.Manifest, file string) {
	name, before := m.PluginName(), f.plugins[m.File]
	if before != "" && before != name {
		f.stop(ctx, m.File, m.File+" is the manifest of "+name+" now")
		before = ""
	}
	if other := f.h.roster.get(name); other != nil && other.File != m.File && !isGone(other.File) {
		f.refuse(f)
		f.tell(watchLine{Plugin: name, Action: actionKept, File: m.File, Reason: "the name is taken by " + other.File + ": a name is unique in a host, change one of them"})
		return
	}
	if f.st.disabled.has(name) {
		f.h.roster.put(m)
		f.plugins[m.File] = name
		if before == "" {
			f.c.printDisabled([]string{name})
		}
		return
	}
	done, info, err := f.h.renew(ctx, m, before == "")
	if done == "" || err != nil && (ctx.Err() != nil || f.st.disabled.has(name)) {
		return // somebody has stopped it, or the host stops
	}
	f.plugins[m.File] = name
	f.tell(outcomeOf(done, info, err, m, f.short(file)))
	if info.ID == "" { // it never came to be: the next change begins anew
		delete(f.plugins, m.File)
	}
}

// stop stops the plugin of a manifest that is no longer its, and forgets it.
func (f *pluginFolder) stop(ctx context.Context, file, why string) {
	name := f.plugins[file]
	stopped, err := f.h.retire(ctx, name, file)
	switch {
	case stopped:
		f.tell(watchLine{Plugin: name, Action: actionStopped, File: file, Reason: why})
	case err != nil && ctx.Err() == nil: // else the host stops
		f.tell(watchLine{Plugin: name, Action: actionKept, File: file, Reason: "it could not be stopped: " + err.Error()})
	}
	if err == nil {
		delete(f.plugins, file)
		f.retry()
	}
}

// short is a file's name as seen from the folder.
func (f *pluginFolder) short(file string) string {
	if rel, err := filepath.Rel(realPath(f.path), file); err == nil && filepath.IsLocal(rel) && rel != "." {
		return rel
	}
	return file
}

// renew starts a plugin whose manifest is this one by now, or starts it anew, and says
// which. One that somebody has stopped stays so: done is "" then.
func (h *house) renew(ctx context.Context, m *manifest.Manifest, isNew bool) (done string, info actors.SessionInfo, err error) {
	name := m.PluginName()
	release, err := h.roster.hold(ctx, name)
	if err != nil {
		return actionFailed, info, err
	}
	defer release()
	h.roster.put(m)
	now, stands := h.standing(name)
	switch {
	case stands:
		h.roster.see(m)
		info, err = h.again(ctx, m, now.ID)
		return actionReloaded, info, err
	case isNew:
		h.roster.see(m)
		info, err = h.begin(ctx, m)
		return actionStarted, info, err
	}
	return "", info, nil
}

// retire stops a plugin and forgets it, unless it has another manifest by now: then
// nothing is stopped.
func (h *house) retire(ctx context.Context, name, file string) (stopped bool, err error) {
	release, err := h.roster.hold(ctx, name)
	if err != nil {
		return false, err
	}
	defer release()
	if m := h.roster.get(name); m == nil || m.File != file {
		return false, nil
	}
	if now, stands := h.standing(name); stands {
		if _, err := h.Stop(ctx, now.ID); err != nil {
			return false, err
		}
	}
	h.roster.remove(name)
	h.configs.leave(name)
	return true, h.Remove(name)
}

// The actions of a watchLine.
const (
	actionStarted  = "started"
	actionReloaded = "reloaded"
	actionStopped  = "stopped"
	actionKept     = "kept"
	actionFailed   = "failed"
)

// watchLine tells what was done with a plugin since its files changed.
type watchLine struct {
	Event  string `json:"event"`
	Plugin string `json:"plugin"`
	Action string `json:"action"`
	// File is what has changed, or the manifest.
	File string `json:"file"`
	// Phase is where the plugin is then, "" if it does not run.
	Phase  lifecycle.State `json:"phase,omitempty"`
	Reason string          `json:"reason,omitempty"`
}

// outcomeOf is what became of a plugin that was started or reloaded.
func outcomeOf(done string, info actors.SessionInfo, err error, m *manifest.Manifest, file string) watchLine {
	line := watchLine{Plugin: m.PluginName(), Action: done, File: file, Phase: info.Phase, Reason: info.Reason}
	if err != nil {
		s := shortfall{Plugin: line.Plugin}
		s.because(err)
		if line.Action, line.Reason = actionFailed, s.Reason; s.Place != "" {
			line.Reason += " at " + s.Place
		}
	}
	return line
}

// String is the line for people.
func (l watchLine) String() string {
	text := l.Plugin + " was " + l.Action
	switch l.Action {
	case actionKept:
		text = l.Plugin + " was left as it is"
	case actionFailed:
		text = l.Plugin + " has failed, " + l.File + " has changed"
	case actionReloaded:
		text += ", " + l.File + " has changed"
	case actionStarted:
		text += ", it is new here"
	}
	if l.Action == actionStarted || l.Action == actionReloaded {
		switch l.Phase {
		case lifecycle.Ready, "":
		default:
			text += ": it is " + string(l.Phase)
		}
	}
	return printable(sentence(text, l.Reason))
}

func (w *watching) tell(l watchLine) {
	l.Event = "watch"
	if w.c.json() {
		w.c.encode(l)
	}
	w.c.say("%s", l)
}

// isGone tells whether a file is not there.
func isGone(file string) bool {
	_, err := os.Stat(file)
	return errors.Is(err, fs.ErrNotExist)
}

// isManifest tells whether a path that run was given is that of a manifest; else it is, or
// will be, a directory's.
func isManifest(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// absolute is a path as manifests have it.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// realPath is an absolute path without links, as far as it is there.
func realPath(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// errWatchOnce is a wrong usage.
var errWatchOnce = errors.New("--watch follows changes while the host serves, which it does not with --once: leave one of them out")
