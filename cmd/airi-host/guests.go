package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// Guests are the plugins of AIRI's peers on websockets. They have no manifest: what they may
// call is said by the settings, or by what was approved by hand.

// guestDialect is that of guests, for who logs frames.
const guestDialect = "guest"

// speaks is the dialect of a plugin.
func (h *house) speaks(plugin string) string {
	if h.roster.get(plugin) == nil {
		return guestDialect
	}
	return h.roster.dialect(plugin)
}

// prepare lays down what the host has for a guest: the configuration that is kept for its
// name, and what it may call. A guest under the name of one of the host's own plugins is
// refused, whether that runs or not: it would be given what is that one's.
func (h *house) prepare(g *actors.Guest) error {
	name := g.Manifest.PluginName()
	if h.roster.get(name) != nil {
		return &protocol.Error{Code: protocol.CodeInvalid, Plugin: name, Message: fmt.Sprintf(
			"plugin %s is one of the host's own: a peer needs another name", name)}
	}
	g.Manifest.Host.Invoke = []string{"*"} // grants.mayInvoke decides, by what is in force at the call
	g.Start = h.configs.Start(name, h.configs.next(g.Manifest))
	if g.Start.Config != nil {
		h.hide(name, g.Start.Config.Full)
	}
	if waiting := h.grants.waiting(name); len(waiting) > 0 {
		h.TellGrants(actors.Granted{Origin: actors.Origin{Plugin: name}, Waiting: waiting})
	}
	return nil
}

// keeps has what guests are configured with by peers kept as what is set by hand; nil where
// nothing is kept. There is room for so many.
func (h *house) keeps(configs *configuration.Configurator) func(context.Context, string, protocol.Config) error {
	if configs == nil {
		return nil
	}
	room := &guestConfigs{bounds: h.configs.settings.guestConfigs(), book: &h.configs.Book, owns: h.owns, coming: map[string]int{}}
	return func(ctx context.Context, plugin string, taken protocol.Config) error {
		leave, err := room.enter(plugin, len(taken.Full))
		if err != nil {
			return err
		}
		defer leave()
		h.hide(plugin, taken.Full)
		return configs.Adopt(ctx, plugin, taken)
	}
}

// hide has a plugin's configuration hidden from what is logged.
func (h *house) hide(plugin string, config json.RawMessage) {
	switch hidden := h.paperclip.hidden; {
	case hidden == nil:
	case h.owns(plugin):
		hidden.config(config)
	default:
		hidden.peerConfig(config)
	}
}

// manifestOf is a plugin's manifest; a guest that is there has one without anything in it.
func (h *house) manifestOf(plugin string) *manifest.Manifest {
	if m := h.roster.get(plugin); m != nil {
		return m
	}
	if len(h.instances(plugin)) > 0 {
		return guestCalled(plugin)
	}
	return nil
}

func guestCalled(plugin string) *manifest.Manifest {
	return &manifest.Manifest{Dialect: manifest.DialectAIRI, Name: plugin}
}

// instances are the sessions of a guest, the oldest first.
func (h *house) instances(plugin string) []actors.SessionInfo {
	return slices.DeleteFunc(h.Sessions(), func(one actors.SessionInfo) bool { return one.Plugin != plugin || one.Instance == "" })
}

// forAll gives a configuration that is changed by hand to all instances of a guest: the
// newest one has had it before it is kept.
type forAll struct {
	*configuration.Configurator
	house *house
}

// Commit implements admin.Configurations.
func (f forAll) Commit(ctx context.Context, plugin string, change configuration.Change) (configuration.Configuration, error) {
	kept, err := f.Configurator.Commit(ctx, plugin, change)
	if err == nil {
		kept.Warnings = append(kept.Warnings, f.house.spread(ctx, plugin)...)
	}
	return kept, err
}

// spread gives a guest's configuration in force to its elder instances, and tells which of
// them has not taken it. Of the host's own plugins there are none.
func (h *house) spread(ctx context.Context, plugin string) (warnings []string) {
	instances := h.instances(plugin)
	if len(instances) < 2 {
		return nil
	}
	config := h.configs.Start(plugin, h.configs.settings.now().Scope).Config
	if config == nil {
		config = &protocol.Config{ID: plugin + ":default", Revision: 1, SchemaVersion: 1, Full: json.RawMessage("{}")}
	}
	for _, one := range instances[:len(instances)-1] {
		if !takesConfiguration(one.Phase) {
			continue // it was given it when it joined, or is when it asks
		}
		if _, err := h.CommitConfiguration(ctx, one.ID, *config); err != nil {
			warnings = append(warnings, fmt.Sprintf("instance %s has not taken it: %v", one.Instance, err))
		}
	}
	return warnings
}

// present are the names of the host's own plugins, and of guests that are there.
func (h *house) present() []string {
	names, seen := h.roster.list(), map[string]bool{}
	for _, one := range h.Sessions() {
		if one.Instance != "" && !seen[one.Plugin] {
			seen[one.Plugin] = true
			names = append(names, one.Plugin)
		}
	}
	return names
}

func takesConfiguration(phase lifecycle.State) bool {
	return phase == lifecycle.Ready || phase == lifecycle.Degraded || phase == lifecycle.ConfigurationNeeded
}

// isGuest tells whether a plugin is none of the host's own.
func (g *grants) isGuest(plugin string) bool { return g.owns != nil && !g.owns(plugin) }

// guestInvokes are the grants that the settings give to all guests.
func (g *grants) guestInvokes() []string {
	patterns := g.settings.now().Websocket.Invoke
	if patterns == nil {
		patterns = []string{"*"}
	}
	all := make([]string, len(patterns))
	for i, one := range patterns {
		all[i] = manifest.InvokePrefix + one
	}
	return all
}

// isDecided tells whether a guest has what was approved by hand, and no more.
func (g *grants) isDecided(one granted) bool {
	return one.decided || g.db != nil && g.settings.now().Grants.Ask
}

// mayGuestInvoke tells whether a guest that stands in no settings has a grant.
func (g *grants) mayGuestInvoke(plugin, grant string) bool {
	one := g.get(plugin)
	return covered(grant, g.guestInvokes()) && (!g.isDecided(one) || covered(grant, one.given))
}

// toldGuest is what is known of a guest's grants. It asks for nothing itself: it has what
// stands under its name in the settings, else what was approved by hand, else what all
// guests have, unless that is to be asked for.
func (g *grants) toldGuest(plugin string) admin.Grants {
	told := admin.Grants{Plugin: plugin, Source: "settings", Granted: []string{}}
	if listed, ok := g.listed(plugin); ok {
		told.Granted = append(told.Granted, slices.DeleteFunc(slices.Clone(listed), func(grant string) bool {
			return !strings.HasPrefix(grant, manifest.InvokePrefix)
		})...)
		told.Asked = told.Granted
		return told
	}
	one := g.get(plugin)
	told.Asked = g.guestInvokes()
	if !g.isDecided(one) {
		told.Granted = told.Asked
		return told
	}
	told.Source = "stored"
	for _, grant := range told.Asked {
		switch {
		case covered(grant, one.given):
			told.Granted = append(told.Granted, grant)
		case covered(grant, one.refused):
			told.Refused = append(told.Refused, grant)
		default:
			told.Waiting = append(told.Waiting, grant)
		}
	}
	return told
}
