package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
)

// roster has the manifests of the plugins that a host runs, by the plugins' names. One
// is read anew when its plugin is started or reloaded by hand. Any goroutine may use it.
type roster struct {
	names []string
	opts  manifest.Options
	// saw is told of each manifest that was read anew; nil for nobody.
	saw func(*manifest.Manifest)

	mu     sync.Mutex
	byName map[string]*manifest.Manifest
}

func newRoster(list []*manifest.Manifest, opts manifest.Options) *roster {
	r := &roster{opts: opts, byName: make(map[string]*manifest.Manifest, len(list))}
	for _, m := range list {
		r.names = append(r.names, m.PluginName())
		r.byName[m.PluginName()] = m
	}
	return r
}

// get returns a plugin's manifest, or nil.
func (r *roster) get(plugin string) *manifest.Manifest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[plugin]
}

// reread reads a plugin's manifest anew. One that is not good any more, or has become
// another plugin's, is an error that says all that is wrong, and changes nothing.
func (r *roster) reread(plugin string) (*manifest.Manifest, error) {
	old := r.get(plugin)
	if old == nil {
		return nil, fmt.Errorf("plugin %s is none of those that this host was told to run", plugin)
	}
	found := manifest.Discover([]string{old.File}, r.opts)
	if err := found.Problems.Err(); err != nil {
		return nil, fmt.Errorf("plugin %s was left as it is, its manifest has problems: %w", plugin, err)
	}
	if len(found.Manifests) != 1 || found.Manifests[0].PluginName() != plugin {
		return nil, fmt.Errorf("plugin %s was left as it is: %s is not its manifest any more", plugin, old.File)
	}
	r.mu.Lock()
	r.byName[plugin] = found.Manifests[0]
	r.mu.Unlock()
	if r.saw != nil {
		r.saw(found.Manifests[0])
	}
	return found.Manifests[0], nil
}

// start starts a plugin that is stopped.
func (h *house) start(ctx context.Context, plugin string) (actors.SessionInfo, error) {
	m, err := h.roster.reread(plugin)
	if err != nil {
		return actors.SessionInfo{}, err
	}
	return h.Start(ctx, m, h.configs.start(m))
}

// reload stops a plugin and starts it anew, if its manifest is still good.
func (h *house) reload(ctx context.Context, plugin, session string) (actors.SessionInfo, error) {
	m, err := h.roster.reread(plugin)
	if err != nil {
		return actors.SessionInfo{}, err
	}
	if info, err := h.Stop(ctx, session); err != nil {
		return info, err
	}
	return h.Start(ctx, m, h.configs.start(m))
}
