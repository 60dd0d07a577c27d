package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFiles_haveARecordALine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	b := openBench(t, dir, Options{})
	b.Add(Record{
		Time: epoch, Level: slog.LevelWarn, Plugin: "greeter", Session: "plugin-session-0", Stream: "log",
		Message: "two\nlines", Fields: json.RawMessage(`{"name": "Ada"}`),
	})
	require.NoError(t, b.Close(t.Context()))
	text, err := os.ReadFile(filepath.Join(dir, "greeter.log"))
	require.NoError(t, err)
	require.Equal(t, `{"time":"2026-11-30T12:00:00Z","level":"WARN","plugin":"greeter","session":"plugin-session-0","stream":"log",`+
		`"message":"two\nlines","fields":{"name":"Ada"}}`+"\n", string(text))
	for path, mode := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "greeter.log"): 0o600} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
	require.NoError(t, b.Close(t.Context()), "again")
	b.say("greeter", "late")
	require.EqualValues(t, 1, b.Stats().Dropped)
}

func TestFiles_rotateWithinTheirBounds(t *testing.T) {
	dir := t.TempDir()
	b := openBench(t, dir, Options{MaxBytes: 2000, Files: 3})
	for _, m := range numbered(100) {
		b.say("a", m)
		b.wantWritten()
	}
	b.say("b", "alone")
	require.NoError(t, b.Close(t.Context()))
	require.Equal(t, []string{"a.log", "a.log.1", "a.log.2", "b.log"}, namesIn(t, dir))
	for _, name := range namesIn(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(2000))
	}
	all, err := Read(dir, "a", Query{})
	require.NoError(t, err)
	require.Greater(t, len(all), 40)
	require.Equal(t, numbered(100)[100-len(all):], messagesOf(all), "the newest are kept, in order")
}

func TestFiles_oneFileIsBegunAnew(t *testing.T) {
	dir := t.TempDir()
	b := openBench(t, dir, Options{MaxBytes: 300, Files: 1})
	for _, m := range numbered(10) {
		b.say("a", m)
		b.wantWritten()
	}
	require.Equal(t, []string{"a.log"}, namesIn(t, dir))
	b.say("a", strings.Repeat("x", 1000)) // longer than a file may be
	b.wantWritten()
	wantRead(t, dir, "a", Query{}, strings.Repeat("x", 1000))
}

func TestFiles_allTogetherAreBounded(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), make([]byte, 1<<20), 0o600)) // none of ours
	b := openBench(t, dir, Options{MaxBytes: 4000, Files: 10, Total: 20_000})
	for range 50 {
		for _, plugin := range []string{"a", "b", "c"} {
			b.say(plugin, strings.Repeat("x", 500))
			b.wantWritten()
		}
		require.NoError(t, os.Remove(filepath.Join(dir, "other")))
		require.LessOrEqual(t, sizeOf(t, dir), int64(21_000))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), make([]byte, 1<<20), 0o600))
	}
	require.NoError(t, b.Close(t.Context()))
	require.Contains(t, namesIn(t, dir), "other")
	for _, plugin := range []string{"a", "b", "c"} {
		all, err := Read(dir, plugin, Query{N: 1})
		require.NoError(t, err)
		require.Len(t, all, 1, "the newest of each is kept")
	}

	// Where all are the newest of their plugin, the oldest of these go.
	b = openBench(t, t.TempDir(), Options{Total: 5000})
	for i := range 20 {
		b.say(strings.Repeat("p", i+1), strings.Repeat("x", 500))
		b.wantWritten()
	}
	require.NoError(t, b.Close(t.Context()))
	require.LessOrEqual(t, sizeOf(t, b.dir), int64(5700))
	require.Positive(t, b.countIn("the oldest logs of plugins were removed"))
}

// What comes while the disk is stuck waits, and is dropped in the end; nobody waits for it.
func TestFiles_nobodyWaitsForTheDisk(t *testing.T) {
	dir, stuck := t.TempDir(), make(chan struct{})
	disk := &faultyDisk{stuck: stuck}
	b := openBench(t, dir, Options{disk: disk, Queue: 10})
	began := time.Now()
	b.say("a", numbered(1000)...)
	b.say("b", "of another")
	require.Less(t, time.Since(began), time.Second)
	s := b.Stats()
	require.Equal(t, Stats{Waiting: 11, Dropped: 990}, Stats{Waiting: s.Waiting, Dropped: s.Dropped})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, b.Close(ctx), "are not all written")
	close(stuck)
	require.NoError(t, b.Close(t.Context()))
	wantRead(t, dir, "b", Query{}, "of another")
	all, err := Read(dir, "a", Query{})
	require.NoError(t, err)
	require.Equal(t, numbered(10), messagesOf(all)[:10])
	told := 0
	for _, r := range all[10:] {
		var n int
		_, err := fmt.Sscanf(r.Message, "%d records were dropped", &n)
		require.NoError(t, err, r.Message)
		require.Equal(t, slog.LevelWarn, r.Level)
		told += n
	}
	require.Equal(t, 990, told)
	require.EqualValues(t, 990, b.Of("a").Dropped)
}

