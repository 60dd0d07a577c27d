package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// startAsInit starts a host as the first process of a namespace, as in a container.
func startAsInit(t *testing.T, args ...string) (c *child, pid int) {
	t.Helper()
	inside := []string{"-Urpf", "--mount-proc"}
	out, err := exec.Command("unshare", append(inside, "true")...).CombinedOutput()
	need.That(t, err == nil, fmt.Sprintf("no namespace can be made here: %v: %s", err, out))
	c = startCommand(t, exec.Command("unshare", append(append(inside, "airi-host"), unheard(args)...)...))
	outer := strconv.Itoa(c.cmd.Process.Pid)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join("/proc", outer, "task", outer, "children"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && pid != 0
	}, patience, time.Millisecond)
	return c, pid
}

// deadChildren counts the zombies of a process.
func deadChildren(pid int) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		_, rest, found := bytes.Cut(text, []byte(") "))
		if err == nil && found && bytes.HasPrefix(rest, fmt.Appendf(nil, "Z %d ", pid)) {
			n++
		}
	}
	return n
}

func TestRun_isTheFirstProcessOfAContainer(t *testing.T) {
	need.Node(t)
	t.Parallel()
	state := t.TempDir()
	c, pid := startAsInit(t, "run", "--state", state, "--drain", "3s",
		filepath.Join(plugins, "greeter"), writePlugin(t, "parent", awkward["parent"]), writePlugin(t, "deaf", awkward["deaf"]))
	c.wantLine(t, `^serving 3 plugins`)

	// What is run beside it, and left behind, comes to it, and goes.
	beside := exec.Command("nsenter", "-t", strconv.Itoa(pid), "-U", "--preserve-credentials", "-p", "-m",
		"sh", "-c", "(setsid sleep 0.05 &) ; (sleep 0.1 &)")
	out, err := beside.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Eventually(t, func() bool { return deadChildren(pid) == 2 }, patience, 5*time.Millisecond, "they did not come")
	require.Eventually(t, func() bool { return deadChildren(pid) == 0 }, patience, 20*time.Millisecond, "they were left dead")

	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	c.wantExit(t, exitDone)
	require.Regexp(t, `greeter +ready +→ stopped`, c.seen.String())
}

// The kernel spares the first process from signals that it does not listen to.
func TestRun_asTheFirstProcessStillHearsSignals(t *testing.T) {
	need.Node(t)
	t.Parallel()
	c, pid := startAsInit(t, "run", "--once", "--start-limit", "1m", filepath.Join(broken, "silent"))
	c.wantLine(t, `silent +announced +→ preparing$`)
	require.NoError(t, syscall.Kill(pid, syscall.SIGINT))
	c.wantExit(t, exitFailed)
	require.Contains(t, c.err.String(), "interrupted before the plugins had started")
}
