package services

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func readStatus(t *testing.T, answer string) (s folderStatus) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(answer), &s))
	return s
}

// wantProblems are the codes of what is wrong.
func (d desk) wantProblems(want ...string) folderStatus {
	d.t.Helper()
	s := readStatus(d.t, d.call("localFolders.status", `{"folderKey":"notes"}`))
	got := []string{}
	for _, p := range s.Problems {
		got = append(got, p.Code+" "+p.Path)
	}
	require.Equal(d.t, append([]string{}, want...), got)
	require.Equal(d.t, len(want) == 0, s.Healthy)
	return s
}

func TestFolderStatus_isThatOfPaperclip(t *testing.T) {
	d := newDesk(t, Folders{})
	var answer map[string]any
	require.NoError(t, json.Unmarshal([]byte(d.call("localFolders.status", `{"folderKey":"notes"}`)), &answer))
	require.NotEmpty(t, answer["checkedAt"])
	delete(answer, "checkedAt")
	target, err := filepath.EvalSymlinks(d.dir)
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"folderKey": "notes", "configured": true, "path": d.dir, "realPath": target, "access": "readWrite",
		"readable": true, "writable": true, "healthy": true, "problems": []any{},
		"requiredDirectories": []any{}, "requiredFiles": []any{}, "missingDirectories": []any{}, "missingFiles": []any{},
	}, answer)
	d.wantFiles() // nothing stays of the look
}

func TestFolderStatus_tellsWhatIsWrong(t *testing.T) {
	d := newDesk(t, Folders{})
	d.folder.Directories, d.folder.Files = []string{"dir", "file"}, []string{"file", "dir", "link"}
	s := d.wantProblems("missing_directory dir", "missing_directory file", "missing_file file", "missing_file dir", "missing_file link")
	require.Equal(t, d.folder.Directories, s.MissingDirectories)
	require.Equal(t, d.folder.Files, s.MissingFiles)
	d.put("dir/x", "")
	d.put("file", "")
	require.NoError(t, os.Symlink("file", filepath.Join(d.dir, "link")))
	s = d.wantProblems("missing_directory file", "missing_file dir", "symlink_escape link")
	require.Equal(t, []string{"file"}, s.MissingDirectories)
	require.Equal(t, []string{"dir"}, s.MissingFiles)

	d.folder.Path = filepath.Join(d.dir, "file")
	s = d.wantProblems("not_directory " + d.folder.Path)
	require.Equal(t, d.folder.Files, s.MissingFiles)
	d.folder.Path = filepath.Join(d.dir, "missing")
	d.wantProblems("missing " + d.folder.Path)
	d.folder.Path = "relative"
	d.wantProblems("not_absolute relative")
}

func TestFolderStatus_ofOneForReading(t *testing.T) {
	d := newDesk(t, Folders{})
	d.folder.ReadOnly = true
	s := d.wantProblems()
	require.Equal(t, "read", s.Access)
	require.False(t, s.Writable)
}

func TestFolderStatus_ofOneThatIsNotDeclared(t *testing.T) {
	s := readStatus(t, newWorker(t, &plugins{}, Options{}).call("localFolders.status", `{"folderKey":"notes"}`))
	require.False(t, s.Configured)
	require.Nil(t, s.Path)
	require.Equal(t, "not_configured", s.Problems[0].Code)
}

// A directory that was closed stands for one that may not be used: root may do all.
func TestFolderStatus_tellsWhatMayNotBeDone(t *testing.T) {
	d := newDesk(t, Folders{})
	root, err := os.OpenRoot(d.dir)
	require.NoError(t, err)
	require.NoError(t, root.Close())
	var s folderStatus
	s.look(root, Folder{Path: d.dir})
	require.Equal(t, []folderProblem{
		{"not_readable", "The folder cannot be read.", d.dir}, {"not_writable", "The folder cannot be written to.", d.dir},
	}, s.Problems)
	require.False(t, s.Readable || s.Writable)
}
