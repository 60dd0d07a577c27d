package ecosystems

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
	"github.com/airi-host/airi-host/protocol/eliza"
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/transport/process"
)

// Policy is what whoever runs a host has decided about Paperclip's and elizaOS's
// workers, and AIRI's modules. The zero value grants each worker what its manifest asks
// for, and knows no company.
type Policy struct {
	// Company is the tenant of calls that name none, unless the manifest names one;
	// "" is none.
	Company string
	// Companies are those for which workers may act outside of a call.
	Companies []string
	// Grants returns what a plugin is granted of what its manifest asks for; nil
	// grants all of it.
	Grants func(plugin string, asked []string) []string
	// Collecting bounds what is collected of the streams of AIRI's modules.
	Collecting airi.Collecting
	// Routes bound the routes of Paperclip's workers. OpenRoutes is how many pseudo-terminals
	// and channels all of them together may have, 0 being paperclip.MaxRoutes; it is asked
	// once, by Dialects.
	Routes     paperclip.Limits
	OpenRoutes int
	// Key returns the key by which what is called of the worker of an elizaOS plugin is
	// signed; nil, and a nil key, sign nothing. It is asked once the worker is launched,
	// which has to have the key from elsewhere; see Homes.
	Key func(plugin string) []byte
	// Denied is told what the grants of an elizaOS plugin did not allow; nil for nobody.
	// It must not block.
	Denied func(eliza.Denial)
}

// Dialects are the ecosystems that are built. manifestOf returns the manifest of a
// plugin, as it is when a session of the plugin begins, or nil; policy returns what is
// decided then, Grants and bounds, and its Companies whenever a plugin acts outside of a
// call; handles tells whether the host has a method of a dialect's wire.
func Dialects(manifestOf func(plugin string) *manifest.Manifest, policy func() Policy, handles func(dialect, method string) bool) []protocol.Dialect {
	return []protocol.Dialect{
		airi.Dialect{Collecting: func() airi.Collecting { return policy().Collecting }},
		paperclipDialect(manifestOf, policy, handles),
		elizaDialect(manifestOf, policy, handles),
	}
}

// paperclipDialect is that of Paperclip, by what is decided of each plugin.
func paperclipDialect(manifestOf func(plugin string) *manifest.Manifest, policy func() Policy, handles func(dialect, method string) bool) protocol.Dialect {
	return paperclip.Dialect{Shared: paperclip.NewRoutes(policy().OpenRoutes), Plugin: func(far protocol.Settings) paperclip.Plugin {
		m := manifestOf(far.Plugin)
		if m == nil || m.Paperclip == nil {
			return paperclip.Plugin{}
		}
		p := policy()
		return paperclip.Plugin{
			Grants:         p.granted(far.Plugin, m.Paperclip.Grants),
			Company:        cmp.Or(m.Host.Scope, p.Company),
			Proactive:      func(company string) bool { return slices.Contains(policy().Companies, company) },
			ValidateConfig: true,
			Limits:         p.Routes,
			Handles:        func(method string) bool { return handles(manifest.DialectPaperclip, method) },
		}
	}}
}

// Among looks for a plugin's manifest in a list that does not change.
func Among(list []*manifest.Manifest) func(plugin string) *manifest.Manifest {
	plugins := make(map[string]*manifest.Manifest, len(list))
	for _, m := range list {
		plugins[m.PluginName()] = m
	}
	return func(plugin string) *manifest.Manifest { return plugins[plugin] }
}

func (p Policy) granted(plugin string, asked []string) []string {
	if p.Grants == nil {
		return asked
	}
	return p.Grants(plugin, asked)
}

// Launch runs each plugin as its ecosystem does: AIRI's modules in Node.js behind the
// bridge, Paperclip's workers in Node.js with records on standard input and output, and
// elizaOS's in Bun, or in Node.js where no Bun is on PATH. A manifest's own
// "airi-host".command goes before all. homes are where elizaOS plugins may keep files; nil
// gives them none, and signs nothing.
func Launch(node *bridge.Node, homes *Homes) actors.Launcher {
	return actors.Launchers(map[string]actors.Launcher{
		manifest.DialectAIRI: actors.CommandLauncher(node.Command),
		manifest.DialectPaperclip: actors.Runner{
			Command: workerCommand(node.Program),
			Wire:    process.Stdio,
			Env: func(m *manifest.Manifest) map[string]string {
				return paperclip.Environment(m.PluginName(), os.LookupEnv)
			},
		}.Launch,
		manifest.DialectEliza: elizaLauncher(node, homes),
	})
}

var errNoNode = errors.New("no Node.js on PATH: install version 20.6 or newer to run Paperclip workers")

// workerCommand runs a worker's file with a Node.js, "" being the one on PATH.
func workerCommand(program string) func(context.Context, string) ([]string, error) {
	return func(_ context.Context, file string) ([]string, error) {
		node, err := exec.LookPath(cmp.Or(program, "node"))
		if err != nil && program == "" {
			err = errNoNode
		}
		return []string{node, file}, err
	}
}
