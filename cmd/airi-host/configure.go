package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services/store"
)

// registrar looks at plugins' configurations and changes them.
type registrar struct {
	*house
	db *store.DB
	// turn is held by who changes one: it may take as long as the plugin does.
	turn chan struct{}
}

func newRegistrar(h *house, db *store.DB) *registrar {
	return &registrar{h, db, make(chan struct{}, 1)}
}

// Configuration implements admin.Configurations.
func (r *registrar) Configuration(_ context.Context, plugin, company string) (admin.Configuration, error) {
	if one, ok := r.configs.inForce(plugin, company); ok {
		told := toldOf(one)
		told.Company, told.Revision = company, r.configs.get(plugin, company).Revision
		return told, nil
	}
	told := admin.Configuration{Plugin: plugin, Company: company, Source: "settings", Value: r.configs.settings.pluginConfig(plugin, company)}
	if told.Value == nil {
		told.Source, told.Value = "none", json.RawMessage("{}")
	}
	return told, nil
}

// ConfigurationHistory implements admin.Configurations.
func (r *registrar) ConfigurationHistory(ctx context.Context, plugin, company string) (list []admin.Configuration, err error) {
	all, err := r.db.ConfigurationHistory(ctx, plugin, company)
	for _, one := range all {
		list = append(list, toldOf(one))
	}
	return list, err
}

func toldOf(one store.Configuration) admin.Configuration {
	return admin.Configuration{
		Plugin: one.Plugin, Company: one.Company, Revision: one.Revision, Source: "stored", Value: one.Value, At: one.At,
	}
}

// Configure implements admin.Configurations.
func (r *registrar) Configure(ctx context.Context, plugin string, change admin.ConfigurationChange) (admin.Configuration, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return admin.Configuration{}, context.Cause(ctx)
	}
	m, old := r.roster.get(plugin), r.configs.get(plugin, change.Company)
	next, err := r.next(old, change)
	if err == nil {
		err = checkConfiguration(m, next.Value)
	}
	if err != nil {
		return admin.Configuration{}, err
	}
	kept, err := r.replace(ctx, m, old, next)
	return toldOf(kept), err
}

