package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Node runs modules behind the bridge with Node.js. The zero
// value is ready for use, and its methods may be called from any goroutine. The
// bridge is written to a directory of its own when it is first needed; Close
// removes that.
type Node struct {
	// Program is the path of Node.js; "" is the one that is on PATH.
	Program string

	mu   sync.Mutex
	dir  string
	main string
}

// ErrNoNode tells that there is no Node.js to run a module with.
var ErrNoNode = errors.New("no Node.js on PATH: install version " + MinNode + " or newer to run AIRI modules")

// Command returns the program and the arguments that run the module at path. It
// fails with ErrNoNode, or when the bridge cannot be written.
func (n *Node) Command(_ context.Context, path string) ([]string, error) {
	node, err := n.program()
	if err != nil {
		return nil, err
	}
	main, err := n.installed()
	if err != nil {
		return nil, err
	}
	return append([]string{node}, Args(main, path)...), nil
}

// program finds Node.js.
func (n *Node) program() (string, error) {
	if n.Program != "" {
		return exec.LookPath(n.Program)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return "", ErrNoNode
	}
	return node, nil
}

// installed is where the bridge is. One that is not as it was written is written anew, elsewhere:
// directories for temporary files are cleared away in the long run, and are everybody's.
func (n *Node) installed() (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.main != "" && isIntact(filepath.Dir(n.main)) {
		return n.main, nil
	}
	if err := n.remove(); err != nil {
		return "", fmt.Errorf("bridge for AIRI modules: %w", err)
	}
	dir, err := os.MkdirTemp("", "airi-host-bridge-")
	if err != nil {
		return "", fmt.Errorf("bridge for AIRI modules: %w", err)
	}
	n.dir = dir
	n.main, err = Install(dir)
	return n.main, err
}

// Close removes what Command wrote. Modules that run are not touched, but those
// that start while it removes may fail.
func (n *Node) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.remove()
}

func (n *Node) remove() error {
	dir := n.dir
	n.dir, n.main = "", ""
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}
