package services

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// desk is a worker with a folder "notes" that the operator has declared for company c1.
type desk struct {
	worker
	dir    string
	folder *Folder
}

func newDesk(t *testing.T, limits Folders) desk {
	t.Helper()
	dir := t.TempDir()
	folder := &Folder{Path: dir}
	limits.Declared = func(plugin, company, key string) (Folder, bool) {
		return *folder, plugin == "demo" && company == "c1" && key == "notes"
	}
	return desk{newWorker(t, &plugins{}, Options{Folders: limits}), dir, folder}
}

// put writes a file below the folder, by hand.
func (d desk) put(name, text string) {
	d.t.Helper()
	file := filepath.Join(d.dir, filepath.FromSlash(name))
	require.NoError(d.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(d.t, os.WriteFile(file, []byte(text), 0o600))
}

// has is what a file holds.
func (d desk) has(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	require.NoError(d.t, err)
	return string(text)
}

// wantFiles are all that is in the folder.
func (d desk) wantFiles(want ...string) {
	d.t.Helper()
	got := []string{}
	require.NoError(d.t, filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		if !e.IsDir() {
			name, _ := filepath.Rel(d.dir, path)
			got = append(got, filepath.ToSlash(name))
		}
		return err
	}))
	require.Equal(d.t, append([]string{}, want...), got)
}

// at are the parameters of a call about a path.
func at(path string, more ...string) string {
	quoted, _ := json.Marshal(path)
	return `{"folderKey":"notes","relativePath":` + strings.Join(append([]string{string(quoted)}, more...), ",") + `}`
}

var byPath = []string{"localFolders.readText", "localFolders.writeTextAtomic", "localFolders.deleteFile"}

func TestFolders_noPathLeadsOut(t *testing.T) {
	d := newDesk(t, Folders{})
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	for _, path := range []string{"..", "../x", "a/../../x", "a/..", "/etc/passwd", `..\x`, "a//b", "a/", "./a", ".", "a\x00b"} {
		for _, method := range append(byPath, "localFolders.list") {
			d.wantRefused(protocol.CodeInvalid, method, at(path, `"contents":"x"`), "relativePath: expected a path below the folder")
		}
	}
	require.NoError(t, os.Symlink(outside, filepath.Join(d.dir, "out")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(d.dir, "link")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(d.dir, "dangling")))
	d.put("in/file", "x")
	require.NoError(t, os.Symlink("in", filepath.Join(d.dir, "inside")))
	for _, path := range []string{"out/secret", "out/new", "link", "dangling", "inside/file"} {
		for _, method := range byPath {
			d.wantRefused(protocol.CodeDenied, method, at(path, `"contents":"x"`), "is a link, and links are not followed")
		}
	}
	d.wantRefused(protocol.CodeDenied, "localFolders.list", at("out"), `"out" is a link`)
	require.NotContains(t, d.call("localFolders.list", `{"folderKey":"notes","recursive":true}`), "out")
	d.folder.Directories = []string{"inside/new"}
	d.wantRefused(protocol.CodeDenied, "localFolders.writeTextAtomic", at("a", `"contents":"x"`), `"inside" is a link`)
	d.folder.Directories = []string{"../new"}
	d.wantRefused(protocol.CodeInvalid, "localFolders.writeTextAtomic", at("a", `"contents":"x"`), `directory "../new": expected a path below the folder`)
}

func TestFolders_areThoseThatTheOperatorDeclared(t *testing.T) {
	d := newDesk(t, Folders{})
	methods := append([]string{"localFolders.list", "localFolders.configure"}, byPath...)
	const other = `"path":"/tmp","relativePath":"a","contents":"x"`
	for _, method := range methods {
		d.wantRefused(protocol.CodeNotFound, method, `{"folderKey":"others",`+other+`}`, `folder "others": the operator has declared none of that name`)
		d.wantRefused(protocol.CodeNotFound, method, `{"companyId":"c2","folderKey":"notes",`+other+`}`, "the operator has declared none")
	}
	someone := d.worker
	someone.name = "other"
	someone.wantRefused(protocol.CodeNotFound, "localFolders.readText", at("a"), "the operator has declared none")
	none := newWorker(t, &plugins{}, Options{})
	for _, method := range methods {
		none.wantRefused(protocol.CodeNotFound, method, `{"folderKey":"notes",`+other+`}`, "the operator has declared none")
	}
	none.scope = ""
	for _, method := range append(methods, "localFolders.status") {
		none.wantRefused(protocol.CodeInvalid, method, `{"folderKey":"notes",`+other+`}`, "companyId: expected a company: a folder is of one")
		none.wantRefused(protocol.CodeInvalid, method, `{"companyId":"c1",`+other+`}`, "folderKey: expected a string that is not blank")
	}
}

func TestFolders_aPluginMayNameOnlyTheDeclaredPath(t *testing.T) {
	d := newDesk(t, Folders{})
	d.folder.Directories = []string{"inbox/new"}
	path, _ := json.Marshal(d.dir + "/")
	status := readStatus(t, d.call("localFolders.configure", `{"folderKey":"notes","path":`+string(path)+`,"access":"read"}`))
	require.True(t, status.Healthy)
	require.Equal(t, "readWrite", status.Access, "the operator's word counts")
	require.DirExists(t, filepath.Join(d.dir, "inbox", "new"))
	d.wantRefused(protocol.CodeDenied, "localFolders.configure", `{"folderKey":"notes","path":"/etc"}`,
		`path: which path folder "notes" has is the operator's to say`)
	d.wantRefused(protocol.CodeInvalid, "localFolders.configure", `{"folderKey":"notes"}`, "path: expected a string")
}

func TestFolders_oneThatCannotBeOpenedIsNamed(t *testing.T) {
	d := newDesk(t, Folders{})
	for path, why := range map[string]string{
		filepath.Join(d.dir, "missing"): "no such file or directory", "relative": "its path is not absolute",
	} {
		d.folder.Path = path
		for _, method := range append(byPath, "localFolders.list") {
			d.wantRefused(protocol.CodeNotFound, method, at("a", `"contents":"x"`), `folder "notes" cannot be opened: `+why)
		}
	}
}

func TestFolders_hasALimitOnCalls(t *testing.T) {
	s := newFolderService(Folders{AtOnce: 1})
	entered, leave := make(chan struct{}), make(chan struct{})
	s.limits.Declared = func(string, string, string) (Folder, bool) {
		close(entered)
		<-leave
		return Folder{}, false
	}
	w := worker{t: t, services: s.services(), name: "demo", scope: "c1"}
	var first sync.WaitGroup
	first.Go(func() { _, _ = w.try("localFolders.status", `{"folderKey":"notes"}`) })
	<-entered
	w.wantRefused(protocol.CodeOverloaded, "localFolders.status", `{"folderKey":"notes"}`, "1 calls about folders run: wait for one to end")
	close(leave)
	first.Wait()
	s.limits.Declared = nil
	w.call("localFolders.status", `{"folderKey":"notes"}`)
}

func TestLocks_oneHasALockAtATime(t *testing.T) {
	l := &locks{held: map[string]*held{}}
	n := 0
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			defer l.lock("a")()
			n++
		})
	}
	defer l.lock("b")()
	all.Wait()
	require.Equal(t, 50, n)
	require.Len(t, l.held, 1, "b's alone is kept")
}

func TestIsoTime_isThatOfJavaScript(t *testing.T) {
	require.Equal(t, "2026-03-01T12:00:00.000Z", isoTime(time.Date(2026, 3, 1, 14, 0, 0, 0, time.FixedZone("", 7200))))
}
