package ecosystems

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
	"github.com/airi-host/airi-host/protocol/eliza"
	"github.com/airi-host/airi-host/transport/process"
)

// elizaDialect is that of elizaOS, by what is decided of each plugin.
func elizaDialect(manifestOf func(plugin string) *manifest.Manifest, policy func() Policy, handles func(dialect, method string) bool) protocol.Dialect {
	return eliza.Dialect{Plugin: func(far protocol.Settings) eliza.Plugin {
		m := manifestOf(far.Plugin)
		if m == nil || m.Eliza == nil {
			return eliza.Plugin{}
		}
		p := policy()
		var key []byte
		if p.Key != nil {
			key = p.Key(far.Plugin)
		}
		return eliza.Plugin{
			Key:     key,
			Granted: m.Eliza.Permissions.Only(p.granted(far.Plugin, m.Eliza.Grants())).JSON(),
			Denied:  p.Denied,
			Handles: func(method string) bool { return handles(manifest.DialectEliza, method) },
		}
	}}
}

// elizaLauncher runs elizaOS's workers in Bun, as elizaOS does, else in Node.js, with
// records on standard input and output.
func elizaLauncher(node *bridge.Node, homes *Homes) actors.Launcher {
	return func(ctx context.Context, m *manifest.Manifest, entry manifest.Entry) (process.Spec, error) {
		here, err := homes.enter(m.PluginName())
		if err != nil {
			return process.Spec{}, err
		}
		env := map[string]string{"ELIZA_REMOTE_PLUGIN_ID": m.PluginName(), "ELIZA_REMOTE_PLUGIN_CHANNEL": "stdio"}
		if here.dir != "" {
			env["ELIZA_REMOTE_PLUGIN_STATE_DIR"] = here.dir
		}
		spec, err := actors.Runner{
			Command: elizaCommand(node.Program),
			Wire:    process.Stdio,
			Env:     func(*manifest.Manifest) map[string]string { return env },
		}.Launch(ctx, m, entry)
		if err != nil {
			here.leave()
		}
		spec.Ended = here.leave
		return spec, err
	}
}

var (
	errNoBun     = errors.New("no Bun on PATH: install it to run workers in TypeScript, or name a file in JavaScript as worker.relativePath")
	errNoRuntime = errors.New("no Bun and no Node.js on PATH: install Bun, or version 20.6 of Node.js or newer, to run elizaOS workers")
)

// elizaCommand runs a worker's file with the Bun on PATH. Without one, a file in
// JavaScript is run with a Node.js, "" being the one on PATH.
func elizaCommand(node string) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, file string) ([]string, error) {
		if bun, err := exec.LookPath("bun"); err == nil {
			return []string{bun, file}, nil
		}
		if ext := filepath.Ext(file); ext == ".ts" || ext == ".tsx" || ext == ".mts" {
			return nil, errNoBun
		}
		argv, err := workerCommand(node)(ctx, file)
		if errors.Is(err, errNoNode) {
			err = errNoRuntime
		}
		return argv, err
	}
}
