package logs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFiles_removeOnePluginsOwn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.log.9", "a.b.log", "a.log.old", "%41.log"} { // one of former settings, and what is not a's
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a.log.8"), 0o700))
	b := openBench(t, dir, Options{MaxBytes: 2000, Files: 3})
	for _, m := range numbered(100) {
		b.say("a", m)
		b.wantWritten()
	}
	b.say("b", "stays")
	b.wantWritten()
	n, err := b.Remove(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, 4, n)
	left := []string{"%41.log", "a.b.log", "a.log.8", "a.log.old", "b.log"}
	require.Equal(t, left, namesIn(t, dir))
	require.Less(t, b.Stats().Bytes, int64(2000))
	b.say("a", "anew")
	b.wantWritten()
	wantRead(t, dir, "a", Query{}, "anew")

	require.NoError(t, b.Close(t.Context()))
	n, err = b.Remove(t.Context(), "a")
	require.NoError(t, err, "nobody writes any more")
	require.Equal(t, 1, n)
	n, err = Remove(filepath.Join(dir, "none"), "a")
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestFiles_removeWhatWaits(t *testing.T) {
	b := openBench(t, t.TempDir(), Options{})
	b.mu.Lock() // the writer waits with them
	p := b.penOf("a")
	p.lines, p.bytes, b.stats.Waiting = [][]byte{[]byte("x\n")}, 2, 1
	p.err, b.failing = errors.New("no"), 1
	b.mu.Unlock()
	_, err := b.Remove(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, Info{Path: filepath.Join(b.dir, "a.log")}, b.Of("a"))
	require.Zero(t, b.Stats().Waiting+b.Stats().Failing)
}

func TestFiles_removeWaitsForTheDiskSoLong(t *testing.T) {
	f := &Files{dir: "d", removals: make(chan removal), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.Remove(ctx, "a")
	require.EqualError(t, err, "the logs of plugin a in d are not removed, the disk is slow: context canceled")
}
