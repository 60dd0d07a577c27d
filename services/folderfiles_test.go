package services

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestFolders_textIsReadAndWritten(t *testing.T) {
	d := newDesk(t, Folders{})
	for _, text := range []string{"", "ä <&>\u2028 \u0000", "two\r\nlines\n"} {
		quoted, _ := json.Marshal(text)
		status := readStatus(t, d.call("localFolders.writeTextAtomic", at("a/b/c.md", `"contents":`+string(quoted))))
		require.True(t, status.Healthy)
		require.Equal(t, text, d.has("a/b/c.md"))
		var back string
		require.NoError(t, json.Unmarshal([]byte(d.call("localFolders.readText", at("a/b/c.md"))), &back))
		require.Equal(t, text, back)
	}
	d.wantFiles("a/b/c.md")
	d.put("latin1", "caf\xe9")
	require.Equal(t, `"caf\ufffd"`, d.call("localFolders.readText", at("latin1")))
}

func TestFolders_aFileKeepsItsMode(t *testing.T) {
	d := newDesk(t, Folders{})
	d.put("private", "x")
	d.call("localFolders.writeTextAtomic", at("private", `"contents":"y"`))
	d.call("localFolders.writeTextAtomic", at("new", `"contents":"y"`))
	for name, want := range map[string]os.FileMode{"private": 0o600, "new": 0o644} {
		info, err := os.Stat(filepath.Join(d.dir, name))
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), name)
	}
}

func TestFolders_aFileIsDeletedOnce(t *testing.T) {
	d := newDesk(t, Folders{})
	d.put("a", "x")
	for range 2 {
		require.True(t, readStatus(t, d.call("localFolders.deleteFile", at("a"))).Healthy)
		d.wantFiles()
	}
	d.call("localFolders.deleteFile", at("no/such/file"))
}

func TestFolders_whatIsNoFileIsRefused(t *testing.T) {
	d := newDesk(t, Folders{})
	d.put("dir/file", "x")
	for _, method := range byPath {
		d.wantRefused(protocol.CodeInvalid, method, at("dir", `"contents":"x"`), `"dir" is no file`)
		d.wantRefused(protocol.CodeInvalid, method, at(".airi-host-1", `"contents":"x"`), `relativePath: names that begin with ".airi-host-" are the host's`)
		d.wantRefused(protocol.CodeInvalid, method, at("dir/file/x", `"contents":"x"`), "not a directory")
	}
	d.wantRefused(protocol.CodeNotFound, "localFolders.readText", at("missing"), `"missing" is not there`)
	d.wantRefused(protocol.CodeInvalid, "localFolders.writeTextAtomic", at("a"), "contents: expected a string, got nothing")
	d.wantRefused(protocol.CodeInvalid, "localFolders.list", at("dir/file"), `directory "dir/file": not a directory`)
	d.wantRefused(protocol.CodeNotFound, "localFolders.list", at("missing"), `directory "missing": no such file or directory`)
	d.wantFiles("dir/file")
}

func TestFolders_oneForReadingIsNotWrittenTo(t *testing.T) {
	d := newDesk(t, Folders{})
	d.put("a", "x")
	d.folder.ReadOnly, d.folder.Directories = true, []string{"new"}
	for _, method := range byPath[1:] {
		d.wantRefused(protocol.CodeDenied, method, at("a", `"contents":"y"`), `folder "notes" is for reading alone`)
	}
	require.Equal(t, `"x"`, d.call("localFolders.readText", at("a")))
	path, _ := json.Marshal(d.dir)
	require.False(t, readStatus(t, d.call("localFolders.configure", `{"folderKey":"notes","path":`+string(path)+`}`)).Healthy, "new is missing")
	d.wantFiles("a")
}

func TestFolders_haveLimits(t *testing.T) {
	d := newDesk(t, Folders{FileBytes: 10, Files: 3, Bytes: 25})
	d.wantRefused(protocol.CodeInvalid, "localFolders.writeTextAtomic", at("a", `"contents":"01234567890"`), `"a" is too long: a file may have 10 bytes`)
	d.put("long", "01234567890")
	d.wantRefused(protocol.CodeInvalid, "localFolders.readText", at("long"), `"long" is too long: a file may have 10 bytes`)
	d.call("localFolders.deleteFile", at("long"))

	d.call("localFolders.writeTextAtomic", at("a", `"contents":"0123456789"`))
	d.call("localFolders.writeTextAtomic", at("b", `"contents":"0123456789"`))
	const full = `folder "notes" is full: it may hold 3 files and 25 bytes: delete some`
	d.wantRefused(protocol.CodeOverloaded, "localFolders.writeTextAtomic", at("c", `"contents":"012345"`), full)
	d.call("localFolders.writeTextAtomic", at("a", `"contents":"1234567890"`)) // one that is there may change
	d.call("localFolders.writeTextAtomic", at("c", `"contents":""`))
	d.wantRefused(protocol.CodeOverloaded, "localFolders.writeTextAtomic", at("d", `"contents":""`), full)
	d.call("localFolders.deleteFile", at("b"))
	d.call("localFolders.writeTextAtomic", at("d", `"contents":""`))
	d.wantFiles("a", "c", "d")
}

