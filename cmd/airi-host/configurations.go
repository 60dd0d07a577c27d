package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services/store"
)

// configurations are those of all plugins: what the store has, and else the settings.
type configurations struct {
	settings *settings
	configuration.Book
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
	return k.Start(m.PluginName(), k.company(m))
}

// company is whose configuration a plugin is started with.
func (k *configurations) company(m *manifest.Manifest) string {
	return cmp.Or(m.Host.Scope, k.settings.now().Scope)
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
	return configuration.New(configuration.Options{
		Host: h.Host, Store: revisions{db}, Book: &h.configs.Book, Manifest: h.roster.get, Company: h.configs.company,
	})
}
