package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// starterFiles are the templates of a plugin's files, by language: NAME.tmpl becomes NAME.
//
//go:embed starter
var starterFiles embed.FS

const (
	starterRoot     = "starter"
	starterTemplate = ".tmpl"
)

// starter is what the templates of a new plugin are filled with.
type starter struct {
	// Name is the plugin's, ModuleName one that a Go module may have.
	Name, ModuleName string
	// SDK is the directory of a checkout for the replace of a go.mod, quoted where it has
	// to be, or ""; SDKVersion is the version that is required, GoVersion the language's.
	SDK, SDKVersion, GoVersion string
}

// starterLanguages lists the languages in which there is a starter.
func starterLanguages() []string {
	var names []string
	entries, _ := starterFiles.ReadDir(starterRoot) // it is embedded
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// starterFile is one file of a new plugin.
type starterFile struct {
	name string
	text []byte
}

// render fills the templates of a language.
func (s starter) render(language string) ([]starterFile, error) {
	dir := path.Join(starterRoot, language)
	entries, err := starterFiles.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []starterFile
	for _, e := range entries {
		t, err := template.ParseFS(starterFiles, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := t.Execute(&text, s); err != nil {
			return nil, err
		}
		files = append(files, starterFile{strings.TrimSuffix(e.Name(), starterTemplate), text.Bytes()})
	}
	return files, nil
}

// writeStarter writes files into a directory, which is made where it is not there. One that
// holds something is refused. When it fails, what it has made is gone again.
func writeStarter(dir string, files []starterFile) (err error) {
	made, err := emptyDirectory(dir)
	if err != nil {
		return err
	}
	var written []string
	defer func() {
		if err == nil {
			return
		}
		for _, file := range slices.Backward(written) {
			err = errors.Join(err, os.Remove(file))
		}
		if made {
			err = errors.Join(err, os.Remove(dir))
		}
	}()
	for _, f := range files {
		file := filepath.Join(dir, f.name)
		if err := createFile(file, f.text, &written); err != nil {
			return err
		}
	}
	return nil
}

// createFile writes a file that is not there yet.
func createFile(file string, text []byte, written *[]string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	*written = append(*written, file)
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// emptyDirectory makes a directory, unless it is there and empty.
func emptyDirectory(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			return false, err
		}
		return true, os.Mkdir(dir, 0o755)
	case err != nil:
		return false, err
	case len(entries) > 0:
		return false, fmt.Errorf("%s is not empty: name another directory by --dir, nothing is overwritten", printable(dir))
	}
	return false, nil
}
