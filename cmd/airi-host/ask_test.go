package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/internal/logtest"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"

	"github.com/airi-host/airi-host/internal/need"
)

// greeterHost runs a host that can be asked; state is its directory.
func greeterHost(t *testing.T, args ...string) (c *child, state string) {
	t.Helper()
	state = t.TempDir()
	c = startHost(t, append([]string{"run", "--state", state, filepath.Join(plugins, "greeter")}, args...)...)
	return c, state
}

func TestLogs_areFollowedUntilTheHostEnds(t *testing.T) {
	t.Parallel()
	host, state := greeterHost(t)
	host.wantLine(t, `^serving 1 plugin;`)
	greet := func(name string) {
		startHost(t, "call", "tool:greet", fmt.Sprintf(`{"name":%q}`, name), "--state", state).wantExit(t, exitDone)
	}
	greet("Ada")
	logs := startHost(t, "logs", "-f", "greeter", "--state", state)
	logs.wantLine(t, `  greeter  INFO   greeting name=Ada$`)
	events := startHost(t, "events", "-f", "--state", state, "--output", "json")
	events.wantLine(t, `"to":"ready"`)
	interrupted := startHost(t, "logs", "-f", "--state", state)
	interrupted.wantLine(t, `  greeter  INFO   greeting name=Ada$`)
	greet("Eve")
	logs.wantLine(t, `  greeter  INFO   greeting name=Eve$`)
	interrupted.signal(t, os.Interrupt)
	interrupted.wantExit(t, exitDone)

	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
	events.wantLine(t, `"event":"phase".*"to":"stopped"`)
	events.wantExit(t, exitDone)
	logs.wantExit(t, exitDone)
}

