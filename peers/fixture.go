package peers

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

//go:embed testdata/paperclip
var fixtures embed.FS

// The file names of a fixture.
const (
	changesFile  = "changes.json"
	recorderFile = "record.mjs"
	// Received is what a recorded worker read, Sent what it wrote: a frame a line.
	Received = "received.ndjson"
	Sent     = "sent.ndjson"
)

// Changes are what a copy of a fixture has of its own.
type Changes struct {
	// ID is the plugin's id; "" leaves the fixture's name.
	ID string
	// Host is the object "airi-host" of the manifest; nil is none.
	Host map[string]any
	// Record lets the worker keep what it reads and writes, in the files Received
	// and Sent of its directory. Restarts append to them.
	Record bool
}

// Fixture makes a copy of a plugin of testdata/paperclip, which finds the packages of
// modules, and returns its directory. It is removed with the test.
func Fixture(t testing.TB, modules, name string, c Changes) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = Unpack(dir, modules, name, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Unpack is Fixture outside of a test, into a directory that exists and is empty.
func Unpack(dir, modules, name string, c Changes) error {
	files, err := fs.Sub(fixtures, "testdata/paperclip/"+name)
	if err != nil {
		return err
	}
	if _, err := fs.Stat(files, changesFile); err != nil {
		return fmt.Errorf("there is no fixture %q: expected a folder of peers/testdata/paperclip", name)
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		return err
	}
	return c.apply(dir)
}

func (c Changes) apply(dir string) error {
	members := map[string]any{}
	if c.ID != "" {
		members["id"] = c.ID
	}
	if c.Host != nil {
		members["airi-host"] = c.Host
	}
	if c.Record {
		members["entrypoints"] = map[string]string{"worker": "./" + recorderFile}
		if err := place(dir, recorderFile); err != nil {
			return err
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		return fmt.Errorf("the changes of %s: %w", dir, err)
	}
	return os.WriteFile(filepath.Join(dir, changesFile), text, 0o600)
}

// place copies a script of testdata/paperclip.
func place(dir, name string) error {
	text, err := fixtures.ReadFile("testdata/paperclip/" + name)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), text, 0o600)
}
