package main

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// paperclip are the services that its workers may ask of the host. Some hold to
// settings that may change, and give their place to others then.
type paperclip struct {
	st         *state
	manifestOf func(plugin string) *manifest.Manifest
	// hidden learns the secrets that are given out; nil where nothing is hidden.
	hidden *hush
	// telemetry takes what they tell; nil for nobody.
	telemetry services.Telemetry

	plugins protocol.Plugins
	metrics *services.Metrics
	placed  map[string]*placed
}

// placed is a service whose place another one may take.
type placed struct {
	atomic.Pointer[protocol.Service]
}

// Serve implements protocol.Service.
func (p *placed) Serve(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	return (*p.Load()).Serve(ctx, c)
}

// changeable are the services that hold to settings, by how their methods begin.
var changeable = []struct {
	methods string
	of      func(*manifest.Settings) []any
}{
	{"http.fetch", func(s *manifest.Settings) []any { return []any{s.HTTP} }},
	{"secrets.resolve", func(s *manifest.Settings) []any { return []any{s.Secrets, s.Services.Secrets} }},
	{"activity.log", func(s *manifest.Settings) []any { return []any{s.Services.Activities} }},
	{"localFolders.", func(s *manifest.Settings) []any {
		folders := map[string]map[string]manifest.Folder{}
		for name, plugin := range s.Plugins {
			if len(plugin.Folders) > 0 {
				folders[name] = plugin.Folders
			}
		}
		return []any{s.Folders, folders}
	}},
}

// services are all of them; it is called once.
func (p *paperclip) services(plugins protocol.Plugins, s *settings) map[string]protocol.Service {
	p.plugins, p.metrics, p.placed = plugins, services.NewMetrics(s.Services.Series), map[string]*placed{}
	all := services.Paperclip(plugins, p.options(s))
	for method, service := range all {
		for _, one := range changeable {
			if strings.HasPrefix(method, one.methods) {
				p.placed[method] = &placed{}
				p.placed[method].Store(&service)
				all[method] = p.placed[method]
			}
		}
	}
	if p.hidden != nil {
		all["secrets.resolve"] = p.hidden.listen(all["secrets.resolve"])
	}
	return all
}

// change has the services hold to other settings, those that are concerned: what one
// counts of each plugin begins anew, and its calls in flight end as they began.
func (p *paperclip) change(old, next *settings) {
	all := services.Paperclip(p.plugins, p.options(next))
	for _, one := range changeable {
		if reflect.DeepEqual(one.of(&old.Settings), one.of(&next.Settings)) {
			continue
		}
		for method, place := range p.placed {
			if service := all[method]; strings.HasPrefix(method, one.methods) {
				place.Store(&service)
			}
		}
	}
}

// options say what they work on.
func (p *paperclip) options(s *settings) services.Options {
	o := services.Options{
		Config: p.st.configs.Value, Store: stateIn(p.st.db, s.memory()), Metrics: p.metrics,
		Secrets: s.secrets(), HTTP: s.http(), Folders: s.folders(p.manifestOf), Activities: s.Services.Activities,
		Telemetry: p.telemetry,
		Eliza: services.Eliza{
			ProviderTimeout: s.Services.ProviderTimeout, Composing: s.Services.States,
			StateTimeout: s.Services.StateTimeout, StateBytes: s.Services.StateBytes,
		},
	}
	if p.st.db != nil {
		o.Entities, o.Auditor = p.st.db, p.st.db
	}
	return o
}
