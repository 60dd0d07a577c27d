package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// commandsOf are the commands that a page shows, each with what it shows below it.
func commandsOf(t *testing.T, page string) (all [][2]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^    \$ (.*)\n((?:    [^$\n].*\n)*)`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, [2]string{m[1], regexp.MustCompile(`(?m)^    `).ReplaceAllString(m[2], "")})
	}
	return all
}

// What the page on routes shows, a newcomer gets, line by line; the id of the lease is another one.
func TestRoutesPage_showsWhatHappens(t *testing.T) {
	need.Node(t)
	t.Parallel()
	commands := commandsOf(t, "routes.md")
	require.Len(t, commands, 7)
	require.Equal(t, "airi-host run testdata/workers/workshop", commands[0][0])
	state := serving(t, filepath.Join("..", "..", "testdata", "workers", "workshop"), "workshop")
	lease := regexp.MustCompile(`workshop-\d+`)
	id := ""
	for _, c := range commands[1:] {
		line := lease.ReplaceAllString(c[0], id)
		if strings.Contains(line, "--login") {
			screen := onConsole(t, 200, 10, nil, append(strings.Fields(line)[1:], "--state", state)...)
			screen.wantShown(t, "^"+regexp.QuoteMeta(strings.TrimSpace(c[1]))+"$")
			screen.press(t, "\x1d")
			screen.wantExit(t, exitDone)
			continue
		}
		sh := exec.Command("sh", "-c", strings.Replace(line, " --scope acme", " --scope acme --state "+state, 1))
		said, _ := sh.CombinedOutput() // the page shows a failure
		if id == "" {
			id = lease.FindString(string(said))
		}
		require.Equal(t, lease.ReplaceAllString(c[1], id), string(said), line)
	}
}