// ticking is a plugin's directory; its model:TICK is a stream that does not end.
func ticking(t *testing.T) string {
	t.Helper()
	need.Node(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plugin.json": `{"apiVersion": "v1", "kind": "manifest.plugin.airi.moeru.ai", "name": "tick", "entrypoints": {"node": "./tick.mjs"}}`,
		"tick.mjs": `import { defineInvokeEventa, defineStreamInvokeHandler } from '@moeru/eventa'
export function setupModules({ channels: { host } }) {
  defineStreamInvokeHandler(host, defineInvokeEventa('model:TICK'), async function* (_, { abortController: { signal } }) {
    for (let n = 1; !signal.aborted; n++) {
      console.log('tick', n)
      yield n
      await new Promise(r => setTimeout(r, 20))
    }
  })
}
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestCall_tellsThatItsHostWent(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	host := startHost(t, "run", "--state", state, ticking(t))
	host.wantLine(t, `^serving 1 plugin;`)
	call := startHost(t, "call", "model:TICK", "--follow", "--state", state)
	call.wantLine(t, `^\{"event":"progress","item":1\}$`)
	host.signal(t, os.Kill)
	_ = host.cmd.Wait()
	call.wantLine(t, `^\{"event":"error","code":"outcome-unknown","message":"the host ended while the call of model:TICK was in flight; it may have run: `)
	call.wantExit(t, exitFailed)
}

func TestAsk_endsWithItsReader(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	host := startHost(t, "run", "--state", state, ticking(t))
	host.wantLine(t, `^serving 1 plugin;`)
	calls := startHost(t, "call", "model:TICK", "--follow", "--state", state, "--timeout", "1m")
	calls.wantLine(t, `^\{"event":"progress","item":1\}$`)
	for _, args := range [][]string{
		{"logs", "-f"}, {"logs", "-f", "--output", "json"}, {"events", "-f"}, {"call", "model:TICK", "--follow", "--timeout", "1m"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			read, write, err := os.Pipe()
			require.NoError(t, err)
			require.NoError(t, read.Close())
			cmd := exec.CommandContext(t.Context(), "airi-host", append(args, "--state", state)...)
			cmd.Env, cmd.Stdout = append(os.Environ(), "GORACE="+quickExit), write
			require.NoError(t, cmd.Start())
			require.NoError(t, write.Close())
			err = cmd.Wait()
			if args[0] == "call" {
				require.EqualError(t, err, "exit status 1", "a call that was cut off has no result")
			} else {
				require.NoError(t, err, "a reader that has had enough is no failure")
			}
		})
	}
	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
}

func TestRun_replacesWhatAKilledHostLeftInItsState(t *testing.T) {
	t.Parallel()
	killed, state := greeterHost(t)
	killed.wantLine(t, `^serving 1 plugin;`)
	killed.signal(t, os.Kill)
	_ = killed.cmd.Wait()
	require.FileExists(t, filepath.Join(state, controlName))
	next := startHost(t, "run", "--state", state, filepath.Join(plugins, "greeter"))
	next.wantLine(t, `^serving 1 plugin;`)
	startHost(t, "ps", "--state", state).wantExit(t, exitDone)
	next.signal(t, os.Interrupt)
	next.wantExit(t, exitDone)
	require.NoFileExists(t, filepath.Join(state, controlName))
}

func TestRun_answersHTTP(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(strings.Repeat("x", leastToken)+"\n"), 0o600))
	host, _ := greeterHost(t, "--listen", "127.0.0.1:0", "--token-file", token, "--allow-origin", "http://localhost:5173")
	host.wantLine(t, `^serving 1 plugin;`)
	base := regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)\n`).FindStringSubmatch(host.seen.String())[1]
	get := func(path string, header ...string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		require.NoError(t, err)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		r.Close = true
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(text)
	}
	bearer := []string{"Authorization", "Bearer " + strings.Repeat("x", leastToken)}
	for _, c := range []struct {
		path   string
		header []string
		status int
		text   string
	}{
		{"/healthz", nil, 200, `{"status":"ok"}`},
		{"/readyz", nil, 401, "--token-file"},
		{"/readyz", bearer, 200, `{"ready":true,"plugins":1}`},
		{"/metrics", bearer, 200, `airi_host_sessions{phase="ready"} 1`},
		{"/metrics", bearer, 200, `airi_host_store_writes_total{outcome="failed"} 0`},
		{"/metrics", bearer, 200, "\nairi_host_store_queue_writes 0\n"},
		{"/metrics", bearer, 200, `airi_host_job_runs_total{outcome="skipped"} 0`},
		{"/api/v1/plugins", bearer, 200, `"plugin":"greeter"`},
		{"/api/v1/plugins", append([]string{"Origin", "http://evil.example"}, bearer...), 403, "--allow-origin"},
		{"/api/v1/plugins", append([]string{"Origin", "http://localhost:5173"}, bearer...), 200, ""},
		{"/plugins/greeter/none", nil, 401, "Authorization: Bearer TOKEN"},
		{"/plugins/greeter/none", append([]string{"Origin", "http://evil.example"}, bearer...), 403, "--allow-origin"},
		{"/plugins/greeter/none", bearer, 404, "it offers no endpoint"},
	} {
		status, text := get(c.path, c.header...)
		require.Equal(t, c.status, status, text)
		require.Contains(t, text, c.text)
	}
	_, metrics := get("/metrics", bearer...)
	wantListed(t, metrics)
	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
}

// wantListed wants the operator's page to have each metric that a host serves, and those
// of its store and of jobs as they are called.
func wantListed(t *testing.T, metrics string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating.md"))
	require.NoError(t, err)
	for _, found := range regexp.MustCompile(`(?m)^# TYPE (airi_host_\w+)`).FindAllStringSubmatch(metrics, -1) {
		require.Contains(t, string(page), "`"+found[1]+"`")
	}
	for _, row := range regexp.MustCompile("`(airi_host_(?:store|job)\\w+)`").FindAllStringSubmatch(string(page), -1) {
		require.Contains(t, metrics, "# TYPE "+row[1]+" ")
	}
}

