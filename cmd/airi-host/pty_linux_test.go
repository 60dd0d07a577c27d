package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/logtest"
	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/lifecycle"
)

// porter writes the plugin of the story of terminals, and returns its directory.
func porter(t *testing.T) string {
	t.Helper()
	story, err := txtar.ParseFile(filepath.Join("testdata", "script", "pty.txtar"))
	require.NoError(t, err)
	dir := t.TempDir()
	for _, f := range story.Files {
		if name, ok := strings.CutPrefix(f.Name, "porter/"); ok {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), f.Data, 0o600))
		}
	}
	return dir
}

// serving runs a host on a plugin until the test ends, and returns its state directory.
func serving(t *testing.T, dir, plugin string) string {
	t.Helper()
	state := t.TempDir()
	cmd := exec.Command("airi-host", "run", "--listen", "off", "--state", state, dir)
	var said logtest.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Env = append(os.Environ(), "GORACE="+quickExit)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		require.NoError(t, cmd.Wait(), said.String())
	})
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		one, err := clientOf(state).Inspect(ctx, plugin)
		return err == nil && one.Phase == lifecycle.Ready
	}, patience, 10*time.Millisecond, "it is not ready")
	return state
}

// A terminal gives its keys as they are pressed, and is as before in the end, however it ends.
func TestPTY_attachesTheTerminal(t *testing.T) {
	need.Node(t)
	t.Parallel()
	state := serving(t, porter(t), "porter")
	args := []string{"pty", "porter", "--driver", "shed", "--environment", "e", "--lease", "l", "--scope", "acme", "--state", state}
	for name, row := range map[string]struct {
		keys, shown string
		code        int
	}{
		"the program ends well": {"right\r", `^code: welcome$`, exitDone},
		"the program fails":     {"wrong\r", `^code: no: wrong$`, exitFailed},
		"Ctrl-C is a key":       {"\x03", `^code: \^C$`, exitFailed},
		"Ctrl-] leaves":         {"x\x1dy", `^left plugin porter$`, exitDone},
		"it fails in a line":    {"\x03", `^airi-host: plugin porter: the program ended with status 130$`, exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := onConsole(t, 80, 10, nil, args...)
			c.wantShown(t, `^attached to plugin porter; Ctrl-\] leaves$`)
			c.wantShown(t, `^code:`)
			c.press(t, row.keys)
			c.wantShown(t, row.shown)
			c.wantExit(t, row.code)
			c.wantRestored(t)
		})
	}
}
