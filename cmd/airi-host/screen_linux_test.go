package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/internal/logtest"
	"github.com/airi-host/airi-host/internal/need"
)

// console is a terminal with somebody in front of it, on which the host runs.
type console struct {
	cmd *exec.Cmd
	pty *os.File
	// mu guards screen.
	mu     sync.Mutex
	screen *vt.Emulator
	// raw is all that was written.
	raw    logtest.Buffer
	closed chan struct{}
	before *term.State
	marker string
}

// controlling makes standard input the terminal of a session of its own.
var controlling = &syscall.SysProcAttr{Setsid: true, Setctty: true}

// onConsole starts the host on a terminal of its own, as a shell's foreground job.
func onConsole(t *testing.T, width, height int, env []string, args ...string) *console {
	t.Helper()
	c := &console{screen: vt.NewEmulator(width, height), closed: make(chan struct{}), marker: t.TempDir()}
	c.cmd = exec.Command("airi-host", unheard(args)...)
	c.cmd.Env = append(os.Environ(), "GORACE="+quickExit, "TMPDIR="+c.marker, "TERM=xterm-256color", "NO_COLOR=", ownState(t))
	c.cmd.Env = append(c.cmd.Env, env...)
	var tty *os.File
	var err error
	c.pty, tty, err = pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(c.pty, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}))
	c.before, err = term.GetState(tty.Fd())
	require.NoError(t, err)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	c.cmd.SysProcAttr = controlling
	require.NoError(t, c.cmd.Start())
	require.NoError(t, tty.Close())
	go func() {
		defer close(c.closed)
		_, _ = io.Copy(c, c.pty) // it ends when nobody has the tty
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		_ = c.pty.Close()
		<-c.closed
		require.Empty(t, leftovers(c.marker), "processes were left")
		if t.Failed() {
			t.Logf("the screen:\n%s\nabove it:\n%s\nraw: %q", c.shown(), c.scrolled(), c.raw.String())
		}
	})
	return c
}

// Write takes what the host writes.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.raw.Write(p)
	return c.screen.Write(p)
}

// shown is what is on the screen.
func (c *console) shown() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(c.screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// scrolled is what has left the screen at its top.
func (c *console) scrolled() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for i := range c.screen.ScrollbackLen() {
		for x := range c.screen.Width() {
			if cell := c.screen.ScrollbackCellAt(x, i); cell != nil {
				b.WriteString(cell.Content)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// all is what whoever scrolls back sees.
func (c *console) all() string { return c.scrolled() + c.shown() }

func (c *console) wantShown(t *testing.T, pattern string) {
	t.Helper()
	match := regexp.MustCompile(`(?m)` + pattern)
	require.Eventually(t, func() bool { return match.MatchString(c.shown()) }, patience, 5*time.Millisecond, "it is not shown: %s", pattern)
}

func (c *console) resize(t *testing.T, width, height int) {
	t.Helper()
	c.mu.Lock()
	c.screen.Resize(width, height)
	c.mu.Unlock()
	require.NoError(t, pty.Setsize(c.pty, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}))
}

func (c *console) press(t *testing.T, keys string) {
	t.Helper()
	_, err := io.WriteString(c.pty, keys)
	require.NoError(t, err)
}

func (c *console) wantExit(t *testing.T, code int) {
	t.Helper()
	late := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	_ = c.cmd.Wait() // the code tells
	require.Equal(t, code, c.cmd.ProcessState.ExitCode(), "%s", c.cmd.ProcessState)
	<-c.closed
	require.NotContains(t, c.raw.String(), "goroutine ", "it panicked")
}

// showing runs the greeter, and a plugin that needs its configuration, until both are
// shown as what they are.
func showing(t *testing.T, width, height int, env []string, args ...string) *console {
	t.Helper()
	args = append([]string{"run", filepath.Join(plugins, "greeter"), filepath.Join(broken, "needs-config"), "--start-limit", "300ms"}, args...)
	c := onConsole(t, width, height, env, args...)
	c.wantShown(t, `^airi-host serving \(q stops\)  2 plugins: 1 configuration-needed, 1 ready  0 calls/s  0 errors/s  up \d+s$`)
	return c
}

// wantRestored compares the terminal with what it was.
func (c *console) wantRestored(t *testing.T) {
	t.Helper()
	now, err := term.GetState(c.pty.Fd())
	require.NoError(t, err)
	require.Equal(t, c.before, now)
	require.Eventually(t, func() bool { return !c.cursorHidden() }, patience, 5*time.Millisecond)
	require.NotContains(t, c.all(), "PLUGIN", "the view is gone")
}

func (c *console) cursorHidden() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.CursorHidden()
}

func TestScreen_showsPluginsAndStops(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"Ctrl-C": "\x03", "q": "q"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := showing(t, 120, 20, nil)
			c.wantShown(t, `^greeter       ready `)
			c.wantShown(t, `^needs-config  configuration-needed .*needs its configuration \(config set\)$`)
			c.press(t, key)
			c.wantExit(t, exitDone)
			require.Regexp(t, `(?m)^1 of 2 plugins ready, 1 needs configuration \(needs-config: 'airi-host config set needs-config JSON'\)$`, c.all())
			require.Regexp(t, `(?m)^stopping; a second Ctrl-C stops at once$`, c.all())
			require.NotContains(t, c.all(), "→", "phases have no lines")
			require.Contains(t, c.raw.String(), "\x1b[32mready")
			c.wantRestored(t)
		})
	}
}

