package main

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
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/transport/process"
)

// paperclipDialect speaks with the workers of the plugins of the roster, each within
// what it was granted.
func (h *house) paperclipDialect(s *settings) protocol.Dialect {
	return paperclip.Dialect{Plugin: func(far protocol.Settings) paperclip.Plugin {
		m := h.roster.get(far.Plugin)
		if m == nil || m.Paperclip == nil {
			return paperclip.Plugin{}
		}
		return paperclip.Plugin{
			Grants:         s.grants(far.Plugin, m.Paperclip.Grants),
			Company:        cmp.Or(m.Host.Scope, s.Scope),
			Proactive:      func(company string) bool { return slices.Contains(s.Companies, company) },
			ValidateConfig: true,
			Handles:        func(method string) bool { return h.HandlesMethod(manifest.DialectPaperclip, method) },
		}
	}}
}

// paperclipServices are what its workers may ask of the host. What they are given as
// secrets is hidden, if hidden is not nil.
func paperclipServices(p protocol.Plugins, s *settings, limits services.HTTP, hidden *hush) map[string]protocol.Service {
	all := services.Paperclip(p, services.Options{Config: s.pluginConfig, Secrets: s.secrets(), HTTP: limits})
	if hidden != nil {
		all["secrets.resolve"] = hidden.listen(all["secrets.resolve"])
	}
	return all
}

// paperclipRunner runs workers as the ecosystem's own host does: Node.js, the file,
// and records on standard input and output.
func paperclipRunner() actors.Launcher {
	return actors.Runner{
		Command: workerCommand,
		Wire:    process.Stdio,
		Env: func(m *manifest.Manifest) map[string]string {
			return paperclip.Environment(m.PluginName(), os.LookupEnv)
		},
	}.Launch
}

var errNoNode = errors.New("no Node.js on PATH: install version 20 or newer to run Paperclip workers")

func workerCommand(_ context.Context, file string) ([]string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errNoNode
	}
	return []string{node, file}, nil
}
