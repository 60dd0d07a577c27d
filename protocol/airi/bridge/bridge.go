package bridge

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// Version is the bridge's own, as it says in its hello and in package.json.
	Version = "1.0.0"

	// MinNode is the oldest Node.js that can run the bridge. An older one says so
	// over the wire and exits with 1.
	MinNode = "20.6.0"

	// DescriptorIn is where the bridge reads the host's frames.
	DescriptorIn = 3

	// DescriptorOut is where the bridge writes its frames.
	DescriptorOut = 4
)

// entryName is the script that Node.js is given.
const entryName = "bridge.mjs"

//go:embed dist/*.mjs
var dist embed.FS

//go:embed NOTICE
var notice []byte

// Args are the arguments for Node.js that run the module at entry behind the
// bridge at main, which Install returned. The process has to start in the
// plugin's directory: a relative entry is looked up there, and places in errors
// are told relative to it. The bridge needs no environment variables.
func Args(main, entry string) []string { return []string{main, entry} }

// Install writes the bridge below dir, which is made when it is not there, and
// returns the path of its main script. The folder's name comes from its content:
// hosts of several versions may share dir, a folder that is complete already is
// used as it is, one that was changed is replaced, and a reader never sees half
// of one. Only the user may read it.
func Install(dir string) (main string, err error) {
	files, err := contents()
	if err != nil {
		return "", err
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("bridge for AIRI modules: %w", err)
	}
	target := filepath.Join(root, folderName(files))
	if !isInstalled(target, files) {
		if err := install(root, target, files); err != nil {
			return "", fmt.Errorf("bridge for AIRI modules: install it in %s: %w", root, err)
		}
	}
	return filepath.Join(target, entryName), nil
}

// file is one embedded file, by its name in the installed folder.
type file struct {
	name string
	data []byte
}

// contents lists the embedded files in the order of their names.
func contents() ([]file, error) {
	files := []file{{name: "NOTICE", data: notice}}
	entries, err := dist.ReadDir("dist")
	if err != nil {
		return nil, fmt.Errorf("bridge for AIRI modules: %w", err)
	}
	for _, e := range entries {
		data, err := dist.ReadFile("dist/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("bridge for AIRI modules: %w", err)
		}
		files = append(files, file{name: e.Name(), data: data})
	}
	return files, nil
}

func folderName(files []file) string {
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s %d\n", f.name, len(f.data))
		sum.Write(f.data)
	}
	return "airi-bridge-" + Version + "-" + hex.EncodeToString(sum.Sum(nil)[:8])
}

// isInstalled tells whether the folder is what an installation leaves: private,
// and with these files and no others.
func isInstalled(folder string, files []file) bool {
	info, err := os.Lstat(folder)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	found, err := os.ReadDir(folder)
	if err != nil || len(found) != len(files) {
		return false
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(folder, f.name))
		if err != nil || !bytes.Equal(data, f.data) {
			return false
		}
	}
	return true
}

// isIntact tells whether a folder has the bridge as it was written.
func isIntact(folder string) bool {
	files, err := contents()
	return err == nil && isInstalled(folder, files)
}

// install fills a folder beside the target and renames it. Whoever else installs
// at the same time does the same, and one of the two folders stays.
func install(root, target string, files []file) (err error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(root, ".airi-bridge-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	fresh := filepath.Join(scratch, "new")
	if err := fill(fresh, files); err != nil {
		return err
	}
	if err := os.Rename(target, filepath.Join(scratch, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, target); err != nil && !isInstalled(target, files) {
		return err
	}
	return nil
}

func fill(folder string, files []file) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(folder, f.name), f.data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
