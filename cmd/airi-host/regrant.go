package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
)

// A connection of Paperclip's or elizaOS's has the grants that it began with. So that
// those in the settings hold at once, a plugin that runs with others begins anew.

// atBirth is what a plugin's last connection asked for, and was given.
type atBirth struct{ asked, given []string }

// begin is of, for a connection that begins with what it returns.
func (g *grants) begin(plugin string, asked []string) []string {
	given := g.of(plugin, asked)
	g.born.Store(plugin, atBirth{asked, given})
	return given
}

// outdated tells whether a connection would begin with other grants by now than the
// plugin's last one did, and whether it would have one that it had not.
func (g *grants) outdated(plugin string) (other, more bool) {
	born, ok := g.born.Load(plugin)
	if !ok {
		return false, false
	}
	had := born.(atBirth)
	now := g.of(plugin, had.asked)
	return !sameGrants(now, had.given), slices.ContainsFunc(now, func(grant string) bool { return !slices.Contains(had.given, grant) })
}

// granted are the grants of all plugins of the house.
func (r *reloader) granted() map[string]admin.Grants {
	all := map[string]admin.Grants{}
	for _, name := range r.h.roster.list() {
		all[name] = r.h.grants.told(name)
	}
	return all
}

// regrant has the plugins that run with other grants than they are given by now begin
// anew, and returns what came of that. What fails is tried again at the next reload.
func (r *reloader) regrant(ctx context.Context, before map[string]admin.Grants) map[string]admin.SettingChange {
	came := map[string]admin.SettingChange{}
	for _, name := range r.h.roster.list() {
		if m := r.h.roster.get(name); m != nil {
			r.tellRegranted(ctx, m, before[name])
		}
		done, err := r.h.regrant(ctx, name)
		switch {
		case err != nil:
			came[name] = admin.SettingChange{Effect: admin.SettingFailed, Message: fmt.Sprintf(
				"the plugin was to begin anew with them: %v: 'airi-host reload %s' tries it again", err, name)}
		case done:
			came[name] = admin.SettingChange{Effect: admin.SettingApplied, Message: "the plugin was reloaded"}
		}
	}
	return came
}

// tellRegranted tells of a plugin that has other grants than before.
func (r *reloader) tellRegranted(ctx context.Context, m *manifest.Manifest, before admin.Grants) {
	plugin := m.PluginName()
	// What the settings do not list any more is decided at first sight, if nobody has.
	news, tell := r.h.grants.see(ctx, m)
	now := r.h.grants.told(plugin)
	if !tell && sameGrants(before.Granted, now.Granted) {
		return
	}
	news.New = slices.DeleteFunc(slices.Clone(now.Granted), func(grant string) bool { return slices.Contains(before.Granted, grant) })
	r.h.TellGrants(news)
}

// regrant reloads a plugin that runs with other grants than it is given by now, or failed
// for want of one, perhaps. A manifest that is not good any more keeps nothing from being
// taken from it: then it begins by the one that it had.
func (h *house) regrant(ctx context.Context, plugin string) (done bool, err error) {
	if other, _ := h.grants.outdated(plugin); !other {
		return false, nil
	}
	release, err := h.roster.hold(ctx, plugin)
	if err != nil {
		return false, err
	}
	defer release()
	other, more := h.grants.outdated(plugin) // it may have begun anew meanwhile
	now, ok := h.standing(plugin)
	m := h.roster.get(plugin)
	if !other || !ok || m == nil || now.Phase == lifecycle.Failed && !more {
		return false, nil
	}
	if fresh, err := h.roster.reread(plugin); err == nil {
		m = fresh
	} else {
		h.log.Warn("a plugin whose grants have changed begins anew by the manifest that it had", "plugin", plugin, "error", err)
	}
	_, err = h.again(ctx, m, now.ID)
	return err == nil, err
}

// standing is the session of a plugin of the host's own, if it has one. A guest may have its
// name until it is started.
func (h *house) standing(plugin string) (actors.SessionInfo, bool) {
	one, err := h.Inspect(plugin)
	return one.SessionInfo, err == nil && one.Plugin == plugin && one.Instance == ""
}
