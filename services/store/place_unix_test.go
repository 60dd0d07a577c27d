//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// Into files that nobody finds again nothing is written, and nothing is read of others in
// their place.
func TestDB_leavesFilesAloneThatAreNotItsOwn(t *testing.T) {
	for name, away := range map[string]func(file string) error{
		"removed":         os.Remove,
		"log removed":     func(file string) error { return os.Remove(file + "-wal") },
		"all removed":     func(file string) error { return os.RemoveAll(filepath.Dir(file)) },
		"cut short":       func(file string) error { return os.Truncate(file, 0) },
		"another's":       putAnother,
		"a directory now": func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			db := openStore(t, Options{})
			set(t, db, keyOf("p", "before"), `1`)
			require.NoError(t, away(db.File()))
			for range 2 {
				err := db.State().Set(t.Context(), keyOf("p", "after"), []byte(`2`))
				wantFault(t, err, protocol.CodeInternal, db.File()+": the database is not where the host has opened it")
				require.ErrorContains(t, err, "nothing is written or read until it is back")
			}
			require.EqualValues(t, 2, db.Stats().FailedWrites)
			_, err := db.State().Get(t.Context(), keyOf("p", "after"))
			wantFault(t, err, protocol.CodeInternal, db.File()+": the database is not where the host has opened it")
			require.EqualValues(t, 1, db.Stats().FailedReads)
			wantValue(t, db, keyOf("p", "before"), `1`) // which is in memory
			require.NoError(t, db.Close())
		})
	}
}

func TestDB_writesAgainWhenItsFilesAreBack(t *testing.T) {
	db := openStore(t, Options{})
	dir := filepath.Dir(db.File())
	require.NoError(t, os.Rename(dir, dir+".elsewhere"))
	require.Error(t, db.State().Set(t.Context(), keyOf("p", "k"), []byte(`1`)))
	require.NoError(t, os.Rename(dir+".elsewhere", dir))
	set(t, db, keyOf("p", "k"), `2`)
	wantValue(t, reopened(t, db), keyOf("p", "k"), `2`)
}

// putAnother puts a copy of a database in its place.
func putAnother(file string) error {
	text, err := os.ReadFile(file)
	return errors.Join(err, os.WriteFile(file+".copy", text, 0o600), os.Rename(file+".copy", file))
}

// SQLite removes the log by its name when it closes a database; that of a host that has
// begun anew in the same place is not ours.
func TestDB_closeLeavesTheLogOfWhoBeganAnew(t *testing.T) {
	old := openStore(t, Options{})
	set(t, old, keyOf("p", "k"), `1`)
	require.NoError(t, os.RemoveAll(filepath.Dir(old.File())))
	db := openIn(t, filepath.Dir(old.File()), Options{})
	set(t, db, keyOf("p", "k"), `2`)
	require.NoError(t, old.Close())
	set(t, db, keyOf("p", "k"), `3`)
	wantValue(t, reopened(t, db), keyOf("p", "k"), `3`)
}
