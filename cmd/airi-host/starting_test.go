package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// gated is a Paperclip plugin whose manifest notes that it is read, and waits for a file.
func gated(t *testing.T) (dir, noted, gate string) {
	t.Helper()
	dir, where := filepath.Join(t.TempDir(), "gated"), t.TempDir()
	noted, gate = filepath.Join(where, "noted"), filepath.Join(where, "gate")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for file, text := range map[string]string{
		"package.json": `{"name":"gated","version":"1.0.0","type":"module","paperclipPlugin":{"manifest":"./manifest.js","worker":"./worker.js"}}`,
		"manifest.js": fmt.Sprintf(`import fs from 'node:fs'
			fs.writeFileSync(%q, '')
			while (!fs.existsSync(%q)) await new Promise(done => setTimeout(done, 5))
			export default { nothing: 'of use' }`, noted, gate),
		"worker.js": ``,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	}
	return dir, noted, gate
}

func TestRun_tellsThatItLivesWhileItReadsManifests(t *testing.T) {
	need.Node(t)
	t.Parallel()
	dir, noted, gate := gated(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	host := startHost(t, "run", "--state", t.TempDir(), "--listen", address, dir, filepath.Join(plugins, "greeter"))
	require.Eventually(t, func() bool { _, err := os.Stat(noted); return err == nil }, patience, 5*time.Millisecond, "the manifest is read")
	get := func(path string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		require.NoError(t, err)
		r.Close = true
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return fmt.Sprint(answer.StatusCode, " ", string(text))
	}
	require.Contains(t, get("/healthz"), `200 {"status":"ok"}`)
	require.Contains(t, get("/readyz"), `503 {"ready":false,"starting":true`)
	require.Contains(t, get("/api/v1/plugins"), `503 `)
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	host.wantLine(t, `^serving 1 plugin;`)
	require.Contains(t, get("/readyz"), `200 {"ready":true,"plugins":1}`)
	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
}

// Whatever keeps a host from listening is told before the code of a manifest runs.
func TestRun_listensBeforeItRunsAnything(t *testing.T) {
	t.Parallel()
	dir, noted, _ := gated(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	host := startHost(t, "run", "--state", t.TempDir(), "--listen", l.Addr().String(), dir)
	host.wantExit(t, exitFailed)
	require.Contains(t, host.err.String(), "the address is in use")
	require.NoFileExists(t, noted)
}

func TestRun_canBeInterruptedWhileItReadsManifests(t *testing.T) {
	need.Node(t)
	t.Parallel()
	dir, noted, _ := gated(t)
	host := startHost(t, "run", "--state", t.TempDir(), "--listen", "127.0.0.1:0", dir)
	require.Eventually(t, func() bool { _, err := os.Stat(noted); return err == nil }, patience, 5*time.Millisecond, "the manifest is read")
	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
}