// next is what a change comes to.
func (r *registrar) next(old store.Configuration, change admin.ConfigurationChange) (store.Configuration, error) {
	next := old
	if change.Base != nil && *change.Base != old.Revision {
		return next, conflict(&store.ConflictError{Plugin: old.Plugin, Company: old.Company, Base: *change.Base, Revision: old.Revision})
	}
	next.Value = change.Value
	if change.Patch {
		next.Value = mergePatch(r.configs.pluginConfig(old.Plugin, old.Company), change.Value)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(next.Value, &object); err != nil || object == nil {
		return next, &protocol.Error{Code: protocol.CodeInvalid, Plugin: old.Plugin, Message: "expected a JSON object, the configuration of plugin " + old.Plugin}
	}
	next.Revision, next.SchemaVersion = old.Revision+1, 1
	return next, nil
}

func conflict(err error) error {
	if _, ok := errors.AsType[*store.ConflictError](err); ok {
		return &protocol.Error{Code: admin.CodeConflict, Message: err.Error()}
	}
	return err
}

// checkConfiguration holds a configuration to the schemas of a manifest before its plugin
// is bothered.
func checkConfiguration(m *manifest.Manifest, value json.RawMessage) error {
	if err := m.CheckConfiguration(value); err != nil {
		return &protocol.Error{Code: protocol.CodeConfiguration, Plugin: m.PluginName(), Message: err.Error()}
	}
	return nil
}

// replace has the plugin take the next configuration, and keeps it. Where either fails,
// the old one is in force as before. While it is tried the plugin is answered with it.
func (r *registrar) replace(ctx context.Context, m *manifest.Manifest, old, next store.Configuration) (store.Configuration, error) {
	before, was := r.configs.start(m), r.newest(m.PluginName())
	r.configs.put(next)
	one, _ := r.configs.inForce(next.Plugin, r.configs.company(m))
	concerned := one.Company == next.Company // else it is for others, whom the plugin asks about
	var err error
	if concerned {
		err = r.offer(ctx, m, was, r.configs.start(m))
	}
	kept := next
	if err == nil {
		kept, err = r.db.SetConfiguration(ctx, old.Revision, next)
		err = conflict(err)
	}
	if err == nil {
		r.configs.put(kept)
		return kept, nil
	}
	r.configs.put(old)
	if concerned {
		err = errors.Join(err, r.giveBack(m, was, before))
	}
	return old, err
}

// newest is a plugin's newest session; it has no ID if there is none.
func (h *house) newest(plugin string) (newest actors.SessionInfo) {
	for _, one := range h.Sessions() { // the oldest first
		if one.Plugin == plugin {
			newest = one
		}
	}
	return newest
}

// offer asks a plugin to take a configuration. That it does not is an error, in its own
// words.
func (h *house) offer(ctx context.Context, m *manifest.Manifest, now actors.SessionInfo, o actors.StartOptions) (err error) {
	name := m.PluginName()
	switch now.Phase {
	case lifecycle.Ready, lifecycle.Degraded:
		if _, err := h.MarkConfigurationNeeded(ctx, now.ID, "its configuration is being changed"); err != nil {
			return err
		}
		now, err = h.ApplyConfiguration(ctx, now.ID, *o.Config)
	case lifecycle.ConfigurationNeeded:
		now, err = h.ApplyConfiguration(ctx, now.ID, *o.Config)
	case lifecycle.Failed:
		now, err = h.Start(ctx, m, o)
	case "", lifecycle.Stopped:
		return &protocol.Error{Code: protocol.CodeNotReady, Plugin: name, Message: fmt.Sprintf(
			"plugin %s is stopped, and is to say whether it takes its configuration: start it first", name)}
	default:
		return &protocol.Error{Code: protocol.CodeNotReady, Plugin: name, Message: fmt.Sprintf(
			"plugin %s is %s: change its configuration when it is ready", name, now.Phase)}
	}
	if err != nil || up(now.Phase) {
		return err
	}
	return &protocol.Error{Code: protocol.CodeConfiguration, Plugin: name, Message: sentence(
		"plugin "+name+" has not taken the configuration, and is "+string(now.Phase), now.Reason)}
}

func up(phase lifecycle.State) bool { return phase == lifecycle.Ready || phase == lifecycle.Degraded }

// giveBackTime is how long a plugin may take to be again what it was.
const giveBackTime = time.Minute

// giveBack makes a plugin that was up what it was before it was offered another
// configuration, also when nobody waits for that any more.
func (h *house) giveBack(m *manifest.Manifest, was actors.SessionInfo, before actors.StartOptions) error {
	now := h.newest(m.PluginName())
	if !up(was.Phase) {
		return nil
	}
	if before.Config == nil {
		before.Config = &protocol.Config{ID: m.PluginName() + ":default", Revision: 1, SchemaVersion: 1, Full: json.RawMessage("{}")}
	}
	ctx, cancel := context.WithTimeout(context.Background(), giveBackTime)
	defer cancel()
	if err := h.offer(ctx, m, now, before); err != nil {
		return fmt.Errorf("its former configuration could not be given back: %w", err)
	}
	return nil
}

// mergePatch applies a JSON merge patch (RFC 7396). What is no object is replaced.
func mergePatch(target, patch json.RawMessage) json.RawMessage {
	var changes, members map[string]json.RawMessage
	if json.Unmarshal(patch, &changes) != nil || changes == nil {
		return patch
	}
	if json.Unmarshal(target, &members) != nil || members == nil {
		members = map[string]json.RawMessage{}
	}
	for name, change := range changes {
		if string(change) == "null" {
			delete(members, name)
			continue
		}
		members[name] = mergePatch(members[name], change)
	}
	merged, _ := json.Marshal(members) // of JSON values
	return merged
}
