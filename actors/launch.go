package actors

import (
	"context"
	"fmt"
	"maps"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/transport/process"
)

// Runner says how the plugins of one ecosystem are run as worker processes. The
// environment is what process.Environment lets through, what the manifest declares,
// and Env, which wins.
type Runner struct {
	// Command returns the program and its arguments for a plugin's file; a
	// manifest's own "airi-host".command goes before it.
	Command func(ctx context.Context, file string) ([]string, error)
	// Wire says on which descriptors the records travel.
	Wire process.Wire
	// Env is what the ecosystem gives to each of its workers; nil for nothing.
	Env func(*manifest.Manifest) map[string]string
}

// Launch is the Launcher of the ecosystem.
func (r Runner) Launch(ctx context.Context, m *manifest.Manifest, entry manifest.Entry) (process.Spec, error) {
	argv := entry.Command
	if len(argv) == 0 {
		var err error
		if argv, err = r.Command(ctx, entry.Path); err != nil {
			return process.Spec{}, fmt.Errorf("plugin %s: %w", m.PluginName(), err)
		}
	}
	env := maps.Clone(m.Host.Env)
	if r.Env != nil {
		if env == nil {
			env = map[string]string{}
		}
		maps.Copy(env, r.Env(m))
	}
	return process.Spec{
		Path: argv[0], Args: argv[1:], Dir: m.Dir, Wire: r.Wire,
		Env:       process.Environment(env, nil),
		MaxRecord: m.Host.Limits.FrameBytes,
		Limits:    process.Limits(m.Host.Limits.Worker),
	}, nil
}

// CommandLauncher runs modules behind a bridge, whose records travel on descriptors
// of their own, so that what a module prints is only log text.
func CommandLauncher(command func(ctx context.Context, module string) ([]string, error)) Launcher {
	return Runner{Command: command, Wire: process.Own}.Launch
}

// Launchers runs the plugins of each ecosystem as its own launcher says, by the
// manifest's dialect.
func Launchers(by map[string]Launcher) Launcher {
	return func(ctx context.Context, m *manifest.Manifest, entry manifest.Entry) (process.Spec, error) {
		launch := by[m.Dialect]
		if launch == nil {
			return process.Spec{}, fmt.Errorf("plugin %s: this host runs no %s plugins", m.PluginName(), m.Dialect)
		}
		return launch(ctx, m, entry)
	}
}
