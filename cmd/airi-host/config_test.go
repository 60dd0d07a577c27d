package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/internal/logtest"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/transport/process"
)

// settingsIn writes a file of settings and reads it.
func settingsIn(t *testing.T, text string) (*settings, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "airi-host.json")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return loadSettings(file)
}

// wantSettings reads settings that are right.
func wantSettings(t *testing.T, text string) *settings {
	t.Helper()
	s, err := settingsIn(t, text)
	require.NoError(t, err)
	return s
}

func TestLoadSettings_noneIsAllDefaults(t *testing.T) {
	none, err := loadSettings("")
	require.NoError(t, err)
	for _, s := range []*settings{none, wantSettings(t, `{}`)} {
		require.Equal(t, actors.RestartPolicy{}, s.restart(false))
		require.Equal(t, actors.Limits{}, s.limits())
		require.Equal(t, actors.Timeouts{}, s.timeouts())
		require.Equal(t, process.Limits{}, s.worker(&manifest.Manifest{Name: "hello"}))
		require.Empty(t, s.secrets().Declared)
		require.Nil(t, s.pluginConfig("hello", "acme"))
		http := s.http()
		http.Allowed = services.Addresses{}
		require.Equal(t, services.HTTP{}, http)
	}
}

func TestLoadSettings_saysWhyAFileCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.json")
	require.NoError(t, os.WriteFile(large, []byte(`{}`+strings.Repeat(" ", maxSettings-1)), 0o600))
	for file, want := range map[string]string{
		filepath.Join(dir, "nowhere.json"): "does not exist: expected a file of settings, in JSON",
		dir:                                "is not a regular file: expected a file of settings, in JSON",
		os.DevNull:                         "is not a regular file: expected a file of settings, in JSON",
		filepath.Join(large, "below"):      "cannot be read: not a directory",
		large:                              "expected at most 1048576 bytes, found more: shorten it",
	} {
		_, err := loadSettings(file)
		require.EqualError(t, err, file+": "+want)
	}
}

func TestLoadSettings_saysAllThatIsWrongAtOnce(t *testing.T) {
	_, err := settingsIn(t, `{"scope": 5, "http": {"allow": ["http://intern.example", "10.0.0.0/8", "intern.example"]}}`)
	var wrong *settingsError
	require.ErrorAs(t, err, &wrong)
	var lines []string
	for _, p := range wrong.problems {
		require.True(t, strings.HasSuffix(p.File, "airi-host.json"))
		lines = append(lines, p.Field+": "+p.Message)
	}
	const address = `: expected a network (10.1.0.0/16), an address (10.1.2.3, 127.0.0.1:8080) or a name with its port (ollama.local:11434)`
	require.Equal(t, []string{
		"scope: expected a string, a company's id, found a number, 5",
		`http.allow[0]: allowed address "http://intern.example"` + address,
		`http.allow[2]: allowed address "intern.example"` + address,
	}, lines)
	require.Equal(t, 2, strings.Count(err.Error(), "\n"))
}

func TestSettings_restart(t *testing.T) {
	s := wantSettings(t, `{"restart": {"base": "2s", "max": "1m", "stable": "5s", "jitter": 0.5, "giveUp": 3}}`)
	want := actors.RestartPolicy{First: 2 * time.Second, Max: time.Minute, Stable: 5 * time.Second, Jitter: 0.5, MaxInARow: 3}
	require.Equal(t, want, s.restart(false))
	want.Disabled = true
	require.Equal(t, want, s.restart(true), "what is asked once has one answer")

	require.Negative(t, wantSettings(t, `{"restart": {"jitter": 0}}`).restart(false).Jitter, "none, and not the default")
	require.True(t, wantSettings(t, `{"restart": {"disabled": true}}`).restart(false).Disabled)
}

func TestSettings_limitsAndTimeouts(t *testing.T) {
	s := wantSettings(t, `{
		"limits": {"frameBytes": 1, "pendingCalls": 2, "logLines": 3, "facts": 4, "streamItems": 5, "streamBytes": 6, "events": 7, "eventBytes": 8},
		"timeouts": {"load": "1s", "init": "2s", "setup": "3s", "stop": "4s", "call": "5s", "idle": "7s", "capabilities": "6s"}}`)
	require.Equal(t, actors.Limits{Frame: 1, Pending: 2, LogLines: 3, Facts: 4, StreamItems: 5, StreamBytes: 6, Events: 7, EventBytes: 8}, s.limits())
	require.Equal(t, actors.Timeouts{
		Load: time.Second, Init: 2 * time.Second, Setup: 3 * time.Second,
		Stop: 4 * time.Second, Call: 5 * time.Second, Idle: 7 * time.Second, Capabilities: 6 * time.Second,
	}, s.timeouts())
}

