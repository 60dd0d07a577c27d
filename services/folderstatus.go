package services

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
)

// folderStatus is what Paperclip tells about a folder.
type folderStatus struct {
	FolderKey           string          `json:"folderKey"`
	Configured          bool            `json:"configured"`
	Path                *string         `json:"path"`
	RealPath            *string         `json:"realPath"`
	Access              string          `json:"access"`
	Readable            bool            `json:"readable"`
	Writable            bool            `json:"writable"`
	RequiredDirectories []string        `json:"requiredDirectories"`
	RequiredFiles       []string        `json:"requiredFiles"`
	MissingDirectories  []string        `json:"missingDirectories"`
	MissingFiles        []string        `json:"missingFiles"`
	Healthy             bool            `json:"healthy"`
	Problems            []folderProblem `json:"problems"`
	CheckedAt           string          `json:"checkedAt"`
}

// folderProblem is what is wrong with a folder; the codes are Paperclip's.
type folderProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"`
}

// inspect looks at a folder as it is now.
func (a *asked) inspect() folderStatus {
	s := folderStatus{
		FolderKey: a.key, Access: "readWrite", CheckedAt: isoTime(time.Now()), Problems: []folderProblem{},
		RequiredDirectories: append([]string{}, a.folder.Directories...), RequiredFiles: append([]string{}, a.folder.Files...),
		MissingDirectories: []string{}, MissingFiles: []string{},
	}
	if a.folder.ReadOnly {
		s.Access = "read"
	}
	if !a.declared {
		s.problem("not_configured", "The operator has declared no such folder.", "")
		return s
	}
	s.Configured, s.Path = true, &a.folder.Path
	root, err := a.open()
	if err != nil {
		s.unopened(a.folder, err)
		return s
	}
	defer func() { _ = root.Close() }() // a directory
	if target, err := filepath.EvalSymlinks(a.folder.Path); err == nil {
		s.RealPath = &target
	}
	s.look(root, a.folder)
	s.Healthy = len(s.Problems) == 0
	return s
}

func (s *folderStatus) problem(code, message, path string) {
	s.Problems = append(s.Problems, folderProblem{code, message, path})
}

// unopened tells why a folder cannot be used at all.
func (s *folderStatus) unopened(f Folder, err error) {
	code := "not_readable"
	info, statErr := os.Stat(f.Path)
	switch {
	case !filepath.IsAbs(f.Path):
		code = "not_absolute"
	case errors.Is(err, fs.ErrNotExist):
		code = "missing"
	case statErr == nil && !info.IsDir():
		code = "not_directory"
	}
	s.problem(code, "The folder cannot be opened: "+reason(err)+".", f.Path)
	s.MissingDirectories, s.MissingFiles = s.RequiredDirectories, s.RequiredFiles
}

// look tells what can be done in a folder, and what is missing there.
func (s *folderStatus) look(root *os.Root, f Folder) {
	s.Readable = canRead(root)
	if !s.Readable {
		s.problem("not_readable", "The folder cannot be read.", f.Path)
	}
	if !f.ReadOnly {
		if s.Writable = canWrite(root); !s.Writable {
			s.problem("not_writable", "The folder cannot be written to.", f.Path)
		}
	}
	for _, dir := range f.Directories {
		if s.missing(root, dir, "directory", fs.FileMode.IsDir) {
			s.MissingDirectories = append(s.MissingDirectories, dir)
		}
	}
	for _, file := range f.Files {
		if s.missing(root, file, "file", fs.FileMode.IsRegular) {
			s.MissingFiles = append(s.MissingFiles, file)
		}
	}
}

// missing tells that something a plugin needs is not there, or is something else.
func (s *folderStatus) missing(root *os.Root, name, kind string, is func(fs.FileMode) bool) bool {
	info, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		s.problem("symlink_escape", "What is needed is a link, and links are not followed.", name)
		return false
	case err == nil && is(info.Mode()):
		return false
	}
	s.problem("missing_"+kind, "The "+kind+" that is needed is missing.", name)
	return true
}

func canRead(root *os.Root) bool {
	d, err := root.Open(".")
	if err != nil {
		return false
	}
	defer func() { _ = d.Close() }() // it is only read
	_, err = d.Readdirnames(1)
	return err == nil || errors.Is(err, io.EOF)
}

// canWrite tries: permissions do not tell it all.
func canWrite(root *os.Root) bool {
	name := unfinished + uuid.NewString()
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), root.Remove(name)) == nil
}