// What a plugin waits for an operator to grant stands in its row until that is done.
func TestScreen_showsGrantsThatWait(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	settle(t, state, `{"grants": {"firstSight": "ask"}}`)
	c := onConsole(t, 120, 20, nil, "run", "--state", state, filepath.Join(plugins, "greeter"))
	c.wantShown(t, `^greeter +ready .*waits for approval of invoke:\*: 'airi-host approve greeter'$`)
	_, err := clientOf(state).Decide(t.Context(), "greeter", admin.GrantDecision{})
	require.NoError(t, err)
	c.wantShown(t, `^greeter +ready[^w\n]*$`)
	c.press(t, "q")
	c.wantExit(t, exitDone)
	require.Regexp(t, `(?m)^1 of 1 plugin ready, 1 waits for approval \(greeter: invoke:\*: airi-host approve greeter\)$`, c.all())
	c.wantRestored(t)
}

func TestScreen_killsAtTheSecondCtrlC(t *testing.T) {
	need.Node(t)
	t.Parallel()
	c := onConsole(t, 100, 20, nil, "run", stubborn(t), "--drain", "1m")
	c.wantShown(t, `^stubborn  ready .* stuck$`)
	c.press(t, "\x03")
	c.wantShown(t, `^airi-host stopping`)
	time.Sleep(2 * echo) // sooner it is an echo
	c.press(t, "q")
	c.wantExit(t, exitDone)
	require.Contains(t, c.all(), "what did not stop in time was killed")
	c.wantRestored(t)
}

func TestScreen_fitsItselfToTheTerminal(t *testing.T) {
	t.Parallel()
	c := showing(t, 120, 20, nil)
	c.resize(t, 50, 12)
	c.wantShown(t, `^airi-host serving \(q stops\)  2 plugins: 1 config…$`)
	c.wantShown(t, `^needs-config  configuration-needed  needs its co…$`)
	c.resize(t, 120, 6)
	c.wantShown(t, `^airi-host serving \(q stops\)  2 plugins: 1 configuration-needed, 1 ready  0 calls/s  0 errors/s  up \d+s$`)
	require.Eventually(t, func() bool { return !strings.Contains(c.shown(), "PLUGIN") }, patience, 5*time.Millisecond)
	c.resize(t, 120, 30)
	c.wantShown(t, `^needs-config  configuration-needed .*needs its configuration \(config set\)$`)
	c.press(t, "q")
	c.wantExit(t, exitDone)
	now, err := term.GetState(c.pty.Fd())
	require.NoError(t, err)
	require.Equal(t, c.before, now)
}

func TestScreen_isNotThereUnasked(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]struct{ env, args []string }{
		"no color": {env: []string{"NO_COLOR=1"}},
		"dumb":     {env: []string{"TERM=dumb"}},
		"plain":    {args: []string{"--view", "plain"}},
		"objects":  {args: []string{"--output", "json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"run", "--once", filepath.Join(plugins, "greeter")}, asked.args...)
			c := onConsole(t, 120, 40, asked.env, args...)
			c.wantExit(t, exitDone)
			require.NotContains(t, c.raw.String(), "PLUGIN")
			require.Regexp(t, `→|"to":"ready"`, c.raw.String())
			c.wantRestored(t)
		})
	}
}

func TestScreen_canBeHadWithoutColor(t *testing.T) {
	t.Parallel()
	c := showing(t, 120, 20, []string{"NO_COLOR=1"}, "--view", "live")
	c.press(t, "q")
	c.wantExit(t, exitDone)
	require.NotRegexp(t, "\x1b\\[[0-9;]*[1-9][0-9;]*m", c.raw.String())
	c.wantRestored(t)
}

