package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/logtest"
)

// quickExit keeps a binary with the race detector from sleeping when it ends.
const quickExit = "atexit_sleep_ms=10"

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// child is a host that runs in a process of its own.
type child struct {
	cmd   *exec.Cmd
	out   io.ReadCloser
	lines chan string
	// seen is what came on standard output and was read.
	seen strings.Builder
	err  logtest.Buffer
	// marker is in the environment of the host and of its workers, and is the
	// directory for their temporary files.
	marker string
}

// startHost starts airi-host; when the test is over nothing of it may be left. It does
// not listen for HTTP, unless it is told to.
func startHost(t *testing.T, args ...string) *child {
	t.Helper()
	return startCommand(t, exec.Command("airi-host", unheard(args)...))
}

// unheard keeps a host from listening where another one may.
func unheard(args []string) []string {
	if args[0] == "run" && !slices.Contains(args, "--listen") {
		return append(slices.Clone(args), "--listen", "off")
	}
	return args
}

// ownState gives a command a state directory of its own, unless the test has one.
func ownState(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("XDG_STATE_HOME"); dir != sharedState {
		return "XDG_STATE_HOME=" + dir
	}
	return "XDG_STATE_HOME=" + t.TempDir()
}

// startCommand starts a command that becomes airi-host.
func startCommand(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{cmd: cmd, lines: make(chan string, 4096), marker: t.TempDir()}
	c.cmd.Env = append(os.Environ(), "TMPDIR="+c.marker, "GORACE="+quickExit, ownState(t))
	c.cmd.Stderr = &c.err
	var err error
	c.out, err = c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	go c.read()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		require.Empty(t, leftovers(c.marker), "processes were left")
		if t.Failed() {
			t.Logf("stdout:\n%s\nstderr:\n%s", &c.seen, &c.err)
		}
	})
	return c
}

func (c *child) read() {
	defer close(c.lines)
	for s := bufio.NewScanner(c.out); s.Scan(); {
		c.lines <- s.Text()
	}
}

// wantLine reads standard output up to a line that matches.
func (c *child) wantLine(t *testing.T, pattern string) {
	t.Helper()
	match := regexp.MustCompile(pattern)
	late := time.After(patience)
	for {
		select {
		case line, ok := <-c.lines:
			require.True(t, ok, "standard output ended before %q", pattern)
			c.seen.WriteString(line + "\n")
			if match.MatchString(line) {
				return
			}
		case <-late:
			require.FailNow(t, "no line came that matches", pattern)
		}
	}
}

// wantLogged waits until standard error has the text.
func (c *child) wantLogged(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(c.err.String(), text) },
		patience, 5*time.Millisecond, "it was not logged: %s", text)
}

// rest reads standard output to its end.
func (c *child) rest() string {
	var b strings.Builder
	for line := range c.lines {
		b.WriteString(line + "\n")
	}
	c.seen.WriteString(b.String())
	return b.String()
}

func (c *child) signal(t *testing.T, s os.Signal) {
	t.Helper()
	require.NoError(t, c.cmd.Process.Signal(s))
}

// wantExit waits for the end and compares the exit code.
func (c *child) wantExit(t *testing.T, code int) {
	t.Helper()
	late := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	c.rest()
	_ = c.cmd.Wait() // the code tells
	require.Equal(t, code, c.cmd.ProcessState.ExitCode(), "%s", c.cmd.ProcessState)
	require.NotContains(t, c.err.String(), "goroutine ", "it panicked")
	files, err := filepath.Glob(filepath.Join(c.marker, "*"))
	require.NoError(t, err)
	require.Empty(t, files, "files were left")
}

// leftovers lists the processes that have the marker in their environment. Only
// Linux lets them be seen.
func leftovers(marker string) []string {
	var left []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte(marker)) {
			continue
		}
		cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		left = append(left, strings.ReplaceAll(string(cmd), "\x00", " "))
	}
	return left
}

// plugins and broken are the repository's own plugins, seen from this package.
var (
	plugins = filepath.Join("..", "..", "testdata", "plugins")
	broken  = filepath.Join("..", "..", "testdata", "broken")
)

// writePlugin makes the directory of a plugin that is a module in Node.
func writePlugin(t *testing.T, name, module string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Mkdir(dir, 0o755))
	manifest := fmt.Sprintf(`{
		"apiVersion": "v1", "kind": "manifest.plugin.airi.moeru.ai",
		"name": %q, "entrypoints": {"node": "./plugin.mjs"}
	}`, name)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin.json"), []byte(manifest), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin.mjs"), []byte(module), 0o644))
	return dir
}
