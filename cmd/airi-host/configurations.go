package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services/store"
)

// configurations are those of all plugins: what the store has, and else the settings.
type configurations struct {
	settings *settings
	configuration.Book

	// running tells whether a plugin has a session that has not ended; nil where nobody asks.
	running func(plugin string) bool
	// begun holds the company, a string, that a plugin was started for last, by its name.
	begun sync.Map
}

// load reads what the store has.
func (k *configurations) load(ctx context.Context, db *store.DB) error {
	k.Defaults = func(plugin, company string) (json.RawMessage, bool) {
		now := k.settings.now()
		_, own := now.Plugins[plugin].Companies[company]
		return now.pluginConfig(plugin, company), own
	}
	if db == nil {
		return nil
	}
	all, err := db.Configurations(ctx)
	for _, one := range all {
		k.Put(configuration.Kept(one))
	}
	return err
}

// start says how a plugin is started: with its configuration, where there is one.
func (k *configurations) start(m *manifest.Manifest) actors.StartOptions {
	name, company := m.PluginName(), k.next(m)
	if !k.runs(name) { // else it is not started anew
		k.begun.Store(name, company)
	}
	return k.Start(name, company)
}

// company is whose configuration a plugin has: while it runs, of whom it began with.
func (k *configurations) company(m *manifest.Manifest) string {
	if company, ok := k.begun.Load(m.PluginName()); ok && k.runs(m.PluginName()) {
		return company.(string)
	}
	return k.next(m)
}

// next is whose configuration a plugin is started with.
func (k *configurations) next(m *manifest.Manifest) string {
	return cmp.Or(m.Host.Scope, k.settings.now().Scope)
}

func (k *configurations) runs(plugin string) bool { return k.running != nil && k.running(plugin) }

// leave forgets a plugin that is there no more.
func (k *configurations) leave(plugin string) { k.begun.Delete(plugin) }

// runs tells whether a plugin of the host's own has a session that has not ended.
func (h *house) runs(plugin string) bool {
	now, stands := h.standing(plugin)
	return stands && now.Phase != lifecycle.Stopped && now.Phase != lifecycle.Failed
}

// revisions keeps configurations in the store.
type revisions struct{ *store.DB }

func (r revisions) SetConfiguration(ctx context.Context, base int64, one configuration.Kept) (configuration.Kept, error) {
	kept, err := r.DB.SetConfiguration(ctx, base, store.Configuration(one))
	if _, ok := errors.AsType[*store.ConflictError](err); ok {
		err = &protocol.Error{Code: protocol.CodeConflict, Message: err.Error()}
	}
	return configuration.Kept(kept), err
}

func (r revisions) ConfigurationHistory(ctx context.Context, plugin, company string) (list []configuration.Kept, err error) {
	all, err := r.DB.ConfigurationHistory(ctx, plugin, company)
	for _, one := range all {
		list = append(list, configuration.Kept(one))
	}
	return list, err
}

// configurator changes the configurations of a host's plugins.
func (h *house) configurator(db *store.DB) *configuration.Configurator {
	h.configs.running = h.runs
	return configuration.New(configuration.Options{
		Host: h.Host, Store: revisions{db}, Book: &h.configs.Book, Manifest: h.manifestOf, Company: h.configs.company,
	})
}
