package evaluate

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// answer is what a module said, and what it was made of then.
type answer struct {
	mark [sha256.Size]byte
	data []byte
}

// The limits of what is kept, and looked at for it.
const (
	maxKept     = 256     // modules
	maxSource   = 8 << 20 // bytes of a module or of a package.json
	maxSiblings = 1000    // files beside a module
)

func (n *Node) recall(module string, mark [sha256.Size]byte) ([]byte, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a, ok := n.kept[module]
	if !ok || a.mark != mark {
		return nil, false
	}
	return bytes.Clone(a.data), true
}

// keep remembers an answer in the place of the module's last one. When there are too
// many, all others are forgotten.
func (n *Node) keep(module string, mark [sha256.Size]byte, data []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.kept[module]; n.kept == nil || !known && len(n.kept) >= maxKept {
		n.kept = map[string]answer{}
	}
	n.kept[module] = answer{mark, bytes.Clone(data)}
}

// fingerprint tells what a module is made of, as far as that is looked at: its text,
// the package.json that says how to read it, and the files beside it by name, size and
// time. It is unknown when one of them cannot be read, or is too much.
func fingerprint(module string) (mark [sha256.Size]byte, known bool) {
	hash := sha256.New()
	dir := filepath.Dir(module)
	if !addFile(hash, module) || !addFile(hash, packageAbove(dir)) {
		return mark, false
	}
	d, err := os.Open(dir)
	if err != nil {
		return mark, false
	}
	defer func() { _ = d.Close() }() // it was only read
	siblings, err := d.ReadDir(maxSiblings + 1)
	if err != nil && !errors.Is(err, io.EOF) || len(siblings) > maxSiblings {
		return mark, false
	}
	if err := addEntries(hash, siblings); err != nil {
		return mark, false
	}
	return [sha256.Size]byte(hash.Sum(nil)), true
}

// addEntries adds name, size and time of each file.
func addEntries(to io.Writer, entries []fs.DirEntry) error {
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(to, "%q %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
	}
	return nil
}

// addFile adds a file's text; "" is no file. It opens regular files only: a named
// pipe would block for ever.
func addFile(to io.Writer, name string) bool {
	if name == "" {
		return true
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return false
	}
	data, err := os.ReadFile(name)
	fmt.Fprintf(to, "%q %d\n", name, len(data))
	_, _ = to.Write(data) // a hash takes everything
	return err == nil
}

// packageAbove returns the package.json that Node goes by for a directory, or "".
func packageAbove(dir string) string {
	for {
		name := filepath.Join(dir, "package.json")
		if _, err := os.Stat(name); err == nil {
			return name
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
