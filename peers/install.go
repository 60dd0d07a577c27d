package peers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/airi-host/airi-host/internal/need"
)

// InstallTime is the longest that an installation may take, the wait for another
// process that installs the same included.
const InstallTime = 4 * time.Minute

// Install returns the node_modules directory of a set, which it installs first when it
// is not there yet. Without Node or the network the test is skipped, or fails where
// AIRI_HOST_NO_SKIP is set.
func Install(t testing.TB, name string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), InstallTime)
	defer cancel()
	modules, err := Modules(ctx, name)
	if errors.Is(err, ErrUnavailable) {
		need.That(t, false, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return modules
}

// Modules is Install outside of a test. It returns [ErrUnavailable] when Node, npm or
// the network is missing.
func Modules(ctx context.Context, name string) (string, error) {
	s, err := openSet(name)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("where to keep what is installed: %w: set HOME or XDG_CACHE_HOME", err)
	}
	modules, err := s.install(ctx, filepath.Join(cache, "airi-host", "peers"))
	if err != nil {
		return "", fmt.Errorf("set %s: %w", name, err)
	}
	return modules, nil
}

// install puts the set below root, unless it is there, and returns its node_modules.
func (s set) install(ctx context.Context, root string) (string, error) {
	if err := haveNode(); err != nil { // what is installed is of no use without it
		return "", err
	}
	dir := filepath.Join(root, s.hash)
	modules := filepath.Join(dir, "node_modules")
	if isDir(modules) {
		return modules, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		return "", fmt.Errorf("%s.lock: %w", dir, err)
	}
	defer unlock()
	if isDir(modules) { // another process was faster
		return modules, nil
	}
	return modules, s.build(ctx, root, dir)
}

// build makes the set in a folder of its own and renames it when it is complete.
func (s set) build(ctx context.Context, root, dir string) error {
	scratch, err := os.MkdirTemp(root, "new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		text, err := fs.ReadFile(s.files, name)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(scratch, name), text); err != nil {
			return err
		}
	}
	if err := npm(ctx, scratch, "ci"); err != nil {
		return err
	}
	modules := filepath.Join(scratch, "node_modules")
	for _, a := range s.archives {
		if err := a.take(ctx, scratch, modules); err != nil {
			return err
		}
	}
	if err := s.addStandIns(modules); err != nil {
		return err
	}
	if err := os.Rename(scratch, dir); err != nil && !isDir(dir) { // where nothing is locked, the first wins
		return err
	}
	return nil
}

// addStandIns copies the set's own files, if it has any, among those of the packages.
func (s set) addStandIns(modules string) error {
	standIns, err := fs.Sub(s.files, "stand-ins")
	if err != nil {
		return err
	}
	if _, err := fs.Stat(standIns, "."); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return os.CopyFS(modules, standIns)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
