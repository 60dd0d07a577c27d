package actors_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/transport/process"
)

// workshop is the environment driver of testdata/workers on a host, with a lease.
type workshop struct {
	t     *testing.T
	host  *actors.Host
	lease string
}

func startWorkshop(t *testing.T) *workshop {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "workshop")
	said, err := exec.Command("go", "build", "-o", program, "../testdata/workers/workshop").CombinedOutput()
	require.NoError(t, err, "%s", said)
	w := &workshop{t: t}
	w.host, err = actors.New(actors.Options{
		Dialects: []protocol.Dialect{paperclip.Dialect{Plugin: func(protocol.Settings) paperclip.Plugin { return paperclip.Plugin{Company: "acme"} }}},
		Launch: actors.Runner{Wire: process.Stdio, Env: func(*manifest.Manifest) map[string]string {
			return map[string]string{"TMPDIR": dir}
		}}.Launch,
		Restart: actors.RestartPolicy{Disabled: true},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), labPatience)
		defer cancel()
		require.NoError(t, w.host.Shutdown(ctx))
	})
	info, err := w.host.Start(t.Context(), &manifest.Manifest{
		Dialect: manifest.DialectPaperclip, Name: "workshop", Dir: dir, Host: manifest.HostFields{Command: []string{program}},
		Paperclip: &manifest.Paperclip{ID: "workshop", Raw: json.RawMessage(`{"id":"workshop","apiVersion":1,"environmentDrivers":[{"driverKey":"workshop"}]}`)},
	}, actors.StartOptions{})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, info.Phase, info.Reason)
	result, err := w.host.Invoke(t.Context(), protocol.Call{Key: "environment:workshop.acquireLease", Input: json.RawMessage(`{"runId":"r"}`)})
	require.NoError(t, err)
	var lease struct{ ProviderLeaseID string }
	require.NoError(t, json.Unmarshal(result, &lease))
	w.lease = lease.ProviderLeaseID
	return w
}

// request is what a route is opened with.
func (w *workshop) request(more string) actors.RouteRequest {
	return actors.RouteRequest{Plugin: "workshop", Params: json.RawMessage(fmt.Sprintf(
		`{"driverKey":"workshop","environmentId":"e","providerLeaseId":%q,%s}`, w.lease, more))}
}

// sh runs a shell's script.
func (w *workshop) sh(script string, sink func(protocol.LogChunk) error) (actors.Executed, error) {
	quoted, err := json.Marshal(script)
	require.NoError(w.t, err)
	return w.host.Execute(w.t.Context(), actors.ExecuteRequest{Driver: "workshop", Plugin: "workshop", Params: json.RawMessage(fmt.Sprintf(
		`{"environmentId":"e","config":{},"lease":{"providerLeaseId":%q},"command":"sh","args":["-c",%s]}`, w.lease, quoted))}, sink)
}

func TestWorkshop_runsCommands(t *testing.T) {
	w := startWorkshop(t)
	logged := map[string]*bytes.Buffer{"stdout": {}, "stderr": {}}
	done, err := w.sh(`head -c 3000000 /dev/zero | tr '\0' x; echo "€" >&2; exit 4`, func(c protocol.LogChunk) error {
		logged[c.Stream].Write(c.Text)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 4, *done.ExitCode)
	require.Equal(t, strings.Repeat("x", 3_000_000), logged["stdout"].String())
	require.Equal(t, done.Stdout, logged["stdout"].String())
	require.Equal(t, "€\n", logged["stderr"].String())
	require.Equal(t, "€\n", done.Stderr)
}

// until reads up to a text.
func until(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	var seen []byte
	for !bytes.HasSuffix(seen, []byte(text)) {
		b, err := r.ReadByte()
		require.NoError(t, err, "after %q", seen)
		seen = append(seen, b)
	}
}

func TestWorkshop_hasTerminals(t *testing.T) {
	w := startWorkshop(t)
	terminal, err := w.host.OpenPTY(t.Context(), w.request(`"loginCommandKey":"claude"`))
	require.NoError(t, err)
	said := bufio.NewReader(terminal)
	enter := func(text string) {
		_, err := io.WriteString(terminal, text)
		require.NoError(t, err)
	}
	enter("stty size\r")
	until(t, said, "30 100\r\n$ ")
	enter("cat\r")
	until(t, said, "cat\r\n")
	enter("hello\r")
	until(t, said, "hello\r\nhello\r\n")
	enter("\x03")
	until(t, said, "^C\r\n$ ")
	enter("echo status $?; exit 7\r")
	until(t, said, "status 130\r\n")
	exit, err := terminal.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, protocol.Exit{Code: 7, HasCode: true}, exit)
	require.NoError(t, terminal.Close())
}

func TestWorkshop_hasChannels(t *testing.T) {
	w := startWorkshop(t)
	channel, err := w.host.OpenDuplex(t.Context(), w.request(`"command":["cat","-u"]`))
	require.NoError(t, err)
	sent := make([]byte, 4<<20)
	for i := range sent {
		sent[i] = byte(i * 7 >> 3)
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := channel.Write(sent)
		wrote <- err
	}()
	got := make([]byte, len(sent))
	_, err = io.ReadFull(channel, got)
	require.NoError(t, err)
	require.NoError(t, <-wrote)
	require.True(t, bytes.Equal(sent, got))
	require.NoError(t, channel.Close())

	channel, err = w.host.OpenDuplex(t.Context(), w.request(`"command":["sh","-c","echo bye; kill -9 $PPID"]`)) // its keeper
	require.NoError(t, err)
	_, err = channel.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, channel.Close())

	_, err = w.host.OpenDuplex(t.Context(), w.request(`"command":["no-such-program"]`))
	require.ErrorContains(t, err, "executable file not found")
	done, err := w.sh("echo well", nil)
	require.NoError(t, err, "the worker was not retired")
	require.Equal(t, "well\n", done.Stdout)
}
