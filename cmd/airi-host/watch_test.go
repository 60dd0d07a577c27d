package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"

	"github.com/airi-host/airi-host/internal/need"
)

// debounce is that of quickWatch.
const debounce = 50 * time.Millisecond

// quickWatch writes a file of settings that has plugins reloaded soon.
func quickWatch(t *testing.T, more string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `{"watch": {"debounce": %q, "maxWait": "1s"%s}}`, debounce, more), 0o600))
	return file
}

const quiet = `export const setupModules = () => {}`

func writeFile(t *testing.T, text string, path ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(path...), []byte(text), 0o600))
}

// startWatched starts a host that watches a plugin, and waits until it serves.
func startWatched(t *testing.T, dir, more string) *child {
	t.Helper()
	need.Node(t)
	host := startHost(t, "run", "--watch", "--config", quickWatch(t, more), dir)
	host.wantLine(t, "^serving 1 plugin")
	return host
}

func TestWatch_aBurstOfWritesIsOneReloadOrTwo(t *testing.T) {
	t.Parallel()
	dir := writePlugin(t, "burst", quiet)
	host := startWatched(t, dir, "")
	began := time.Now()
	for i := range 50 {
		writeFile(t, fmt.Sprint(quiet, "//", i), dir, "plugin.mjs")
	}
	took := time.Since(began) // of a busy machine it is no burst
	host.wantLine(t, "^burst was reloaded, plugin.mjs has changed$")
	writeFile(t, "{}", dir, "last.json")
	host.wantLine(t, "^burst was reloaded, last.json has changed$")
	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
	require.LessOrEqual(t, strings.Count(host.seen.String(), "burst was reloaded, plugin.mjs has changed"), 2+int(took/debounce))
}

func TestWatch_aManifestThatIsBrokenLeavesThePluginAsItIs(t *testing.T) {
	t.Parallel()
	dir := writePlugin(t, "mended", quiet)
	good, err := os.ReadFile(filepath.Join(dir, "plugin.json"))
	require.NoError(t, err)
	host := startWatched(t, dir, "")
	writeFile(t, strings.Replace(string(good), `"entrypoints"`, `"airi-host": {"skope": "a"}, "entrypoints"`, 1), dir, "plugin.json")
	host.wantLine(t, `^\S+plugin.json: airi-host.skope: unknown field`)
	host.wantLine(t, "^mended was left as it is: its manifest has problems$")
	writeFile(t, `{`, dir, "plugin.json")
	host.wantLine(t, `^\S+plugin.json: .*the JSON ends in the middle`)
	host.wantLine(t, "^mended was left as it is: its manifest has problems$")
	writeFile(t, string(good), dir, "plugin.json")
	host.wantLine(t, "^mended was reloaded, plugin.json has changed$")
	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
}

// A plugin that writes into its own folder whenever it starts is not reloaded for ever.
func TestWatch_aPluginThatChangesItsOwnFilesIsSlowedDown(t *testing.T) {
	t.Parallel()
	dir := writePlugin(t, "restless", `
		import { writeFileSync } from 'node:fs'
		export const setupModules = () => writeFileSync(new URL('state.json', import.meta.url), '{}')`)
	host := startWatched(t, dir, `, "reloadsPerMinute": 2`)
	writeFile(t, "1", dir, "begin.txt")
	host.wantLine(t, "^restless was reloaded")
	host.wantLine(t, "^restless was reloaded")
	host.wantLogged(t, "files change again whenever their change was told")
	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
	require.Contains(t, host.err.String(), "plugin=restless")
	require.Contains(t, host.err.String(), "state.json")
}

// The one manifest that run was given may go and come, too.
func TestWatch_aManifestThatIsGivenByItsFile(t *testing.T) {
	t.Parallel()
	dir := writePlugin(t, "alone", quiet)
	file := filepath.Join(dir, "plugin.json")
	host := startWatched(t, file, "")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.Remove(file))
	host.wantLine(t, "^alone was stopped: .* is gone; it is started again when that is back$")
	writeFile(t, string(text), file)
	host.wantLine(t, "^alone was started, it is new here$")
	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
}

func TestWatchLine_forPeople(t *testing.T) {
	for want, line := range map[string]watchLine{
		"a was reloaded, x.mjs has changed":                                            {Action: actionReloaded, File: "x.mjs", Phase: lifecycle.Ready},
		"a was reloaded, x.mjs has changed: it is configuration-needed: it has no key": {Action: actionReloaded, File: "x.mjs", Phase: lifecycle.ConfigurationNeeded, Reason: "it has no key"},
		"a was started, it is new here":                                                {Action: actionStarted, Phase: lifecycle.Ready},
		"a was stopped: it is gone":                                                    {Action: actionStopped, Reason: "it is gone"},
		"a was left as it is: its manifest has problems":                               {Action: actionKept, Reason: "its manifest has problems"},
		"a has failed, x.mjs has changed: no luck":                                     {Action: actionFailed, File: "x.mjs", Phase: lifecycle.Failed, Reason: "no luck"},
	} {
		line.Plugin = "a"
		require.Equal(t, want, line.String())
	}
}

// Of two plugins with one name the second one is told, and takes the place of the first
// when that has gone.
func TestWatch_aNameThatIsTaken(t *testing.T) {
	t.Parallel()
	first := writePlugin(t, "one", quiet)
	all := filepath.Dir(first)
	host := startWatched(t, all, "")
	text, err := os.ReadFile(filepath.Join(first, "plugin.json"))
	require.NoError(t, err)
	second := filepath.Join(all, "two")
	require.NoError(t, os.Mkdir(second, 0o755))
	writeFile(t, string(text), second, "plugin.json")
	writeFile(t, quiet, second, "plugin.mjs")
	host.wantLine(t, `^one was left as it is: the name is taken by \S+/one/plugin.json: a name is unique in a host, change one of them$`)
	require.NoError(t, os.RemoveAll(first))
	host.wantLine(t, "^one was stopped: .*/one/plugin.json is gone")
	host.wantLine(t, "^one was started, it is new here$")
	host.signal(t, os.Interrupt)
	host.wantExit(t, exitDone)
}

// A directory may have no plugin yet, or not be there.
func TestWatch_waitsForTheFirstPlugin(t *testing.T) {
	need.Node(t)
	t.Parallel()
	plugin := writePlugin(t, "first", quiet)
	for name, c := range map[string]struct {
		dir  func(empty string) string
		args []string
		wait string
		come string
	}{
		"empty":     {func(empty string) string { return empty }, nil, "^waiting for a plugin; Ctrl-C ends the host$", "^first was started, it is new here$"},
		"not there": {func(empty string) string { return filepath.Join(empty, "later") }, nil, "^waiting for a plugin; Ctrl-C ends the host$", "^first was started, it is new here$"},
		"json": {
			func(empty string) string { return empty },
			[]string{"--output", "json"},
			`^\{"event":"started","plugins":0,"ready":0\}$`, `^\{"event":"watch","plugin":"first","action":"started",`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := c.dir(t.TempDir())
			host := startHost(t, append([]string{"run", "--watch", "--config", quickWatch(t, ""), dir}, c.args...)...)
			host.wantLine(t, c.wait)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, os.CopyFS(filepath.Join(dir, "first"), os.DirFS(plugin)))
			host.wantLine(t, c.come)
			host.signal(t, os.Interrupt)
			host.wantExit(t, exitDone)
			require.Contains(t, host.seen.String()+host.err.String(), "there is no plugin yet: one that comes is started")
			require.NotContains(t, host.seen.String(), "holds no plugin")
		})
	}
}
