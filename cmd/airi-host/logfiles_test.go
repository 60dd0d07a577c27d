package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/services/logs"
	"github.com/airi-host/airi-host/services/store"

	"github.com/airi-host/airi-host/internal/need"
)

func TestRecordOf_keepsNoSecret(t *testing.T) {
	h := &hush{}
	h.secret("hunter2")
	h.secret("ab") // too short to be told from others' words
	r := recordOf(actors.Logged{
		Origin: actors.Origin{Plugin: "p", Session: "s"}, Level: slog.LevelError, Stream: "log", Text: "all of it",
		Message: "sent hunter2, about", Fields: `{"apiKey":"abc","header":"Bearer hunter2","n":1}`,
	}, h)
	require.Equal(t, "sent [masked], about", r.Message)
	require.JSONEq(t, `{"apiKey":"[masked]","header":"Bearer [masked]","n":1}`, string(r.Fields))
	require.Equal(t, "bare", recordOf(actors.Logged{Text: "bare"}, nil).Message)
}

func TestHush_forgetsTheOldestSecrets(t *testing.T) {
	h := &hush{}
	for i := range mostSecrets + 1 {
		h.secret(fmt.Sprintf("secret-%04d", i))
	}
	require.Equal(t, "secret-0000 [masked]", h.cover("secret-0000 secret-0001"))
	require.Len(t, h.secrets, mostSecrets)
}

func TestLineOfRecord_readsAsItWasSaid(t *testing.T) {
	r := logs.Record{Plugin: "p", Message: "text", Fields: json.RawMessage(`{"one":1,"two":"x y","g":{"a":[1]}}`)}
	line := lineOfRecord(r)
	require.Equal(t, `text one=1 two=x y g={"a":[1]}`, line.Text)
	require.Equal(t, "text", line.Message)
	require.Equal(t, `text [1]`, lineOfRecord(logs.Record{Message: "text", Fields: json.RawMessage(`[1]`)}).Text)
	require.Equal(t, actors.Logged{Text: "bare"}, lineOfRecord(logs.Record{Message: "bare"}))
}

func TestSinceOf(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                     {},
		"10m":                  now.Add(-10 * time.Minute),
		"2026-01-31T12:00:00Z": time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
		"2026-01-31":           time.Date(2026, 1, 31, 0, 0, 0, 0, time.Local),
		"2026-01-31 10:00:00":  time.Date(2026, 1, 31, 10, 0, 0, 0, time.Local),
	} {
		at, err := sinceOf(text, now)
		require.NoError(t, err)
		require.True(t, want.Equal(at), "%s: %s", text, at)
	}
	for _, text := range []string{"-5m", "0s", "yesterday"} {
		_, err := sinceOf(text, now)
		require.ErrorContains(t, err, "expected a time such as")
	}
}

func TestLayout_logged(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	e := actors.Logged{Origin: actors.Origin{Plugin: "p"}, Text: "Error: no\n    at f\x1b\n\tat g", At: at}
	require.Equal(t, "12:00:00.000  p  INFO   Error: no\n        at f␛\n        at g", layout{}.logged(e))
	require.Equal(t, "2026-11-30 12:00:00.000  p  INFO   Error: no\n        at f␛\n        at g", layout{today: at.Add(24 * time.Hour)}.logged(e))
	require.True(t, strings.HasPrefix(layout{today: at}.logged(e), "12:00:00.000  p"))
}

// tracing is a worker that logs the stack of an error, says its last words without a
// line's end, and falls.
const tracing = `
	import { writeSync } from 'node:fs'
	export const setupModules = () => {
		writeSync(2, 'before\n')
		setTimeout(() => {
			writeSync(2, "TypeError: no luck\n    at f (file:///w/a.mjs:1:2)\n")
			writeSync(2, "    at g (file:///w/a.mjs:2:3) {\n  code: 'E'\n}\nlast words")
			process.exit(3)
		}, 50)
	}
`

// What a real worker writes is in the files, a trace in one record, and nothing is lost
// when it exits; the directory may be one of the operator's, of one host.
func TestRun_keepsWhatAWorkerWrites(t *testing.T) {
	need.Node(t)
	t.Parallel()
	dir, config := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `{"logs": {"dir": %q}, "restart": {"disabled": true}}`, dir), 0o600))
	c := startHost(t, "run", "--config", config, writePlugin(t, "tracing", tracing))
	c.wantLine(t, `^tracing|tracing +ready +→ failed`)
	require.Eventually(t, func() bool {
		all, _ := logs.Read(dir, "tracing", logs.Query{})
		return len(all) > 0 && all[len(all)-1].Message == "last words"
	}, patience, 5*time.Millisecond)

	second := startHost(t, "run", "--state", t.TempDir(), "--config", config, filepath.Join(plugins, "greeter"))
	second.wantExit(t, exitFailed)
	require.Contains(t, second.err.String(), "airi-host: logs.dir of the settings: "+filepath.Join(dir, store.LockName)+": held by the host with process id ")
	require.Contains(t, second.err.String(), "one host uses a directory: stop that one, or name another directory")

	c.signal(t, os.Interrupt)
	c.wantExit(t, exitDone)
	all, err := logs.Read(dir, "tracing", logs.Query{})
	require.NoError(t, err)
	var messages []string
	for _, r := range all {
		require.Equal(t, "stderr", r.Stream)
		messages = append(messages, r.Message)
	}
	require.Equal(t, []string{
		"before", "TypeError: no luck\n    at f (file:///w/a.mjs:1:2)\n    at g (file:///w/a.mjs:2:3) {\n  code: 'E'\n}", "last words",
	}, messages)
}

// Neither a closed standard error nor logs that cannot be written stop a host.
func TestRun_goesOnWithoutALog(t *testing.T) {
	t.Parallel()
	for name, redirect := range map[string]string{"closed": "2>&-", "full": "2>/dev/full"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(state, logFolder), nil, 0o600)) // no directory can be made
			c := startCommand(t, exec.Command("sh", "-c", `exec airi-host run --listen off --state "$0" "$1" `+redirect, state, filepath.Join(plugins, "greeter")))
			c.wantLine(t, `^serving`)
			host := clientOf(state)
			for range 3 {
				_, err := host.Call(t.Context(), admin.CallRequest{Key: "tool:greet", Input: json.RawMessage(`{"name":"Ada"}`)})
				require.NoError(t, err)
			}
			require.Eventually(t, func() bool {
				detail, err := host.Inspect(t.Context(), "greeter")
				return err == nil && detail.LogFile != nil && detail.LogFile.Error != ""
			}, patience, 5*time.Millisecond)
			c.signal(t, syscall.SIGTERM)
			c.wantExit(t, exitDone)
		})
	}
}
