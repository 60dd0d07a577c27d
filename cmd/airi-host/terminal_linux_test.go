package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/airi-host/airi-host/internal/need"
)

// terminal makes a pseudo-terminal. What is written to the tty is read from the
// screen.
func terminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = screen.Close() })
	fd := int(screen.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	return screen, tty
}

// onTerminal runs the host with its output on a terminal and returns what is seen.
func onTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	screen, tty := terminal(t)
	cmd := exec.Command("airi-host", unheard(args)...)
	cmd.Stdout, cmd.Stderr = tty, tty
	cmd.Env = append(os.Environ(), "GORACE="+quickExit, "TMPDIR="+t.TempDir(), "TERM=xterm", "NO_COLOR=", ownState(t))
	cmd.Env = append(cmd.Env, env...)
	require.NoError(t, cmd.Start())
	require.NoError(t, tty.Close())
	var seen bytes.Buffer
	_, _ = io.Copy(&seen, screen) // it ends with an error when nobody has the tty
	_ = cmd.Wait()                // what is seen tells
	return seen.String()
}

// evil is a plugin whose words would steer a terminal.
func evil(t *testing.T) string {
	t.Helper()
	return writePlugin(t, "evil", `
		export function init() {
			console.log('\x1b[44mlogged, also as \\x1b[44m text')
			throw new Error('\x1b[44mone\ntwo\u202ethree')
		}
	`)
}

func TestRun_colorsATerminalAndKeepsPluginsFromDoingSo(t *testing.T) {
	need.Node(t)
	t.Parallel()
	args := []string{"run", "--once", "--view", "plain", evil(t), filepath.Join(plugins, "greeter")}

	seen := onTerminal(t, nil, args...)
	require.Contains(t, seen, "  greeter  configured           → \x1b[32mready\x1b[0m\r\n")
	require.Contains(t, seen, "  evil     preparing            → \x1b[31mfailed              \x1b[0m  ␛[44mone two\ufffdthree")
	require.Contains(t, seen, "\r\nevil failed in preparing: ␛[44mone two\ufffdthree at ")
	require.Regexp(t, `\x1b\[92mINF\x1b\[0m .*␛\[44mlogged`, seen)
	require.NotContains(t, seen, "\x1b[44m")

	for _, plain := range []string{"NO_COLOR=1", "TERM=dumb"} {
		seen = onTerminal(t, []string{plain}, args...)
		require.Contains(t, seen, "  greeter  configured           → ready\r\n")
		require.Contains(t, seen, "␛[44mlogged")
		require.NotContains(t, seen, "\x1b", plain)
	}
}
