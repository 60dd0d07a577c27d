package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/lifecycle"

	"github.com/airi-host/airi-host/internal/need"
)

// slow offers a tool that takes as many milliseconds as it is told, and a second to exit.
const slow = `
	import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
	const pause = ms => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
	process.on('exit', () => pause(1000))
	export const setupModules = ({ channels }) => {
		defineInvokeHandler(channels.host, defineInvokeEventa('tool:NAME'), ({ ms }) =>
			new Promise(done => setTimeout(() => done({ content: 'done' }), ms)))
	}
`

// awkward are plugins that do not want to stop, or have nothing that could.
var awkward = map[string]string{
	"deaf": `
		process.on('SIGTERM', () => {})
		export const setupModules = () => {
			setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 50)
		}`,
	"parent": `
		import { spawn } from 'node:child_process'
		export const setupModules = () => {
			spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref()
		}`,
	"crasher": `
		export const setupModules = () => { setTimeout(() => process.exit(3), 20) }`,
	"starter": `
		export const init = () => new Promise(() => setInterval(() => {}, 1000))`,
}

// A host stops whatever its plugins do: ten that are slow, one that is deaf, one with a
// grandchild, one that waits to be started again, and one that is just being started.
func TestRun_stopsInTimeWhateverPluginsDo(t *testing.T) {
	need.Node(t)
	t.Parallel()
	inTime := false
	need.Time(4*time.Second, func(drain time.Duration) bool {
		freed, took, brief := stopAwkward(t, drain)
		t.Logf("of %s calls were freed in %s, and all had stopped in %s; the brief one: %v", drain, freed, took, brief)
		inTime = brief == nil && freed < drain && took < drain+drain/2
		return inTime
	})
	require.True(t, inTime)
}

// stopAwkward starts a host with awkward plugins and stops it. It tells how long it took
// until no call was in flight any more, and until all was over, and what became of a call
// that had the time to end.
func stopAwkward(t *testing.T, drain time.Duration) (freed, took time.Duration, ofBrief error) {
	t.Helper()
	var dirs []string
	for i := range 10 {
		name := fmt.Sprintf("slow-%d", i)
		dirs = append(dirs, writePlugin(t, name, strings.Replace(slow, "NAME", name, 1)))
	}
	for name, module := range awkward {
		dirs = append(dirs, writePlugin(t, name, module))
	}
	user := writePlugin(t, "user", `export const setupModules = () => {}`)
	requireTool(t, user, "tool:slow-0")
	state, config := t.TempDir(), filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"restart": {"base": "1h", "max": "1h"}, "timeouts": {"init": "5m"}}`), 0o600))
	args := append([]string{"run", "--state", state, "--config", config, "--drain", drain.String(), "--start-limit", "5m"}, append(dirs, user)...)
	c := startHost(t, args...)
	host := clientOf(state)
	wantPhases(t, host, map[string]lifecycle.State{
		"user": lifecycle.Ready, "slow-9": lifecycle.Ready, "deaf": lifecycle.Ready, "parent": lifecycle.Ready,
		"starter": lifecycle.Preparing, "crasher": lifecycle.Failed,
	})

	endless := callTool(t, host, "slow-2", 600_000)
	wantInFlight(t, host, 1)
	brief := callTool(t, host, "slow-1", int(drain.Milliseconds()/4))
	wantCalled(t, host, "slow-1")
	began := time.Now()
	c.signal(t, syscall.SIGTERM)
	c.wantLine(t, `starter +preparing +→ stopped`)
	wantRefusal(t, host)
	ofBrief = <-brief
	require.Error(t, <-endless)
	freed = time.Since(began)
	c.wantExit(t, exitDone)
	took = time.Since(began)
	require.Regexp(t, `(?s)user +ready +→ stopped.*slow-0 +\S+ +→ stopped`, c.seen.String(), "it went before what it requires")
	return freed, took, ofBrief
}

// requireTool makes a plugin that writePlugin has made require a capability.
func requireTool(t *testing.T, dir, key string) {
	t.Helper()
	file := filepath.Join(dir, "plugin.json")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(text, &m))
	m["airi-host"] = map[string]any{"requires": []string{key}}
	text, err = json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))
}

// wantPhases waits until plugins are where they are expected.
func wantPhases(t *testing.T, host *admin.Client, want map[string]lifecycle.State) {
	t.Helper()
	have := map[string]lifecycle.State{}
	require.Eventually(t, func() bool {
		list, err := host.Plugins(t.Context())
		for _, one := range list {
			have[one.Plugin] = one.Phase
		}
		for name, phase := range want {
			if have[name] != phase {
				return false
			}
		}
		return err == nil
	}, 2*patience, 20*time.Millisecond, "%v", have)
}

// callTool calls a tool of the same name as its plugin; the channel has the outcome.
func callTool(t *testing.T, host *admin.Client, plugin string, ms int) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := host.Call(t.Context(), admin.CallRequest{
			Key: "tool:" + plugin, Input: json.RawMessage(fmt.Sprintf(`{"ms": %d}`, ms)), Timeout: admin.Duration(10 * time.Minute),
		})
		done <- err
	}()
	return done
}

// wantCalled waits until a plugin has been called, whether or not that call is over.
func wantCalled(t *testing.T, host *admin.Client, plugin string) {
	t.Helper()
	require.Eventually(t, func() bool {
		one, err := host.Inspect(t.Context(), plugin)
		return err == nil && (one.InFlight > 0 || one.Calls > 0)
	}, patience, 5*time.Millisecond)
}

// wantInFlight waits until so many calls are being handled.
func wantInFlight(t *testing.T, host *admin.Client, want int64) {
	t.Helper()
	require.Eventually(t, func() bool {
		list, err := host.Plugins(t.Context())
		n := int64(0)
		for _, one := range list {
			n += one.InFlight
		}
		return err == nil && n == want
	}, patience, 5*time.Millisecond)
}

// wantRefusal makes a call that a host which stops has to refuse at once.
func wantRefusal(t *testing.T, host *admin.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := host.Call(ctx, admin.CallRequest{Key: "tool:slow-3", Input: json.RawMessage(`{"ms": 1}`)})
	require.ErrorContains(t, err, actors.ErrShutdown.Error())
}

// Manifests that are code are evaluated before anything runs; that can be broken off.
func TestRun_stopsWhileManifestsAreRead(t *testing.T) {
	need.Node(t)
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json": `{"name": "busy", "type": "module", "paperclipPlugin": {"manifest": "./manifest.js", "worker": "./manifest.js"}}`,
		"manifest.js": `
			import { writeFileSync } from 'node:fs'
			writeFileSync('begun', '')
			for (;;);`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, mode := range []struct {
		args []string
		code int
	}{{nil, exitDone}, {[]string{"--once"}, exitFailed}} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "begun")))
		c := startHost(t, append([]string{"run", dir}, mode.args...)...)
		require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "begun")); return err == nil }, patience, 5*time.Millisecond)
		began := time.Now()
		c.signal(t, syscall.SIGTERM)
		c.wantExit(t, mode.code)
		require.Less(t, time.Since(began), 4*time.Second)
		require.Empty(t, c.seen.String(), "what was not read has no problems")
	}
}
