package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// bench is a workshop, the environment driver of testdata/workers, under Paperclip's own
// manager.
type bench struct {
	lab
	t     *testing.T
	lease string

	mu   sync.Mutex
	more sync.Cond
	// came is what the routes have sent, exits are how their programs ended.
	came  map[int][]byte
	exits map[int]string
}

// The worker's end of routes and logs, written in Go, with real commands and terminals,
// under the real host of both releases.
func TestWorkshop_underPaperclipsHost(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "workshop")
	said, err := exec.Command("go", "build", "-o", program, "../testdata/workers/workshop").CombinedOutput()
	require.NoError(t, err, "%s", said)
	for _, name := range releases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openBench(t, name, program)
			t.Run("commands", func(t *testing.T) { runsCommands(t, b) })
			t.Run("terminal", func(t *testing.T) { opensATerminal(t, b, name) })
			if name == Paperclip916 {
				t.Run("channel", func(t *testing.T) { opensAChannel(t, b) })
			}
		})
	}
}

func openBench(t *testing.T, set, program string) *bench {
	t.Helper()
	b := &bench{t: t, came: map[int][]byte{}, exits: map[int]string{}}
	b.more.L = &b.mu
	modules := Install(t, set)
	b.lab = lab{StartManager(t, modules, b.hear), modules}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "manifest.mjs"} {
		text, err := os.ReadFile(filepath.Join("../testdata/workers/workshop", name))
		require.NoError(t, err)
		// That host knows no command, and starts JavaScript: this stands before the worker.
		text = bytes.ReplaceAll(text, []byte("./main.go"), []byte("./worker.mjs"))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	start := fmt.Sprintf("import { spawn } from 'node:child_process'\nspawn(%q, [], { stdio: 'inherit' }).on('exit', (code) => process.exit(code ?? 1))\n", program)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "worker.mjs"), []byte(start), 0o600))
	b.Do(t, "start", map[string]any{"dir": dir, "env": map[string]string{"TMPDIR": t.TempDir()}}, nil)
	t.Cleanup(func() { b.stop(t, "workshop") })
	var lease struct{ ProviderLeaseID string }
	require.NoError(t, json.Unmarshal([]byte(b.call(t, "workshop", "environmentAcquireLease", b.params(`"runId":"r"`))), &lease))
	b.lease = lease.ProviderLeaseID
	return b
}

// params are those of a hook.
func (b *bench) params(more string) json.RawMessage {
	return json.RawMessage(`{"driverKey":"workshop","companyId":"acme","environmentId":"e","config":{},` + more + `}`)
}

func (b *bench) hear(event json.RawMessage) {
	var is struct {
		Event string
		Route int
		Data  []byte
		Exit  json.RawMessage
	}
	if json.Unmarshal(event, &is) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch is.Event {
	case "data":
		b.came[is.Route] = append(b.came[is.Route], is.Data...)
	case "ended":
		b.exits[is.Route] = string(is.Exit)
	}
	b.more.Broadcast()
}

// await waits until something holds, which is looked at under the lock.
func (b *bench) await(holds func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !holds() {
		b.more.Wait()
	}
}

// wantCame waits until a route has said something, and forgets all up to there.
func (b *bench) wantCame(route int, text string) {
	at := -1
	b.await(func() bool { at = bytes.Index(b.came[route], []byte(text)); return at >= 0 })
	b.mu.Lock()
	defer b.mu.Unlock()
	b.came[route] = b.came[route][at+len(text):]
}

// open opens a route.
func (b *bench) open(t *testing.T, kind, more string) int {
	t.Helper()
	var is struct{ Route int }
	b.Do(t, "open", map[string]any{"plugin": "workshop", "kind": kind, "input": b.params(`"providerLeaseId":"` + b.lease + `",` + more)}, &is)
	return is.Route
}

func (b *bench) write(t *testing.T, kind string, route int, data []byte) {
	t.Helper()
	b.Do(t, "write", map[string]any{"kind": kind, "route": route, "data": data}, nil)
}

