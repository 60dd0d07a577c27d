package actors

import (
	"context"
	"fmt"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/transport/process"
)

// CommandLauncher runs modules behind a bridge: command returns the program and
// its arguments for a module's file; a manifest's own "airi-host".command goes
// before it. The bridge's records travel on descriptors of
// their own, so that what a module prints is only log text. The environment is
// what process.Environment lets through, and what the manifest declares.
func CommandLauncher(command func(ctx context.Context, module string) ([]string, error)) Launcher {
	return func(ctx context.Context, m *manifest.Manifest, entry manifest.Entry) (process.Spec, error) {
		argv := entry.Command
		if len(argv) == 0 {
			var err error
			if argv, err = command(ctx, entry.Path); err != nil {
				return process.Spec{}, fmt.Errorf("plugin %s: %w", m.PluginName(), err)
			}
		}
		return process.Spec{
			Path: argv[0], Args: argv[1:], Dir: m.Dir, Wire: process.Own,
			Env:       process.Environment(m.Host.Env, nil),
			MaxRecord: m.Host.Limits.FrameBytes,
		}, nil
	}
}
