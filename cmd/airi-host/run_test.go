package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"

	"github.com/airi-host/airi-host/internal/need"
)

// story is what run --output json told, line by line.
type story []moment

// moment is any line of it.
type moment struct {
	Event, Plugin                string
	From, To, Phase, FailedIn    lifecycle.State
	Reason, Place, Limit, Advice string
	At                           time.Time
	For, Cycle, WaitsFor         []string
	Plugins, Ready               int
}

func storyOf(t *testing.T, text string) story {
	t.Helper()
	var all story
	for line := range strings.Lines(text) {
		var m moment
		require.NoError(t, json.Unmarshal([]byte(line), &m), line)
		all = append(all, m)
	}
	return all
}

// find returns where the first moment is that is meant.
func (s story) find(t *testing.T, what string, is func(moment) bool) int {
	t.Helper()
	i := slices.IndexFunc(s, is)
	require.GreaterOrEqual(t, i, 0, "it was not told: %s", what)
	return i
}

// enters returns where a plugin entered a phase.
func (s story) enters(t *testing.T, plugin string, phase lifecycle.State) int {
	t.Helper()
	return s.find(t, plugin+" is "+string(phase), func(m moment) bool { return m.Plugin == plugin && m.To == phase })
}

// One plugin never answers, one needs another that takes its time, two need each
// other, some fail: nobody waits for anybody without need, and each is told.
func TestRun_namesEveryPluginThatIsNotReady(t *testing.T) {
	need.Node(t)
	t.Parallel()
	in := func(name string) string { return filepath.Join(broken, name) }
	var told story
	var silent int
	need.Time(4*time.Second, func(limit time.Duration) bool { // for the others to be quicker
		c := startHost(t, "run", "--once", "--output", "json",
			in("aborts"), in("cycle-a"), in("cycle-b"), silentFor(t, limit), in("slow"), in("throws"), in("waits"))
		told = storyOf(t, c.rest())
		c.wantExit(t, exitFailed)
		silent = told.enters(t, "silent", lifecycle.Failed)
		return told.enters(t, "waits", lifecycle.Ready) < silent
	})

	// Each in its own time.
	for plugin, end := range map[string]lifecycle.State{
		"aborts": lifecycle.Failed, "throws": lifecycle.Failed, "slow": lifecycle.Ready, "waits": lifecycle.Ready,
	} {
		require.Less(t, told.enters(t, plugin, end), silent, "%s waited for another plugin's limit", plugin)
	}
	require.Less(t, told.enters(t, "slow", lifecycle.Configured), told.enters(t, "waits", lifecycle.Prepared))

	// What is waited for, and the cycle as soon as it is one.
	told.find(t, "what is awaited", func(m moment) bool {
		return m.Event == "waiting" && m.Plugin == "waits" && slices.Equal(m.For, []string{"tool:slow"})
	})
	for _, cycle := range [][]string{{"cycle-a", "cycle-b", "cycle-a"}, {"cycle-b", "cycle-a", "cycle-b"}} {
		named := told.find(t, "the cycle", func(m moment) bool {
			return m.Event == "waiting" && m.Plugin == cycle[0] && slices.Equal(m.Cycle, cycle)
		})
		require.Less(t, named, told.enters(t, cycle[0], lifecycle.Failed), "it is not told at the limit, of two seconds")
	}

	// The end: all numbers, then the last lines.
	sum := told.find(t, "the numbers", func(m moment) bool { return m.Event == "started" })
	require.Equal(t, 7, told[sum].Plugins)
	require.Equal(t, 2, told[sum].Ready)
	wantNotReady(t, told[len(told)-5:])
}

// silentFor is the plugin of that name, with another limit for its init.
func silentFor(t *testing.T, limit time.Duration) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "silent")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(broken, "silent"))))
	file := filepath.Join(dir, "plugin.json")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.ReplaceAll(text, []byte(`"4s"`), fmt.Appendf(nil, "%q", limit)), 0o644))
	return dir
}

func wantNotReady(t *testing.T, last story) {
	t.Helper()
	const wait = "airi-host.timeouts.capabilities"
	for i, want := range []struct {
		plugin   string
		failedIn lifecycle.State
		reason   string
		limit    string
		advice   string
	}{
		{"aborts", lifecycle.Preparing, "aborted by plugin: aborts", "", ""},
		{"cycle-a", lifecycle.WaitingDeps, "`tool:b` is not ready after 2000ms", wait, "cycle-a → cycle-b → cycle-a wait for each other"},
		{"cycle-b", lifecycle.WaitingDeps, "`tool:a` is not ready after 2000ms", wait, "cycle-b → cycle-a → cycle-b wait for each other"},
		{"silent", lifecycle.Preparing, "airi-host.timeouts.init", "airi-host.timeouts.init", ""},
		{"throws", lifecycle.Preparing, "init exploded", "", ""},
	} {
		got := last[i]
		require.Equal(t, "not-ready", got.Event)
		require.Equal(t, want.plugin, got.Plugin)
		require.Equal(t, lifecycle.Failed, got.Phase)
		require.Equal(t, want.failedIn, got.FailedIn, want.plugin)
		require.Contains(t, got.Reason, want.reason)
		require.Equal(t, want.limit, got.Limit, want.plugin)
		require.Contains(t, got.Advice, want.advice)
	}
	require.Contains(t, last[4].Place, "throws.mjs:")
}
