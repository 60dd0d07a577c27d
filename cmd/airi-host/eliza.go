package main

import (
	"cmp"
	"os"
	"path/filepath"
	"sync"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// elizaDirs is where elizaOS's plugins keep files, below the state directory.
const elizaDirs = "eliza"

// elizaDir returns what makes the directory of a plugin, for nobody but us. Any goroutine
// may call it.
func (st *state) elizaDir() func(plugin string) (string, error) {
	var making sync.Mutex
	return func(plugin string) (string, error) {
		making.Lock()
		defer making.Unlock()
		dir, err := st.path()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(dir, elizaDirs, plugin)
		return dir, os.MkdirAll(dir, 0o700)
	}
}

// signs tells whether what is called of a plugin's worker is signed.
func (s *settings) signs(plugin string) bool { return s.now().Plugins[plugin].Sign }

// deniedEliza has it kept that the permissions of an elizaOS plugin did not allow something.
func (st *state) deniedEliza(d eliza.Denial) {
	st.denied(actors.Denial{
		Origin: actors.Origin{Plugin: d.Plugin}, What: d.Surface + " " + d.Target, Grant: d.Permission,
		Reason: cmp.Or(d.Reason, "plugin "+d.Plugin+" is not granted "+d.Permission),
	})
}
