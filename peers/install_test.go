package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// fakeNPM puts an npm that is this shell script, and a node that does nothing, first on
// PATH.
func fakeNPM(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"npm": script, "node": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// small is a set without archives.
func small(t *testing.T) set {
	t.Helper()
	s, err := openSet(Paperclip)
	require.NoError(t, err)
	s.archives = nil
	return s
}

func TestSet_installsOnce(t *testing.T) {
	fakeNPM(t, `echo run >>"$LOG"; mkdir -p node_modules/zod`)
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("LOG", log)
	root := filepath.Join(t.TempDir(), "peers")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			modules, err := small(t).install(t.Context(), root)
			if err != nil || !isDir(filepath.Join(modules, "zod")) {
				t.Errorf("%s: %v", modules, err)
			}
		})
	}
	all.Wait()
	ran, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "run\n", string(ran))

	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Len(t, entries, 2, "the set and its lock: nothing half made is left")
	standIn, err := os.ReadFile(filepath.Join(root, small(t).hash, "node_modules/@paperclipai/server/dist/middleware/logger.js"))
	require.NoError(t, err)
	require.Contains(t, string(standIn), "export const logger")
}

func TestSet_leavesNothingHalfMade(t *testing.T) {
	root := filepath.Join(t.TempDir(), "peers")
	for script, want := range map[string]string{
		`mkdir node_modules; echo "npm error code ENOTFOUND" >&2; exit 1`: "the real peers cannot be had: npm reaches no registry",
		`echo "npm error wrong" >&2; exit 7`:                              "npm ci: exit status 7: npm error wrong",
	} {
		fakeNPM(t, script)
		_, err := small(t).install(t.Context(), root)
		require.EqualError(t, err, want)
		require.NoDirExists(t, filepath.Join(root, small(t).hash))
	}
}

func TestSet_needsNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := small(t).install(t.Context(), t.TempDir())
	require.ErrorIs(t, err, ErrUnavailable)
	require.EqualError(t, err, "the real peers cannot be had: node is not installed")
}

func TestSet_waitsNoLongerThanItMay(t *testing.T) {
	fakeNPM(t, "exit 1")
	root, s := t.TempDir(), small(t)
	unlock, err := lock(t.Context(), filepath.Join(root, s.hash)+".lock")
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.install(ctx, root)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, s.hash+".lock: ")
}

// outcome is a testing.TB that keeps how a test ended.
type outcome struct {
	testing.TB
	skipped, failed string
}

func (o *outcome) Helper() {}

func (o *outcome) Skip(args ...any) {
	o.skipped = fmt.Sprint(args...)
	runtime.Goexit()
}

func (o *outcome) Fatalf(format string, args ...any) {
	o.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestInstall_skipsOrFailsWithoutNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	install := func() (o outcome) {
		o.TB = t
		done := make(chan struct{})
		go func() {
			defer close(done)
			Install(&o, Paperclip)
		}()
		<-done
		return o
	}
	t.Setenv(need.NoSkip, "")
	require.Equal(t, "set paperclip: the real peers cannot be had: node is not installed", install().skipped)
	t.Setenv(need.NoSkip, "1")
	o := install()
	require.Empty(t, o.skipped)
	require.Equal(t, "set paperclip: the real peers cannot be had: node is not installed, and AIRI_HOST_NO_SKIP is set", o.failed)
}

func TestModules_needASetThatThereIs(t *testing.T) {
	_, err := Modules(t.Context(), "eliza")
	require.EqualError(t, err, `there is no set "eliza": expected a folder of peers/sets`)
}
