package main

import (
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// manager is a service manager.
type manager struct {
	conn    *net.UnixConn
	address string
}

func newManager(t *testing.T, address string) *manager {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: address})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &manager{conn, address}
}

// want reads what the host says up to something that matches, and returns that.
func (m *manager) want(t *testing.T, pattern string) string {
	t.Helper()
	match := regexp.MustCompile(pattern)
	require.NoError(t, m.conn.SetReadDeadline(time.Now().Add(patience)))
	for text := make([]byte, 4096); ; {
		n, err := m.conn.Read(text)
		require.NoError(t, err, "it did not say %s", pattern)
		if match.Match(text[:n]) {
			return string(text[:n])
		}
	}
}

// knowing is a plugin that says what it knows of the service manager.
const knowing = `export const setupModules = () => console.log('told', process.env.NOTIFY_SOCKET, process.env.WATCHDOG_USEC)`

func TestRun_tellsAServiceManagerHowItStands(t *testing.T) {
	need.Node(t)
	t.Parallel()
	for name, address := range map[string]string{
		"a socket": filepath.Join(t.TempDir(), "notify"), "an abstract one": "@airi-host-" + filepath.Base(t.TempDir()) + t.Name(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newManager(t, address)
			state := t.TempDir()
			c := startCommand(t, exec.Command("env", "NOTIFY_SOCKET="+address, "WATCHDOG_USEC=300000",
				"airi-host", "run", "--listen", "off", "--state", state, "--drain", "5s", writePlugin(t, "knowing", knowing), filepath.Join(plugins, "greeter")))
			m.want(t, `^STATUS=reading manifests$`)
			require.Equal(t, "STATUS=starting plugins\nEXTEND_TIMEOUT_USEC=31000000", m.want(t, `EXTEND`))
			require.Equal(t, "READY=1\nSTATUS=2 of 2 plugins ready", m.want(t, `READY`))
			m.want(t, `^WATCHDOG=1$`)
			m.want(t, `^WATCHDOG=1$`)
			_, err := clientOf(state).Command(t.Context(), "stop", "greeter")
			require.NoError(t, err)
			m.want(t, `^STATUS=1 of 2 plugins ready$`)
			c.wantLogged(t, "told undefined undefined")
			c.signal(t, syscall.SIGTERM)
			require.Equal(t, "STOPPING=1\nSTATUS=stopping plugins\nEXTEND_TIMEOUT_USEC=20000000", m.want(t, `STOPPING`))
			c.wantExit(t, exitDone)
		})
	}
}

// A host whose manager is gone serves all the same.
func TestRun_goesOnWithoutItsServiceManager(t *testing.T) {
	t.Parallel()
	c := startCommand(t, exec.Command("env", "NOTIFY_SOCKET="+filepath.Join(t.TempDir(), "gone"), "WATCHDOG_USEC=soon",
		"airi-host", "run", "--listen", "off", filepath.Join(plugins, "greeter")))
	c.wantLine(t, `^serving`)
	c.wantLogged(t, "the service manager is not told how the host stands")
	c.wantLogged(t, "the watchdog of the service manager is not fed")
	c.signal(t, syscall.SIGTERM)
	c.wantExit(t, exitDone)
}

func TestService_tellsOfAReload(t *testing.T) {
	m := newManager(t, filepath.Join(t.TempDir(), "notify"))
	t.Setenv("NOTIFY_SOCKET", m.address)
	s := newService(slog.New(slog.DiscardHandler))
	done := false
	s.reloading(func() { done = true })
	require.True(t, done, "before it serves nobody is told, and it is done all the same")
	s.up.Store(true)
	s.reloading(func() {})
	require.Regexp(t, `^RELOADING=1\nMONOTONIC_USEC=\d+\n$`, m.want(t, `RELOADING`))
	require.Equal(t, "READY=1", m.want(t, `READY`))
	s.close()

	t.Setenv("NOTIFY_SOCKET", "")
	s = newService(slog.New(slog.DiscardHandler))
	require.Nil(t, s)
	s.starting(time.Second, time.Second)
	s.serving(nil, 0)
	s.stopping(time.Second, time.Second)
	s.reloading(func() { done = false })
	require.False(t, done)
	s.close()
}

// A manager that takes nothing holds nobody up.
func TestService_isNotHeldUpByItsManager(t *testing.T) {
	m := newManager(t, filepath.Join(t.TempDir(), "notify"))
	t.Setenv("NOTIFY_SOCKET", m.address)
	s := newService(slog.New(slog.DiscardHandler))
	began := time.Now()
	for range 10_000 {
		s.tell("STATUS=" + strings.Repeat("x", 1000))
	}
	s.close()
	require.Less(t, time.Since(began), 10*time.Second)
	require.NoError(t, m.conn.Close())
	s.working.Wait()
}
