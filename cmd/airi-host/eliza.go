package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// elizaDirs is where elizaOS's plugins keep files, below the state directory.
const elizaDirs = "eliza"

// elizaDir returns what makes the directory of a plugin, for nobody but us. Any goroutine
// may call it.
func (st *state) elizaDir() func(plugin string) (string, error) {
	var making sync.Mutex
	return func(plugin string) (string, error) {
		making.Lock()
		defer making.Unlock()
		dir, err := st.path()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(dir, elizaDirs, plugin)
		return dir, os.MkdirAll(dir, 0o700)
	}
}

// signs tells whether what is called of a plugin's worker is signed.
func (s *settings) signs(plugin string) bool { return s.now().Plugins[plugin].Sign }

// deniedEliza has it kept that the permissions of an elizaOS plugin did not allow something.
func (st *state) deniedEliza(d eliza.Denial) {
	st.denied(actors.Denial{
		Origin: actors.Origin{Plugin: d.Plugin}, What: d.Surface + " " + d.Target, Grant: d.Permission,
		Reason: cmp.Or(d.Reason, "plugin "+d.Plugin+" is not granted "+d.Permission),
	})
}

// removedFiles counts the files of an elizaOS plugin's directory among what was removed.
const removedFiles = "files"

// removeElizaDir removes the directory that an elizaOS plugin has had for itself, and
// returns how many files were there. Of a name that no such plugin can have there is none.
func (st *state) removeElizaDir(ctx context.Context, plugin string) (files int64, err error) {
	if st.dir == "" || plugin == "." || !filepath.IsLocal(plugin) || filepath.Base(plugin) != plugin {
		return 0, nil
	}
	root, err := os.OpenRoot(filepath.Join(st.dir, elizaDirs))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if files, err = countFiles(ctx, root, plugin); err == nil {
		err = root.RemoveAll(plugin) // which follows no links that the plugin has left
	}
	if err != nil {
		return 0, fmt.Errorf("the directory of plugin %s: %w", plugin, err)
	}
	return files, nil
}

// countFiles counts what is in a directory, but for directories; a link in its place is one.
func countFiles(ctx context.Context, root *os.Root, dir string) (files int64, err error) {
	switch info, err := root.Lstat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.IsDir():
		return 1, nil
	}
	err = fs.WalkDir(root.FS(), dir, func(_ string, one fs.DirEntry, err error) error {
		if err == nil && !one.IsDir() {
			files++
		}
		return errors.Join(err, ctx.Err())
	})
	return files, err
}
