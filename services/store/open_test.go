package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// filesOf returns the content of a directory's files, but for the lock's.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, e := range entries {
		if e.Name() == LockName {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = string(text)
	}
	return all
}

// wantRefused is a directory that is not opened and not changed; it returns the error.
func wantRefused(t *testing.T, dir string, words ...string) error {
	t.Helper()
	before := filesOf(t, dir)
	_, err := Open(t.Context(), dir, Options{})
	for _, w := range append(words, filepath.Join(dir, FileName)) {
		require.ErrorContains(t, err, w)
	}
	after := filesOf(t, dir)
	for _, files := range []map[string]string{before, after} {
		delete(files, FileName+"-shm") // an index alone, which any reader makes
		if files[FileName+"-wal"] == "" {
			delete(files, FileName+"-wal") // and a log that is empty
		}
	}
	require.True(t, equalFiles(before, after), "the files have changed")
	lock, lockErr := Acquire(dir)
	require.NoError(t, lockErr, "the lock is given back")
	require.NoError(t, lock.Release())
	return err
}

func equalFiles(a, b map[string]string) bool {
	for name, text := range a {
		if b[name] != text {
			return false
		}
	}
	return len(a) == len(b)
}

func TestOpen_oneHostAtATime(t *testing.T) {
	db := openStore(t, Options{})
	_, err := Open(t.Context(), dirOf(db), Options{})
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, os.Getpid(), locked.Holder.PID)
	reopened(t, db)
}

func TestOpen_withTheCallersLock(t *testing.T) {
	dir := t.TempDir()
	lock, err := Acquire(dir)
	require.NoError(t, err)
	db := openIn(t, dir, Options{Lock: lock})
	set(t, db, keyOf("p", "k"), `1`)
	require.NoError(t, db.Close())
	_, err = Acquire(dir)
	require.ErrorContains(t, err, "held by", "the caller releases it")
	require.NoError(t, lock.Release())
}

func TestOpen_directoriesOfAnyName(t *testing.T) {
	for _, name := range []string{"a b", "a?b#c", "100%25", "a;b&c=d", "ключ", "file:x", "a'b\"c"} {
		dir := filepath.Join(t.TempDir(), name)
		db := openIn(t, dir, Options{})
		set(t, db, keyOf("p", "k"), `1`)
		require.FileExists(t, filepath.Join(dir, FileName))
		wantValue(t, reopened(t, db), keyOf("p", "k"), `1`)
	}
}

func TestOpen_aDirectoryThatIsRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	set(t, openIn(t, "state", Options{}), keyOf("p", "k"), `1`)
	require.FileExists(t, filepath.Join("state", FileName))
}

func TestOpen_filesAreTheOwnersAlone(t *testing.T) {
	db := openStore(t, Options{})
	set(t, db, keyOf("p", "k"), `1`)
	for _, name := range []string{FileName, FileName + "-wal", FileName + "-shm", LockName} {
		info, err := os.Stat(filepath.Join(dirOf(db), name)) // to read one would end its locks
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	require.NoError(t, db.Close())
	require.Len(t, filesOf(t, dirOf(db)), 1, "one file is left to copy")
}

func TestOpen_whatIsNoDatabase(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), bytes.Repeat([]byte("no database "), 1000), 0o600))
	err := wantRefused(t, dir, "is damaged", "move it and the files -wal and -shm beside it away")
	var damaged *DamagedError
	require.ErrorAs(t, err, &damaged)

	require.NoError(t, os.Remove(filepath.Join(dir, FileName)))
	require.NoError(t, os.Mkdir(filepath.Join(dir, FileName), 0o700))
	_, err = Open(t.Context(), dir, Options{})
	require.ErrorContains(t, err, "found what is no regular file: move it away")
}

func TestOpen_whatIsDamaged(t *testing.T) {
	db := openStore(t, Options{})
	for _, key := range "abcdefghijklmnopqrstuvwxyz" {
		set(t, db, keyOf("p", string(key)), string(numbered(int(key))))
	}
	require.NoError(t, db.Close())
	sound, err := os.ReadFile(db.File())
	require.NoError(t, err)
	for name, damage := range map[string]func(text []byte) []byte{
		"a page of noise": func(text []byte) []byte { copy(text[8*pageSize:], bytes.Repeat([]byte{0xa5}, pageSize)); return text },
		"cut short":       func(text []byte) []byte { return text[:len(text)/2] },
		"no schema":       func(text []byte) []byte { copy(text[100:], bytes.Repeat([]byte{0xff}, 400)); return text },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(db.File(), damage(bytes.Clone(sound)), 0o600))
			err := wantRefused(t, dirOf(db), "the database is damaged", "nothing was changed")
			var damaged *DamagedError
			require.ErrorAs(t, err, &damaged)
		})
	}
	require.NoError(t, os.WriteFile(db.File(), sound, 0o600))
	wantValue(t, openIn(t, dirOf(db), Options{}), keyOf("p", "a"), string(numbered('a')))
}

// A host that was killed has left a log. What is refused keeps that too.
func TestOpen_whatIsDamagedKeepsItsLog(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "writes", dir)
	c.wantLine("open")
	for range 50 {
		require.True(t, c.lines.Scan())
	}
	c.kill()
	require.Contains(t, filesOf(t, dir), FileName+"-wal")
	file, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte{0xff}, 100), 0)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	wal := filepath.Join(dir, FileName+"-wal")
	require.NoError(t, os.Truncate(wal, 32)) // else the log has the sound pages
	_ = wantRefused(t, dir, "the database is damaged")
}

func TestOpen_anotherProgramsDatabase(t *testing.T) {
	dir := t.TempDir()
	other, err := openFile(filepath.Join(dir, FileName), "")
	require.NoError(t, err)
	_, err = other.Exec(`CREATE TABLE t (a)`)
	require.NoError(t, err)
	require.NoError(t, other.Close())
	_ = wantRefused(t, dir, "the database is another program's: move it away, or name another state directory")
}

func TestOpen_aFileOfANewerHost(t *testing.T) {
	dir := t.TempDir()
	steps, err := migrations()
	require.NoError(t, err)
	newer, err := open(context.Background(), dir, Options{}.withDefaults(), append(steps, `CREATE TABLE t (a)`))
	require.NoError(t, err)
	require.NoError(t, newer.Close())
	err = wantRefused(t, dir, "written by a newer host", "run the newer host, or name another state directory")
	var version *VersionError
	require.ErrorAs(t, err, &version)
	require.Equal(t, VersionError{File: newer.File(), Version: len(steps) + 1, Ours: len(steps)}, *version)
}

func TestOpen_withALimitOnItsTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, t.TempDir(), Options{})
	require.ErrorIs(t, err, context.Canceled)
}