func TestFolders_theLimitsHoldForManyAtATime(t *testing.T) {
	d := newDesk(t, Folders{Files: 5})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() { _, _ = d.try("localFolders.writeTextAtomic", at(fmt.Sprint(i), `"contents":"x"`)) })
	}
	all.Wait()
	files, err := os.ReadDir(d.dir)
	require.NoError(t, err)
	require.Len(t, files, 5)
}

// A host was killed while it wrote.
func TestFolders_whatIsUnfinishedIsRemovedLater(t *testing.T) {
	d := newDesk(t, Folders{})
	d.put("dir/.airi-host-old", "x")
	d.put(".airi-host-new", "x")
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(d.dir, "dir", ".airi-host-old"), old, old))
	require.NotContains(t, d.call("localFolders.list", `{"folderKey":"notes","recursive":true}`), ".airi-host-")
	d.call("localFolders.writeTextAtomic", at("a", `"contents":"x"`))
	d.wantFiles(".airi-host-new", "a")
}

func TestFolders_areListed(t *testing.T) {
	d := newDesk(t, Folders{})
	for _, name := range []string{"b", "a/2", "a/1/x", "c"} {
		d.put(name, name)
	}
	when := time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)
	require.NoError(t, os.Chtimes(filepath.Join(d.dir, "b"), when, when))
	list := func(more string) (lines string) {
		t.Helper()
		var l folderListing
		require.NoError(t, json.Unmarshal([]byte(d.call("localFolders.list", `{"folderKey":"notes"`+more+`}`)), &l))
		for _, e := range l.Entries {
			require.Equal(t, filepath.Base(e.Path), e.Name)
			lines += e.Path + " "
			if e.Kind == "directory" {
				require.Nil(t, e.Size)
				lines = strings.TrimSuffix(lines, " ") + "/ "
			}
		}
		if l.Truncated {
			lines += "…"
		}
		return strings.TrimSpace(lines)
	}
	require.Equal(t, "a/ b c", list(``))
	require.Equal(t, "a/ b c", list(`,"relativePath":null,"recursive":false,"maxEntries":null`))
	require.Equal(t, "a/ a/1/ a/1/x a/2 b c", list(`,"relativePath":"  ","recursive":true`))
	require.Equal(t, "a/1/ a/2", list(`,"relativePath":"a"`))
	require.Equal(t, "a/ a/1/ a/1/x …", list(`,"recursive":true,"maxEntries":3.9`))
	require.Equal(t, "a/ …", list(`,"maxEntries":-5`))
	require.Equal(t, "a/ b c", list(`,"maxEntries":3`))
	require.Equal(t, `{"folderKey":"notes","relativePath":null,"entries":[`+
		`{"path":"b","name":"b","kind":"file","size":1,"modifiedAt":"2026-03-01T12:00:00.005Z"}],"truncated":false}`,
		strings.Replace(strings.Replace(d.call("localFolders.list", `{"folderKey":"notes"}`),
			d.entry("a")+",", "", 1), ","+d.entry("c"), "", 1))
}

// entry is an entry of a listing as it is on the wire.
func (d desk) entry(name string) string {
	info, err := os.Stat(filepath.Join(d.dir, name))
	require.NoError(d.t, err)
	e := folderEntry{Path: name, Name: name, Kind: "directory", ModifiedAt: isoTime(info.ModTime())}
	if size := info.Size(); !info.IsDir() {
		e.Kind, e.Size = "file", &size
	}
	return string(encode(e))
}

func TestFolders_aListingEndsWithItsCall(t *testing.T) {
	d := newDesk(t, Folders{})
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err := d.tryWith(ctx, "localFolders.list", `{"folderKey":"notes"}`)
	wantFault(t, err, protocol.CodeTimeout, "the call's deadline passed while the folder was listed")
}

func TestFolders_aListingHasALimit(t *testing.T) {
	d := newDesk(t, Folders{})
	for i := range maxEntries + 2 {
		require.NoError(t, os.Mkdir(filepath.Join(d.dir, fmt.Sprint(i)), 0o755))
	}
	var l folderListing
	require.NoError(t, json.Unmarshal([]byte(d.call("localFolders.list", `{"folderKey":"notes","maxEntries":1e9}`)), &l))
	require.Len(t, l.Entries, maxEntries)
	require.True(t, l.Truncated)
}
