package main

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services/store"
)

// configurations are those of all plugins: what the store has, and else the settings. For
// a company, what is its own goes before what is for all. Any goroutine may use it.
type configurations struct {
	settings *settings

	mu     sync.Mutex
	stored map[configured]store.Configuration
}

// configured is whom a configuration is for.
type configured struct{ plugin, company string }

// load reads what the store has.
func (k *configurations) load(ctx context.Context, db *store.DB) error {
	all, err := db.Configurations(ctx)
	for _, one := range all {
		k.put(one)
	}
	return err
}

// put puts one in force; one without a revision takes it out of force.
func (k *configurations) put(one store.Configuration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stored == nil {
		k.stored = map[configured]store.Configuration{}
	}
	who := configured{one.Plugin, one.Company}
	if one.Revision == 0 {
		delete(k.stored, who)
		return
	}
	k.stored[who] = one
}

// get returns what is stored for exactly this company; its Revision is 0 if nothing is.
func (k *configurations) get(plugin, company string) store.Configuration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if one, ok := k.stored[configured{plugin, company}]; ok {
		return one
	}
	return store.Configuration{Plugin: plugin, Company: company}
}

// inForce returns the stored one that a plugin has for a company, if it is not that of
// the settings.
func (k *configurations) inForce(plugin, company string) (one store.Configuration, ok bool) {
	if one = k.get(plugin, company); one.Revision > 0 {
		return one, true
	}
	if _, own := k.settings.Plugins[plugin].Companies[company]; own {
		return one, false
	}
	one = k.get(plugin, "")
	return one, one.Revision > 0
}

// pluginConfig returns a plugin's configuration for a company, "" being none; nil where
// there is none.
func (k *configurations) pluginConfig(plugin, company string) json.RawMessage {
	if one, ok := k.inForce(plugin, company); ok {
		return one.Value
	}
	return k.settings.pluginConfig(plugin, company)
}

// start says how a plugin is started: with its configuration, where there is one.
func (k *configurations) start(m *manifest.Manifest) actors.StartOptions {
	one, ok := k.inForce(m.PluginName(), k.company(m))
	if !ok {
		return k.settings.start(m)
	}
	return actors.StartOptions{Config: &protocol.Config{
		ID: one.Plugin + ":stored", Revision: one.Revision, SchemaVersion: one.SchemaVersion, Source: "stored", Full: one.Value,
	}}
}

// company is whose configuration a plugin is started with.
func (k *configurations) company(m *manifest.Manifest) string {
	return cmp.Or(m.Host.Scope, k.settings.Scope)
}