func (b *bench) wantExit(t *testing.T, route int, want string) {
	t.Helper()
	b.await(func() bool { return b.exits[route] != "" })
	require.JSONEq(t, want, b.exits[route])
}

func runsCommands(t *testing.T, b *bench) {
	t.Helper()
	script, err := json.Marshal(`echo out; echo "€ err" >&2; head -c 3000000 /dev/zero | tr '\0' x; exit 3`)
	require.NoError(t, err)
	var is struct {
		Log    []struct{ Stream, Chunk string }
		Result struct {
			ExitCode       int
			Stdout, Stderr string
		}
	}
	b.Do(t, "execute", map[string]any{"plugin": "workshop", "params": b.params(
		`"lease":{"providerLeaseId":"` + b.lease + `"},"command":"sh","args":["-c",` + string(script) + `]`)}, &is)
	logged := map[string]string{}
	for _, c := range is.Log {
		logged[c.Stream] += c.Chunk
	}
	require.Equal(t, 3, is.Result.ExitCode)
	require.Equal(t, "out\n"+strings.Repeat("x", 3_000_000), is.Result.Stdout)
	require.Equal(t, is.Result.Stdout, logged["stdout"])
	require.Equal(t, "€ err\n", is.Result.Stderr)
	require.Equal(t, is.Result.Stderr, logged["stderr"])
}

func opensATerminal(t *testing.T, b *bench, set string) {
	t.Helper()
	input, key := `"command":"claude setup-token"`, "claude"
	if set == Paperclip916 {
		input, key = `"loginCommandKey":"grok","sessionHome":"/tmp/paperclip-adapter-login/0f0e0d0c-1234-4321-8888-0123456789ab"`, "grok"
	}
	for range 2 { // a close that is not answered would leave no room for the second one
		route := b.open(t, "pty", input)
		b.write(t, "pty", route, []byte("stty size; echo \"key is $LOGIN €\"\r"))
		b.wantCame(route, "30 100\r\n")
		b.wantCame(route, "key is "+key+" €\r\n")
		b.write(t, "pty", route, []byte("exit 7\r"))
		b.wantExit(t, route, `{"exitCode":7}`)
		b.Do(t, "close", map[string]any{"route": route}, nil)
	}
	route := b.open(t, "pty", input)
	b.Do(t, "kill", map[string]any{"route": route}, nil)
	b.wantExit(t, route, `{"exitCode":null}`)
	b.Do(t, "close", map[string]any{"route": route}, nil)
	require.JSONEq(t, `{"ok":true,"summary":"`+b.summary(t)+`"}`, b.call(t, "workshop", "environmentProbe", b.params(`"issueId":null`)), "it was not retired")
}

func (b *bench) summary(t *testing.T) string {
	t.Helper()
	var is struct{ Summary string }
	require.NoError(t, json.Unmarshal([]byte(b.call(t, "workshop", "environmentProbe", b.params(`"issueId":null`))), &is))
	return is.Summary
}

func opensAChannel(t *testing.T, b *bench) {
	t.Helper()
	route := b.open(t, "duplex", `"command":["cat","-u"]`)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	part := bytes.Repeat(all, 64<<10/256)
	for n := 1; n <= 32; n++ { // in step: what is not read is bounded
		b.write(t, "duplex", route, part)
		b.await(func() bool { return len(b.came[route]) >= n*len(part) })
	}
	require.True(t, bytes.Equal(bytes.Repeat(part, 32), b.came[route]))
	b.Do(t, "close", map[string]any{"route": route}, nil)
	b.wantExit(t, route, `{"exitCode":null}`)

	route = b.open(t, "duplex", `"command":["sh","-c","echo bye; exit 9"]`)
	b.wantExit(t, route, `{"exitCode":9}`)
	b.wantCame(route, "bye\n")
	b.Do(t, "close", map[string]any{"route": route}, nil)

	route = b.open(t, "duplex", `"command":["cat","/dev/zero"]`)
	b.Do(t, "close", map[string]any{"route": route}, nil) // in the middle
	b.call(t, "workshop", "environmentProbe", b.params(`"issueId":null`))
}
