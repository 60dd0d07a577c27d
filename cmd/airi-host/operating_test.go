package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// operating is the folder of the examples for operators.
var operating = filepath.Join("..", "..", "docs", "operating")

// serviceOf reads the settings of a unit's section [Service], the last of each name.
func serviceOf(t *testing.T, text string) map[string]string {
	t.Helper()
	settings, section := map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, found := strings.Cut(line, "=")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = line
		case section == "[Service]":
			require.True(t, found, "%s: expected NAME=VALUE", line)
			settings[name] = value
		}
	}
	return settings
}

// standIn replaces what an example names and a test has not got.
func standIn(t *testing.T, args []string) []string {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(strings.Repeat("t", 32)), 0o600))
	args = slices.Clone(args)
	for i, a := range args {
		switch a {
		case "/plugins", "/srv/airi-host/plugins":
			args[i] = filepath.Join(plugins, "greeter")
		case "/run/secrets/token":
			args[i] = token
		case "0.0.0.0:6121":
			args[i] = "0.0.0.0:0"
		}
	}
	return args
}

// wantServes runs an example's command until it serves.
func wantServes(t *testing.T, args []string) {
	t.Helper()
	c := startHost(t, standIn(t, args)...)
	c.wantLine(t, `^serving 1 plugin`)
	c.signal(t, os.Interrupt)
	c.wantExit(t, exitDone)
}

func TestUnit_isRight(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(operating, "airi-host.service"))
	require.NoError(t, err)
	s := serviceOf(t, string(text))
	require.Equal(t, "notify", s["Type"])
	require.Equal(t, "mixed", s["KillMode"])
	require.Equal(t, "yes", s["Delegate"])
	require.Equal(t, "XDG_STATE_HOME=/var/lib HOME=/var/lib/airi-host", s["Environment"], "the state directory is the unit's")
	require.Equal(t, "airi-host", s["StateDirectory"])
	command := strings.Fields(s["ExecStart"])
	require.Equal(t, "/usr/local/bin/airi-host", command[0])
	wantServes(t, command[1:])
	require.Equal(t, command[0]+" reload", s["ExecReload"], "the state directory is that of the environment")

	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating.md"))
	require.NoError(t, err)
	for _, step := range []string{
		"go build -trimpath ./cmd/airi-host\n", "install -m 0755 airi-host /usr/local/bin/\n", "useradd --system --home-dir /var/lib/airi-host ",
		"install -d -m 0755 " + command[len(command)-1] + "\n", "airi-host ps --state /var/lib/airi-host\n",
	} {
		require.Contains(t, string(page), step, "what the unit needs is there before it is started")
	}

	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return // it was read, and its command was run
	}
	host, err := exec.LookPath("airi-host")
	require.NoError(t, err)
	unit := filepath.Join(t.TempDir(), "airi-host.service")
	require.NoError(t, os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), command[0], host)), 0o600))
	out, err := exec.Command(analyze, "verify", "--man=no", unit).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "airi-host.service")
}

func TestDockerfile_isRight(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(operating, "Dockerfile"))
	require.NoError(t, err)
	list := func(instruction string) (args []string) {
		found := regexp.MustCompile(`(?m)^` + instruction + `.*?(\[.*\])$`).FindSubmatch(text)
		require.NotNil(t, found, instruction)
		require.NoError(t, json.Unmarshal(found[1], &args))
		return args
	}
	require.Equal(t, []string{"airi-host"}, list("ENTRYPOINT"))
	require.Equal(t, []string{"airi-host", "ps"}, list("HEALTHCHECK"))
	require.Contains(t, string(text), "STOPSIGNAL SIGTERM\n")
	wantServes(t, list("CMD"))
	for _, mounted := range regexp.MustCompile(`"\$PWD/([^":]+):/plugins/`).FindAllSubmatch(text, -1) {
		manifests, err := filepath.Glob(filepath.Join("..", "..", string(mounted[1]), "plugin.json"))
		require.NoError(t, err)
		require.Len(t, manifests, 1, "%s: a plugin in Go or JavaScript, which needs nothing else in the image", mounted[1])
	}
	require.NotContains(t, string(text), "testdata/plugins:/plugins", "some of them are built when they start")
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	require.NoError(t, err)
	release := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	require.Contains(t, string(text), "FROM golang:"+string(release[1])+" AS build\n")
}