func TestFiles_boundTheBytesThatWait(t *testing.T) {
	stuck := make(chan struct{})
	b := openBench(t, t.TempDir(), Options{disk: &faultyDisk{stuck: stuck}, QueueBytes: 2000})
	b.say("a", strings.Repeat("x", 5000), "no room", "none either")
	require.EqualValues(t, 2, b.Stats().Dropped, "one may be longer")
	close(stuck)
}

// A disk that fails is told once, tried again, and told once more when it works.
func TestFiles_goOnWhenTheDiskFails(t *testing.T) {
	for name, fault := range map[string]error{"full": syscall.ENOSPC, "broken": syscall.EIO, "too large": syscall.EFBIG} {
		t.Run(name, func(t *testing.T) {
			dir, disk := t.TempDir(), &faultyDisk{}
			b := openBench(t, dir, Options{disk: disk, Queue: 3, Retry: time.Millisecond, MaxRetry: 5 * time.Millisecond})
			b.say("a", "before")
			b.wantWritten()
			disk.fail(fault, 20)
			b.say("a", numbered(5)...)
			b.say("b", "of another")
			require.Eventually(t, func() bool { return b.Stats().Failing == 2 }, 10*time.Second, time.Millisecond)
			require.ErrorIs(t, b.Of("a").Err, fault)
			require.Equal(t, 1, b.countIn("cannot be written"), "%s", &b.told)
			disk.fail(nil, 0)
			b.wantWritten()
			require.Eventually(t, func() bool { return b.countIn("are written again") == 1 }, 10*time.Second, time.Millisecond)
			require.NoError(t, b.Of("a").Err)
			require.NoError(t, b.Close(t.Context()))
			wantRead(t, dir, "a", Query{}, "before", "message 0", "message 1", "message 2",
				"2 records were dropped: too many came at once, or the file could not be written")
			require.Equal(t, 1, b.countIn("cannot be written"), "%s", &b.told)
		})
	}
}

func TestFiles_goOnWhenTheDirectoryIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	b := openBench(t, dir, Options{Retry: time.Millisecond, MaxRetry: 5 * time.Millisecond})
	b.say("a", "before")
	b.wantWritten()
	require.NoError(t, os.RemoveAll(dir))
	b.say("a", "after")
	b.wantWritten()
	wantRead(t, dir, "a", Query{}, "after")

	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // something else is in its place
	b.say("a", "late")
	require.Eventually(t, func() bool { return b.Of("a").Err != nil }, 10*time.Second, time.Millisecond)
	require.NoError(t, os.Remove(dir))
	b.wantWritten()
	wantRead(t, dir, "a", Query{}, "late")
}

func TestFiles_leaveAloneWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/dev/full", filepath.Join(dir, "a.log")))
	b := openBench(t, dir, Options{})
	b.say("a", "x")
	require.Eventually(t, func() bool { return b.Of("a").Err != nil }, 10*time.Second, time.Millisecond)
	require.ErrorContains(t, b.Of("a").Err, "expected a regular file: remove what is there")
	require.ErrorContains(t, b.Close(t.Context()), "are not all written")
}

func TestFiles_endALineThatWasTorn(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.log"), []byte(`{"time":"2026-11-`), 0o600))
	b := openBench(t, dir, Options{})
	b.say("a", "whole")
	b.wantWritten()
	wantRead(t, dir, "a", Query{}, "whole")
}

func TestFiles_countWhatIsLostOnTheWay(t *testing.T) {
	b := openBench(t, t.TempDir(), Options{})
	b.Lost(3)
	require.EqualValues(t, 3, b.Stats().Dropped)
	require.Equal(t, Info{Path: filepath.Join(b.dir, "quiet.log")}, b.Of("quiet"))
}

// A full disk, a real one, where one may be mounted; what a disk does is tried without
// one, too.
func TestFiles_onAFullDisk(t *testing.T) {
	dir := t.TempDir()
	mountSmall(t, dir)
	b := openBench(t, filepath.Join(dir, "logs"), Options{Retry: time.Millisecond, MaxRetry: 10 * time.Millisecond})
	hog := filepath.Join(dir, "hog")
	require.ErrorIs(t, os.WriteFile(hog, make([]byte, 1<<20), 0o600), syscall.ENOSPC)
	b.say("a", numbered(20)...)
	require.Eventually(t, func() bool { return errors.Is(b.Of("a").Err, syscall.ENOSPC) }, 10*time.Second, time.Millisecond)
	require.NoError(t, os.Remove(hog))
	b.wantWritten()
	wantRead(t, b.dir, "a", Query{}, numbered(20)...)
}
