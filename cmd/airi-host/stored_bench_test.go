package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/store"
)

// BenchmarkHealthz is the time from the start of a host's process to the first answer of
// /healthz: of one with a plugin and an empty store, and in turn of one with 200 plugins of
// all kinds whose store has of each what a year may leave. x0 is the second as a part of
// the first.
func BenchmarkHealthz(b *testing.B) {
	const plugins = 200
	empty, full := b.TempDir(), b.TempDir()
	makePlugins(b, filepath.Join(empty, "plugins"), 1)
	makePlugins(b, filepath.Join(full, "plugins"), plugins)
	fillStore(b, filepath.Join(full, "state"), plugins)
	var took [2][]time.Duration
	for b.Loop() {
		for i, dir := range []string{empty, full} {
			took[i] = append(took[i], timeToHealthz(b, dir))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	alone, stored := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(alone.Microseconds())/1e3, "empty-ms")
	b.ReportMetric(float64(stored.Microseconds())/1e3, "stored-ms")
	b.ReportMetric(float64(stored)/float64(alone), "x0")
}

// timeToHealthz starts a host and ends it as soon as it answers.
func timeToHealthz(b *testing.B, dir string) time.Duration {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	address := l.Addr().String()
	require.NoError(b, l.Close())
	cmd := exec.Command("airi-host", "run", "--state", filepath.Join(dir, "state"), "--listen", address, filepath.Join(dir, "plugins"))
	began := time.Now()
	require.NoError(b, cmd.Start())
	for {
		answer, err := http.Get("http://" + address + "/healthz")
		if err != nil {
			require.Less(b, time.Since(began), patience, "it does not answer")
			time.Sleep(200 * time.Microsecond)
			continue
		}
		took := time.Since(began)
		text, err := io.ReadAll(answer.Body)
		require.NoError(b, err)
		require.NoError(b, answer.Body.Close())
		require.JSONEq(b, `{"status":"ok"}`, string(text))
		require.NoError(b, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		http.DefaultClient.CloseIdleConnections()
		return took
	}
}

// makePlugins writes plugins in turn of three kinds: compiled in, an AIRI module in Node, a
// Paperclip worker, whose manifest is code.
func makePlugins(t testing.TB, dir string, n int) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("plugin-%03d", i)
		files := map[string]string{}
		switch i % 3 {
		case 0:
			files["plugin.json"] = fmt.Sprintf(`{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":%q,"entrypoints":{"go":"builtin:greeter"}}`, name)
		case 1:
			files["plugin.json"] = fmt.Sprintf(`{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":%q,"entrypoints":{"node":"./module.mjs"}}`, name)
			files["module.mjs"] = `export default { async init() {}, async setupModules() {} }`
		case 2:
			files["package.json"] = fmt.Sprintf(`{"name":%q,"version":"1.0.0","type":"module","paperclipPlugin":{"manifest":"./manifest.js","worker":"./worker.js"}}`, name)
			files["manifest.js"] = fmt.Sprintf(`export default { id: %q, apiVersion: 1, version: '1.0.0', displayName: 'One', description: 'One of many.', author: 'nobody',
				categories: ['automation'], capabilities: ['plugin.state.read'], entrypoints: { worker: './worker.js' } }`, name)
			files["worker.js"] = `process.stdin.resume()`
		}
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
		for file, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o600))
		}
	}
}

// fillStore gives plugins what they have in a store after a while.
func fillStore(t testing.TB, dir string, plugins int) {
	t.Helper()
	db, err := store.Open(t.Context(), dir, store.Options{Unsynced: true})
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range plugins {
		all.Go(func() {
			if err := fillPlugin(t.Context(), db, fmt.Sprintf("plugin-%03d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.NoError(t, db.Close())
}

// fillPlugin keeps some of everything: 100 values of half a KiB among it.
func fillPlugin(ctx context.Context, db *store.DB, plugin string) error {
	text := json.RawMessage(fmt.Sprintf(`{"text":"%0500d"}`, 7))
	for i := range 100 {
		key := services.StateKey{Plugin: plugin, ScopeKind: "project", ScopeID: fmt.Sprint("project-", i), Namespace: "default", Key: "notes"}
		if err := db.State().Set(ctx, key, text); err != nil {
			return err
		}
	}
	for i := range 20 {
		company := fmt.Sprint("company-", i%4)
		if _, err := db.SetConfiguration(ctx, int64(i/4), store.Configuration{Plugin: plugin, Company: company, SchemaVersion: 1, Value: text}); err != nil {
			return err
		}
		run := store.Run{Plugin: plugin, Job: "sync", ID: fmt.Sprint("run-", i), Trigger: protocol.TriggerManual, StartedAt: time.Now()}
		if err := db.StartRun(ctx, run); err != nil {
			return err
		}
		if err := db.EndRun(ctx, plugin, run.ID, ""); err != nil {
			return err
		}
		if _, err := db.Audit(ctx, store.Record{Plugin: plugin, Action: "done"}); err != nil {
			return err
		}
	}
	if err := db.SetGrants(ctx, plugin, []string{"plugin.state.read"}, nil); err != nil {
		return err
	}
	if err := db.SetSubscription(ctx, store.Subscription{Plugin: plugin, Pattern: "issue.*"}); err != nil {
		return err
	}
	return db.SetCrashes(ctx, plugin, store.Crashes{All: 7, InARow: 1, Last: "exit 1", LastAt: time.Now()})
}
