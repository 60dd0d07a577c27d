package ecosystems

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// KeyFile is the file in an elizaOS plugin's directory with the key by which what is called
// of its worker is signed: 64 hexadecimal digits, mode 0600, there while that worker runs.
const KeyFile = "rpc.key"

// Homes are the directories in which elizaOS plugins may keep files, and the keys that
// workers find there. A worker has a key of its own: calls are numbered anew for each
// process, so a call that was signed for one must not count for the next one. Any goroutine
// may use them.
type Homes struct {
	dir   func(plugin string) (string, error)
	signs func(plugin string) bool

	mu sync.Mutex
	// keys are those of the workers that run, by plugin.
	keys map[string][]byte
}

// NewHomes returns the directories that dir makes and returns, by the plugin's name; nil
// gives plugins none. signs tells, as a worker is started, whether what is called of it is
// signed; nil signs nothing.
func NewHomes(dir func(plugin string) (string, error), signs func(plugin string) bool) *Homes {
	return &Homes{dir: dir, signs: signs, keys: map[string][]byte{}}
}

// Key returns the key of the worker that a plugin has now; nil where its calls are not
// signed.
func (h *Homes) Key(plugin string) []byte {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys[plugin]
}

// home is what one worker has of its plugin's directory, "" for none. leave takes its key
// away.
type home struct {
	dir   string
	leave func()
}

var errNoHome = errors.New("its calls are to be signed, and it has no state directory to find the key in: " +
	"give it one, or do not have them signed")

// enter prepares the directory of a plugin for a worker that is about to start.
func (h *Homes) enter(plugin string) (home, error) {
	if h == nil {
		return home{leave: func() {}}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	here, err := home{leave: func() {}}, error(nil)
	if h.dir != nil {
		here.dir, err = h.dir(plugin)
	}
	signed := h.signs != nil && h.signs(plugin)
	switch {
	case err != nil:
	case here.dir != "":
		err = h.renew(plugin, &here, signed)
	case signed:
		err = errNoHome
	}
	if err != nil {
		return home{}, fmt.Errorf("plugin %s: its state directory: %w", plugin, err)
	}
	return here, nil
}

// renew puts another key in the place of a plugin's, or none.
func (h *Homes) renew(plugin string, here *home, signed bool) error {
	delete(h.keys, plugin)
	file := filepath.Join(here.dir, KeyFile)
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !signed {
		return nil
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	if err := writeKey(file, key); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	h.keys[plugin] = key
	here.leave = func() { h.leave(plugin, file, key) }
	return nil
}

// writeKey writes a file that is not there: what a plugin has left in its place, a link
// perhaps, is not written through.
func writeKey(file string, key []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(hex.EncodeToString(key))
	return errors.Join(err, f.Close())
}

// leave takes a worker's key away, unless the plugin has a newer one.
func (h *Homes) leave(plugin, file string, key []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.keys[plugin]; len(now) > 0 && &now[0] == &key[0] {
		delete(h.keys, plugin)
		_ = os.Remove(file) // it is worth nothing any more
	}
}
