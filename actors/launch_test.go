package actors

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/transport/process"
)

// nodeAt is a command like a bridge's.
func nodeAt(_ context.Context, module string) ([]string, error) {
	return []string{"node", "bridge.mjs", module}, nil
}

func TestCommandLauncher_putsTheBridgeBeforeTheModule(t *testing.T) {
	t.Setenv("PATH", "/bin")
	for _, name := range []string{"HOME", "LANG", "TZ", "TMPDIR"} {
		t.Setenv(name, "set")
	}
	t.Setenv("SECRET", "not passed on")
	m := manifestFor("a")
	m.Dir, m.Host.Env, m.Host.Limits.FrameBytes = "/plugins/a", map[string]string{"KEY": "value"}, 7
	m.Host.Limits.Worker = manifest.WorkerLimits{MemoryBytes: 1 << 30, Processes: 30, CPUTime: time.Hour}
	spec, err := CommandLauncher(nodeAt)(t.Context(), m, manifest.Entry{Path: "/plugins/a/main.mjs"})
	require.NoError(t, err)
	require.Equal(t, process.Spec{
		Path: "node", Args: []string{"bridge.mjs", "/plugins/a/main.mjs"}, Dir: "/plugins/a", Wire: process.Own,
		Env: []string{"HOME=set", "KEY=value", "LANG=set", "PATH=/bin", "TMPDIR=set", "TZ=set"}, MaxRecord: 7,
		Limits: process.Limits{MemoryBytes: 1 << 30, Processes: 30, CPUTime: time.Hour},
	}, spec)
}

func TestCommandLauncher_aManifestsOwnCommandGoesBefore(t *testing.T) {
	spec, err := CommandLauncher(nil)(t.Context(), manifestFor("a"), manifest.Entry{Command: []string{"./worker", "--flag"}})
	require.NoError(t, err)
	require.Equal(t, "./worker", spec.Path)
	require.Equal(t, []string{"--flag"}, spec.Args)
}

func TestCommandLauncher_namesThePluginWhenThereIsNoCommand(t *testing.T) {
	none := func(context.Context, string) ([]string, error) { return nil, errors.New("no node on PATH") }
	_, err := CommandLauncher(none)(t.Context(), manifestFor("a"), manifest.Entry{Path: "x"})
	require.EqualError(t, err, "plugin a: no node on PATH")
}

func TestRunner_theEcosystemsEnvironmentWins(t *testing.T) {
	t.Setenv("PATH", "/bin")
	for _, name := range []string{"HOME", "LANG", "TZ", "TMPDIR"} {
		t.Setenv(name, "set")
	}
	m := manifestFor("a")
	m.Host.Env = map[string]string{"KEY": "value", "TZ": "Asia/Tokyo"}
	run := Runner{Command: nodeAt, Env: func(m *manifest.Manifest) map[string]string {
		return map[string]string{"TZ": "UTC", "ID": m.PluginName()}
	}}
	spec, err := run.Launch(t.Context(), m, manifest.Entry{Path: "w.js"})
	require.NoError(t, err)
	require.Equal(t, process.Stdio, spec.Wire)
	require.Equal(t, []string{"HOME=set", "ID=a", "KEY=value", "LANG=set", "PATH=/bin", "TMPDIR=set", "TZ=UTC"}, spec.Env)
	require.Equal(t, map[string]string{"KEY": "value", "TZ": "Asia/Tokyo"}, m.Host.Env, "the manifest is nobody's to change")
}

func TestLaunchers_goByTheDialect(t *testing.T) {
	launch := Launchers(map[string]Launcher{manifest.DialectAIRI: CommandLauncher(nodeAt)})
	spec, err := launch(t.Context(), manifestFor("a"), manifest.Entry{Path: "x"})
	require.NoError(t, err)
	require.Equal(t, "node", spec.Path)
	_, err = launch(t.Context(), &manifest.Manifest{Name: "b", Dialect: "esperanto"}, manifest.Entry{Path: "x"})
	require.EqualError(t, err, "plugin b: this host runs no esperanto plugins")
}