// Each flag of run that a setting has as well goes before it, where it is given.
func TestRunOptions_flagsGoBeforeSettings(t *testing.T) {
	all := manifest.Settings{
		StartLimit: time.Minute, Drain: 2 * time.Minute,
		Listen: manifest.ListenSettings{Address: "127.0.0.1:1", Token: manifest.TokenSource{Env: "T"}, Origins: []string{"a"}},
	}
	var flags runOptions
	flags.startLimit, flags.drain = time.Second, 2*time.Second
	flags.listen.ListenSettings = manifest.ListenSettings{Address: "off", Token: manifest.TokenSource{File: "t"}, Origins: []string{"b"}, Remote: true}
	for flag, want := range map[string]func(*manifest.Settings){
		"none":        func(*manifest.Settings) {},
		"start-limit": func(s *manifest.Settings) { s.StartLimit = time.Second },
		"drain":       func(s *manifest.Settings) { s.Drain = 2 * time.Second },
		flagListen:    func(s *manifest.Settings) { s.Listen.Address = "off" },
		flagTokenFile: func(s *manifest.Settings) { s.Listen.Token = manifest.TokenSource{File: "t"} },
		flagOrigin:    func(s *manifest.Settings) { s.Listen.Origins = []string{"b"} },
		flagRemote:    func(s *manifest.Settings) { s.Listen.Remote = true },
	} {
		got, expected := all, all
		flags.over(func(given string) bool { return given == flag })(&got)
		want(&expected)
		require.Equal(t, expected, got, flag)
	}
}

func TestSettings_theLogIsAsTheySay(t *testing.T) {
	logged := func(args []string, text string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "airi-host.json")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		var errOut logtest.Buffer
		Main(t.Context(), append([]string{"run", "--once", "--config", file, filepath.Join(plugins, "greeter")}, args...), nil, io.Discard, &errOut)
		return errOut.String()
	}
	const unknown, message = `"plugins": {"nobody": {}}`, "settings for a plugin that is not here"
	require.Contains(t, logged(nil, `{`+unknown+`}`), `level=WARN msg="`+message)
	require.NotContains(t, logged(nil, `{"log": {"level": "error"}, `+unknown+`}`), message)
	require.Contains(t, logged([]string{"--log-level", "warn"}, `{"log": {"level": "error"}, `+unknown+`}`), message, "the flag goes first")
	require.Contains(t, logged(nil, `{"log": {"format": "json"}, `+unknown+`}`), `"level":"WARN","msg":"`+message)
	require.Contains(t, logged([]string{"--output", "json"}, `{"log": {"format": "text"}, `+unknown+`}`), `level=WARN msg="`+message)
}

func TestSettings_drain(t *testing.T) {
	s := wantSettings(t, `{"drain": "20s"}`)
	require.Equal(t, 20*time.Second, s.drain(defaultDrain))
	require.Equal(t, defaultDrain, wantSettings(t, `{}`).drain(defaultDrain))
}

func TestSettings_secretsAndHTTP(t *testing.T) {
	s := wantSettings(t, `{
		"secrets": {"a": {"env": "A", "plugins": ["hello"]}, "b": {"file": "/run/b", "companies": ["acme"]}},
		"http": {"allow": ["127.0.0.1:8080"], "maxBody": 5, "timeout": "7s"}}`)
	require.Equal(t, services.Secrets{Declared: map[string]services.Secret{
		"a": {Env: "A", Plugins: []string{"hello"}},
		"b": {File: "/run/b", Companies: []string{"acme"}},
	}}, s.secrets())
	allowed, err := services.ParseAddresses([]string{"127.0.0.1:8080"})
	require.NoError(t, err)
	require.Equal(t, services.HTTP{Allowed: allowed, Timeout: 7 * time.Second, MaxRequest: 5, MaxResponse: 5}, s.http())
}

func TestSettings_plugins(t *testing.T) {
	s := wantSettings(t, `{"limits": {"memoryBytes": 2097152}, "plugins": {
		"hello": {
			"config": {"a": 1}, "companies": {"acme": {"config": {"a": 2}}}, "grants": ["events.emit", "http.outbound"],
			"limits": {"memoryBytes": 1048576, "processes": 2, "cpuTime": "3s"}},
		"quiet": {"grants": []}}}`)
	require.JSONEq(t, `{"a": 1}`, string(s.pluginConfig("hello", "")))
	require.JSONEq(t, `{"a": 2}`, string(s.pluginConfig("hello", "acme")))
	require.Equal(t, process.Limits{MemoryBytes: 1 << 20, Processes: 2, CPUTime: 3 * time.Second}, s.worker(&manifest.Manifest{Name: "hello"}))
	said := &manifest.Manifest{Name: "other"}
	said.Host.Limits.Worker = manifest.WorkerLimits{Processes: 5}
	require.Equal(t, process.Limits{MemoryBytes: 2 << 20, Processes: 5}, s.worker(said), "the manifest's, then those of all")
	require.Equal(t, []string{"events.emit"}, s.grants("hello", []string{"events.emit", "jobs.schedule"}), "what it did not ask for it is not given")
	require.Empty(t, s.grants("quiet", []string{"x"}))
	require.Equal(t, []string{"x"}, s.grants("another", []string{"x"}))
}

func TestCheckNode(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "node")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600))
	for path, want := range map[string]string{
		"/bin/sh":                    "",
		filepath.Join(dir, "absent"): "and there is no " + filepath.Join(dir, "absent"),
		filepath.Join(file, "below"): "and there is no ",
		file:                         "cannot be run: it has no leave to be",
		dir:                          "cannot be run: ",
	} {
		err := checkNode(path)
		if want == "" {
			require.NoError(t, err, path)
			continue
		}
		require.ErrorContains(t, err, `expected the absolute path of Node.js, e.g. "/usr/local/bin/node", `, path)
		require.ErrorContains(t, err, want, path)
	}
}