// Somebody else may have the address: that is an error for who asked for it, and for
// nobody else.
func TestRun_namesWhoHasItsAddress(t *testing.T) {
	t.Parallel()
	first, _ := greeterHost(t, "--listen", "127.0.0.1:0")
	first.wantLine(t, `^serving 1 plugin;`)
	address := regexp.MustCompile(`listening on http://(\S+)\n`).FindStringSubmatch(first.seen.String())[1]
	second, state := greeterHost(t, "--listen", address)
	second.wantExit(t, exitFailed)
	require.Contains(t, second.err.String(), fmt.Sprintf(
		"airi-host: --listen %s: the address is in use by the host with pid %d: choose another one with --listen, e.g. 127.0.0.1:0, or --listen off\n",
		address, first.cmd.Process.Pid))
	require.NoFileExists(t, filepath.Join(state, controlName))

	var log logtest.Buffer
	c := &cli{err: newOutput(&log), logLevel: "info", output: outputText}
	logger, err := c.logger()
	require.NoError(t, err)
	l, _, err := listenOptions{usual: address}.listenHTTP(t.Context(), logger)
	require.NoError(t, err)
	require.Nil(t, l)
	require.Contains(t, log.String(), `level=WARN msg="this host does not answer HTTP" address=`+address)

	stranger, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() {
		if conn, err := stranger.Accept(); err == nil {
			_ = conn.Close()
		}
	}()
	_, _, err = listenOptions{ListenSettings: manifest.ListenSettings{Address: stranger.Addr().String()}}.listenHTTP(t.Context(), logger)
	require.ErrorContains(t, err, "the address is in use: choose another one")
	require.NoError(t, stranger.Close())

	_, _, err = listenOptions{ListenSettings: manifest.ListenSettings{Address: "127.0.0.1:70000"}}.listenHTTP(t.Context(), logger)
	require.ErrorContains(t, err, "--listen 127.0.0.1:70000: the address cannot be had: ")
	l, _, err = listenOptions{usual: "127.0.0.1:70000"}.listenHTTP(t.Context(), logger)
	require.NoError(t, err)
	require.Nil(t, l)

	first.signal(t, os.Interrupt)
	first.wantExit(t, exitDone)
}

func TestListenOptions_sayWhoMayAsk(t *testing.T) {
	for address, loopback := range map[string]bool{
		"127.0.0.1:0": true, "127.9.9.9:0": true, "[::1]:0": true, "localhost:0": true, "[::ffff:127.0.0.1]:0": true,
		"0.0.0.0:0": false, ":0": false, "[::]:0": false, "10.0.0.1:0": false, "example.org:0": false,
	} {
		g, err := listenOptions{usual: address}.guard()
		require.Equal(t, loopback, g.Loopback, address)
		if loopback {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "--token-file")
		}
	}
}

func TestNoteOf_saysWhatOneWouldAskNext(t *testing.T) {
	for want, one := range map[string]actors.SessionInfo{
		"": {Phase: lifecycle.Ready},
		"waits for tool:a, tool:b": {
			Phase: lifecycle.WaitingDeps, Waits: []string{"tool:a", "tool:b"}, Reason: "Waiting for capabilities: tool:a, tool:b",
		},
		"no luck": {Phase: lifecycle.Failed, Waits: []string{"tool:a"}, Reason: "no luck"},
		"next try in 5s: it exited": {
			Phase: lifecycle.Failed, Reason: "it exited", Worker: actors.WorkerInfo{NextRestart: noon.Add(5 * time.Second)},
		},
		"given up after 11 crashes in a row: it exited": {
			Phase: lifecycle.Failed, Reason: "it exited", Worker: actors.WorkerInfo{GivenUp: true, InARow: 11},
		},
	} {
		require.Equal(t, want, noteOf(one, noon))
	}
}

func TestLayout_showsLinesOfStreams(t *testing.T) {
	l := layout{names: 4}
	for line, want := range map[string]string{
		`{"event":"gap","missed":3}`:              "… 3 lines were missed: they came too fast",
		`{"event":"gap","missed":3,"older":true}`: "… 3 older lines are not shown: all together are longer than api.logBytes of the settings",
		`{"event":"new","of":"\u001b[2J"}`:        `{"event":"new","of":"\u001b[2J"}`,
		`{"event":"dropped","plugin":"a","what":"feed","detail":"too slow","count":2,"at":"2026-01-02T03:04:05Z"}`: `dropped feed, 2 so far: too slow`,
		`{"event":"capability","plugin":"a","key":"tool:x","to":"announced","at":"2026-01-02T03:04:05Z"}`:          `tool:x  new → announced`,
		`{"event":"log","plugin":"a","level":"WARN","text":"\u001b[2J","at":"2026-01-02T03:04:05Z"}`:               `a     WARN   ␛[2J`,
	} {
		got, err := l.streamed([]byte(line))
		require.NoError(t, err)
		require.Contains(t, got, want)
	}
	for _, line := range []string{"x", `{"event":"phase","at":1}`} {
		_, err := l.streamed([]byte(line))
		require.Error(t, err)
	}
}
