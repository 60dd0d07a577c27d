package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// A worker sees the end of its input when its host is killed; what it started in a
// session of its own sees nothing.
func TestRun_endsWhatAKilledHostLeftBehind(t *testing.T) {
	need.Node(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	breeder := writePlugin(t, "breeder", `
		import { spawn } from 'node:child_process'
		export const setupModules = () => {
			spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref()
		}
	`)
	killed := startHost(t, "run", breeder)
	killed.wantLine(t, `^serving 1 plugin;`)
	killed.signal(t, os.Kill)
	_ = killed.cmd.Wait()
	require.Eventually(t, func() bool { // the worker goes by itself
		left := leftovers(killed.marker)
		return len(left) == 1 && left[0] == "sleep 1000 "
	}, 10*time.Second, 10*time.Millisecond)

	next := startHost(t, "run", filepath.Join(plugins, "greeter"))
	next.wantLine(t, `^serving 1 plugin;`)
	require.Contains(t, next.err.String(), "ended what a killed host had left behind")
	require.Empty(t, leftovers(killed.marker))
	next.signal(t, os.Interrupt)
	next.wantExit(t, exitDone)
}

// The directories of scripts that run side by side may begin with the same name.
func TestLeftovers_areNotThoseOfAScriptWithALongerName(t *testing.T) {
	dir := t.TempDir()
	longer := exec.Command("sleep", "1000")
	longer.Env = []string{"PATH=" + os.Getenv("PATH"), "WORK=" + dir + "/one-more", "TMPDIR=" + dir + "/one-more/.tmp"}
	require.NoError(t, longer.Start())
	t.Cleanup(func() {
		_ = longer.Process.Kill()
		_ = longer.Wait()
	})
	require.Empty(t, leftoversBelow(dir+"/one"))
	require.Len(t, leftoversBelow(dir+"/one-more"), 1)
}