// A run that ends by itself leaves its result alone.
func TestScreen_leavesTheResultOfOnce(t *testing.T) {
	t.Parallel()
	c := onConsole(t, 200, 20, nil, "run", "--once", filepath.Join(plugins, "greeter"), filepath.Join(broken, "needs-config"), "--start-limit", "300ms")
	c.wantExit(t, exitFailed)
	require.Regexp(t, `^1 of 2 plugins ready, 1 needs configuration [^\n]+\n+needs-config is configuration-needed: `, c.all())
	c.wantRestored(t)
}

// What plugins log comes above the view, all of it, and paints nothing.
func TestScreen_keepsLogsAboveIt(t *testing.T) {
	need.Node(t)
	t.Parallel()
	chatty := writePlugin(t, "chatty", `
		export function setupModules() {
			for (let i = 0; i < 150; i++) console.log('line ' + i + ' \x1b[2J\x1b[31m漢字')
		}
	`)
	c := onConsole(t, 120, 15, nil, "run", chatty)
	c.wantShown(t, `^chatty  ready .*  line 149 ␛\[2J␛\[31m漢字$`)
	require.Eventually(t, func() bool { return strings.Count(c.all(), "text=\"line ") == 150 }, patience, 5*time.Millisecond)
	c.wantShown(t, `^airi-host serving`)
	c.press(t, "q")
	c.wantExit(t, exitDone)
	require.Equal(t, 150, strings.Count(c.all(), "text=\"line "))
	require.NotContains(t, c.raw.String(), "\x1b[31m漢字")
	c.wantRestored(t)
}

// The terminal is closed, as a window is.
func TestScreen_stopsInOrderWhenItsTerminalIsClosed(t *testing.T) {
	t.Parallel()
	c := showing(t, 120, 20, nil)
	require.NoError(t, c.pty.Close())
	c.wantExit(t, exitDone)
}

// Ctrl-Z gives the terminal back, and the shell's fg takes it again.
func TestScreen_makesWayWhileItIsStopped(t *testing.T) {
	t.Parallel()
	c := showing(t, 120, 20, nil)
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGTSTP))
	var status syscall.WaitStatus
	_, err := syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
	require.Eventually(t, func() bool { return !strings.Contains(c.shown(), "PLUGIN") }, patience, 5*time.Millisecond)
	c.wantRestored(t)
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGCONT))
	c.wantShown(t, `^greeter       ready `)
	c.press(t, "q")
	c.wantExit(t, exitDone)
	c.wantRestored(t)
}

// Whoever asks where it hangs gets the answer on a terminal that is as it was.
func TestScreen_givesTheTerminalBackBeforeItDumps(t *testing.T) {
	t.Parallel()
	c := showing(t, 120, 20, nil)
	c.press(t, "\x1c")
	_ = c.cmd.Wait()
	<-c.closed
	require.Contains(t, c.raw.String(), "SIGQUIT: quit")
	c.wantRestored(t)
}

// Whoever starts it with nohup wants it to outlive the terminal.
func TestRun_ignoresAHangupThatWasIgnoredBefore(t *testing.T) {
	t.Parallel()
	c := startCommand(t, exec.Command("sh", "-c", `trap "" HUP; exec airi-host run --listen off "$0"`, filepath.Join(plugins, "greeter")))
	c.wantLine(t, `^serving 1 plugin;`)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^SigIgn:\s[0-9a-f]+[13579bdf]$`, string(status), "SIGHUP is the first bit")
	c.signal(t, syscall.SIGTERM)
	c.wantExit(t, exitDone)
}

// A host that was started from a terminal stops when that is closed, also if none of its
// streams leads there.
func TestRun_stopsWhenTheTerminalItWasStartedFromIsClosed(t *testing.T) {
	t.Parallel()
	screen, tty := terminal(t)
	cmd := exec.Command("sh", "-c", `exec airi-host run --listen off "$0" </dev/null`, filepath.Join(plugins, "greeter"))
	cmd.Stdin, cmd.SysProcAttr = tty, controlling
	c := startCommand(t, cmd)
	require.NoError(t, tty.Close())
	c.wantLine(t, `^serving 1 plugin;`)
	require.NoError(t, screen.Close())
	c.wantLine(t, `^stopping;`)
	c.wantExit(t, exitDone)
	require.NotContains(t, c.err.String(), "settings")
}

// At a terminal, SIGHUP means that it is gone, whoever sends it.
func TestRun_stopsAtAHangupWhereItHasATerminal(t *testing.T) {
	t.Parallel()
	c := showing(t, 120, 20, nil)
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGHUP))
	c.wantExit(t, exitDone)
}
