//go:build linux

package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func init() { children["full"], children["readonly"] = fillDisk, openReadOnly }

// Root may write everywhere, so a process of nobody's is asked.
func TestOpen_aDirectoryThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	require.NoError(t, os.Chmod(dir, 0o555))
	db := openStore(t, Options{})
	set(t, db, keyOf("p", "k"), `1`)
	require.NoError(t, db.Close())

	startChildWith(t, "readonly", dir, asNobody).wantDone()

	text, err := os.ReadFile(db.File())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), text, 0o444))
	require.NoError(t, os.WriteFile(filepath.Join(dir, LockName), nil, 0o666))
	require.NoError(t, os.Chmod(filepath.Join(dir, LockName), 0o666))
	startChildWith(t, "readonly", dir, asNobody).wantDone()
}

// asNobody makes a child run as a user that owns nothing, where this one is root.
func asNobody(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.Path = "/proc/self/exe" // which a folder that lets nobody in does not hide
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

func openReadOnly(dir string) error {
	_, err := Open(context.Background(), dir, Options{})
	if err == nil || !strings.Contains(err.Error(), dir) {
		return fmt.Errorf("expected an error that names the directory, got %w", err)
	}
	for _, cure := range []string{"change its permissions", "let the host write the file and its directory"} {
		if strings.Contains(err.Error(), cure) {
			return nil
		}
	}
	return fmt.Errorf("expected to be told what to do, got %w", err)
}

// A disk that takes no more, and then does, is a limit on the length of files.
func TestDB_aFullDiskFailsWritesAndNothingElse(t *testing.T) {
	startChild(t, "full", t.TempDir()).wantDone()
}

func fillDisk(dir string) error {
	ctx := context.Background()
	signal.Ignore(syscall.SIGXFSZ)
	db, err := Open(ctx, dir, Options{CacheBytes: -1})
	if err != nil {
		return err
	}
	state, kept := db.State(), 0
	big := json.RawMessage(`"` + strings.Repeat("x", 50_000) + `"`)
	if err := limitFiles(1 << 20); err != nil {
		return err
	}
	for ; err == nil && kept < 1000; kept++ {
		err = state.Set(ctx, keyOf("p", fmt.Sprint(kept)), big)
	}
	kept--
	var failed *Error
	if !errors.As(err, &failed) || protocol.CodeOf(err) != protocol.CodeInternal ||
		!strings.Contains(err.Error(), db.File()) || !strings.Contains(err.Error(), "make room on its disk") {
		return fmt.Errorf("expected an error that names the file and the cure, got %w", err)
	}
	for i := range kept {
		if got, err := state.Get(ctx, keyOf("p", fmt.Sprint(i))); err != nil || len(got) != len(big) {
			return fmt.Errorf("value %d: %d bytes: %w", i, len(got), err)
		}
	}
	if got, err := state.Get(ctx, keyOf("p", fmt.Sprint(kept))); err != nil || got != nil {
		return fmt.Errorf("what failed is there: %d bytes: %w", len(got), err)
	}
	if n := db.Stats().FailedWrites; n != 1 {
		return fmt.Errorf("expected 1 failed write, got %d", n)
	}
	if err := limitFiles(1 << 30); err != nil {
		return err
	}
	if err := state.Set(ctx, keyOf("p", "after"), big); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	return db.Close()
}

func limitFiles(bytes uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = bytes
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

func TestState_whatDoesNotFitFailsAlone(t *testing.T) {
	db := openStore(t, Options{MaxBytes: 600 << 10})
	set(t, db, keyOf("p", "before"), `1`)
	hold := holdWriter(db)
	big := json.RawMessage(`"` + strings.Repeat("x", 900_000) + `"`)
	results := make(chan error, 3)
	for i, value := range []json.RawMessage{json.RawMessage(`1`), big, json.RawMessage(`2`)} {
		go func() { results <- db.State().Set(context.Background(), keyOf("p", fmt.Sprint(i)), value) }()
	}
	waitQueued(db, 3)
	hold()
	var failed []error
	for range cap(results) {
		if err := <-results; err != nil {
			failed = append(failed, err)
		}
	}
	require.Len(t, failed, 1)
	require.ErrorContains(t, failed[0], db.File()+": the database is full: make room")
	wantFault(t, failed[0], protocol.CodeInternal, `state value "1" was not kept`)
	wantValue(t, db, keyOf("p", "0"), `1`)
	wantValue(t, db, keyOf("p", "1"), "")
	wantValue(t, db, keyOf("p", "2"), `2`)
	wantValue(t, db, keyOf("p", "before"), `1`)
	require.EqualValues(t, 1, db.Stats().FailedWrites)
	wantValue(t, reopened(t, db), keyOf("p", "2"), `2`)
}

// Damage that comes while the host runs is told to those who read it.
func TestState_damageOfTheFileIsTold(t *testing.T) {
	db := openStore(t, Options{})
	const keys = 50
	for i := range keys {
		set(t, db, keyOf("p", fmt.Sprint(i)), string(numbered(i)))
	}
	db = reopened(t, db)
	text, err := os.ReadFile(db.File())
	require.NoError(t, err)
	for i := 20 * pageSize; i < len(text); i++ {
		text[i] = 0xa5
	}
	file, err := os.OpenFile(db.File(), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteAt(text, 0)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	for i := range keys {
		if _, err = db.State().Get(t.Context(), keyOf("p", fmt.Sprint(i))); err != nil {
			break
		}
	}
	wantFault(t, err, protocol.CodeInternal, db.File()+": the database is damaged: move it")
	require.EqualValues(t, 1, db.Stats().FailedReads)
}
