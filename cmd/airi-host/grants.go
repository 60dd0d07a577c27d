package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/audit"
	"github.com/airi-host/airi-host/services/store"
)

// grants are what the plugins of a host are permitted: what the settings list, else what
// the store has. A plugin that is seen for the first time is granted what it asks for, or
// nothing, as the settings have it; one that asks for more later goes on with what it has,
// and the rest waits to be approved. Without a store everything that is asked is granted,
// and nothing kept. Any goroutine may use it.
type grants struct {
	settings *settings
	db       *store.DB
	trail    *audit.Trail
	log      *slog.Logger

	// owns tells the host's own plugins from guests; nil where there are none of these.
	owns func(plugin string) bool

	// known holds a *granted by plugin, which is replaced and never changed.
	known sync.Map
	// born holds an atBirth by plugin.
	born sync.Map
	// writing is held while the store and known change.
	writing sync.Mutex
}

// granted is what is decided about one plugin.
type granted struct {
	// asked is what its newest manifest asks for.
	asked []string
	// given and refused are what the store has, if decided.
	given, refused []string
	decided        bool
}

// keepTime is how long it may take to keep what was granted at first sight.
const keepTime = 10 * time.Second

// load reads what was decided.
func (g *grants) load(ctx context.Context, db *store.DB) error {
	all, err := db.Plugins(ctx)
	for _, one := range all {
		if one.Granted {
			g.known.Store(one.Name, &granted{given: one.Grants, refused: one.Refused, decided: true})
		}
	}
	g.db = db
	return err
}

// forget has a plugin seen for the first time when it is started next; what is stored of it
// is gone.
func (g *grants) forget(plugin string) {
	g.writing.Lock()
	defer g.writing.Unlock()
	g.known.Delete(plugin)
	g.born.Delete(plugin)
}

func (g *grants) get(plugin string) granted {
	if one, ok := g.known.Load(plugin); ok {
		return *one.(*granted)
	}
	return granted{}
}

// listed returns the grants that the settings list for a plugin.
func (g *grants) listed(plugin string) (list []string, ok bool) {
	list = g.settings.now().Plugins[plugin].Grants
	return list, list != nil
}

// see looks at what a manifest asks for, before its plugin is started, and decides at first
// sight. It returns what is to be told of that, if anything is.
func (g *grants) see(ctx context.Context, m *manifest.Manifest) (news actors.Granted, tell bool) {
	g.writing.Lock()
	defer g.writing.Unlock()
	news, tell, first := g.look(m)
	if first {
		g.keepFirst(ctx, m.PluginName())
	}
	return news, tell
}

// maxKeeping is how many decisions are on their way to the store at a time.
const maxKeeping = 64

// seeAll looks at the manifests of a host that begins, and returns what is to be told.
// Decisions are kept side by side, so that the store writes many of them at once.
func (g *grants) seeAll(ctx context.Context, list []*manifest.Manifest) (all []actors.Granted) {
	g.writing.Lock()
	defer g.writing.Unlock()
	var keeping sync.WaitGroup
	room := make(chan struct{}, maxKeeping)
	for _, m := range list {
		news, tell, first := g.look(m)
		if tell {
			all = append(all, news)
		}
		if first {
			room <- struct{}{}
			keeping.Go(func() {
				g.keepFirst(ctx, m.PluginName())
				<-room
			})
		}
	}
	keeping.Wait()
	return all
}

// look decides at first sight, which is to be kept then. Writing is held.
func (g *grants) look(m *manifest.Manifest) (news actors.Granted, tell, first bool) {
	plugin := m.PluginName()
	one := g.get(plugin)
	one.asked = m.Grants()
	_, listed := g.listed(plugin)
	if first = !one.decided && !listed && g.db != nil; first {
		one.decided = true
		if !g.settings.now().Grants.Ask {
			one.given = one.asked
		}
	}
	g.known.Store(plugin, &one)
	told := g.told(plugin)
	news = actors.Granted{Origin: actors.Origin{Plugin: plugin}, Grants: told.Granted, Waiting: told.Waiting}
	if first {
		news.New = told.Granted
	}
	// That an AIRI module may call everything, since it lists nothing, is no news.
	tell = len(told.Waiting) > 0 || len(news.New) > 0 && !slices.Equal(news.New, []string{manifest.InvokePrefix + "*"})
	if first && tell {
		g.note(plugin, "grants.first-sight", sentence("seen for the first time", grantsText(news)))
	}
	return news, tell, first
}

// keepFirst keeps what was decided at first sight. Where that fails it holds for this host,
// and the next one decides again.
func (g *grants) keepFirst(ctx context.Context, plugin string) {
	one := g.get(plugin)
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	if err := g.db.SetGrants(ctx, plugin, one.given, one.refused); err != nil {
		g.log.Warn("what a plugin was granted at first sight is not kept", "plugin", plugin, "error", err)
	}
}

// told is what is known of a plugin's grants.
func (g *grants) told(plugin string) admin.Grants {
	one := g.get(plugin)
	told := admin.Grants{Plugin: plugin, Source: "stored", Asked: append([]string{}, one.asked...), Granted: []string{}}
	given, listed := g.listed(plugin)
	switch {
	case g.isGuest(plugin):
		return g.toldGuest(plugin)
	case listed:
		told.Source = "settings"
	case g.db == nil:
		told.Source, given = "none", one.asked
	default:
		given = one.given
	}
	for _, grant := range one.asked {
		switch {
		case covered(grant, given):
			told.Granted = append(told.Granted, grant)
		case listed || covered(grant, one.refused):
			told.Refused = append(told.Refused, grant)
		default:
			told.Waiting = append(told.Waiting, grant)
		}
	}
	return told
}

func covered(grant string, by []string) bool {
	return slices.ContainsFunc(by, func(one string) bool { return manifest.Covers(one, grant) })
}

// of returns which of the grants that a plugin asks for it is given, for
// ecosystems.Policy.Grants.
func (g *grants) of(plugin string, asked []string) []string {
	if _, listed := g.listed(plugin); listed {
		return g.settings.now().grants(plugin, asked)
	}
	if g.db == nil {
		return asked
	}
	given := g.get(plugin).given
	return slices.DeleteFunc(slices.Clone(asked), func(grant string) bool { return !covered(grant, given) })
}

// mayInvoke tells whether a plugin was granted a call of another one's capability, for
// actors.Options.MayInvoke.
func (g *grants) mayInvoke(plugin string, key capability.Key) bool {
	given, listed := g.listed(plugin)
	switch {
	case listed:
	case g.isGuest(plugin):
		return g.mayGuestInvoke(plugin, manifest.InvokePrefix+string(key))
	case g.db == nil:
		return true
	default:
		given = g.get(plugin).given
	}
	return covered(manifest.InvokePrefix+string(key), given)
}

// decide approves what waits, or refuses it. fresh are the grants that the plugin has now
// and had not before.
func (g *grants) decide(ctx context.Context, plugin string, d admin.GrantDecision) (fresh []string, err error) {
	g.writing.Lock()
	defer g.writing.Unlock()
	now, one := g.told(plugin), g.get(plugin)
	open := slices.Concat(now.Waiting, now.Refused)
	if d.Deny {
		open = now.Waiting
	}
	switch {
	case now.Source == "settings":
		return nil, &protocol.Error{Code: protocol.CodeInvalid, Plugin: plugin, Message: fmt.Sprintf(
			"the grants of plugin %s stand in the settings: change plugins.%s.grants there", plugin, plugin)}
	case g.db == nil:
		return nil, &protocol.Error{Code: protocol.CodeInvalid, Plugin: plugin, Message: fmt.Sprintf(
			"plugin %s has all that it asks for: this host keeps nothing", plugin)}
	case d.Seen != nil && !sameGrants(d.Seen, open):
		return nil, &protocol.Error{Code: protocol.CodeConflict, Message: fmt.Sprintf(
			"plugin %s asks for other grants meanwhile: look again with 'airi-host approve %s --show'", plugin, plugin)}
	case len(open) == 0:
		return nil, nil
	case d.Deny:
		one.refused = slices.Concat(one.refused, open)
	default:
		one.given, fresh = slices.Concat(one.given, open), open
		one.refused = slices.DeleteFunc(slices.Clone(one.refused), func(grant string) bool { return slices.Contains(open, grant) })
	}
	if err := g.db.SetGrants(ctx, plugin, one.given, one.refused); err != nil {
		return nil, err
	}
	g.known.Store(plugin, &one)
	if d.Deny {
		g.note(plugin, "grants.refused", "refused by hand: "+strings.Join(open, ", "))
	} else {
		g.note(plugin, "grants.approved", "approved by hand: "+strings.Join(open, ", "))
	}
	return fresh, nil
}

func sameGrants(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func (g *grants) note(plugin, action, message string) {
	g.trail.Add(services.Record{Plugin: plugin, Action: action, Message: message})
}

// sees is how a house looks at a manifest that was read anew.
func (h *house) sees(st *state) func(*manifest.Manifest) {
	return func(m *manifest.Manifest) {
		if news, tell := st.grants.see(context.Background(), m); tell {
			h.TellGrants(news)
		}
	}
}

// tellGrants tells what was decided before anybody listened.
func (h *house) tellGrants() {
	for _, one := range h.granted {
		h.TellGrants(one)
	}
}

// grantsText is what is said of grants.
func grantsText(e actors.Granted) string {
	var words []string
	switch {
	case len(e.New) > 0:
		words = append(words, "is granted what it asks for: "+strings.Join(e.New, ", "))
	case len(e.Grants) > 0 && len(e.Waiting) == 0:
		words = append(words, "has the grants "+strings.Join(e.Grants, ", "))
	}
	if len(e.Waiting) > 0 {
		words = append(words, awaitsApproval(e.Plugin, e.Waiting))
	}
	if words == nil {
		return "has no grants"
	}
	return strings.Join(words, "; ")
}

// awaitsApproval says what waits, and how to decide; "" where nothing waits.
func awaitsApproval(plugin string, waiting []string) string {
	if len(waiting) == 0 {
		return ""
	}
	return note("waits for approval of "+strings.Join(waiting, ", "), "'airi-host approve "+plugin+"'")
}

// approvals decide on the grants of a running host's plugins, as admin.Granting.
type approvals struct {
	*house
	grants *grants
}

var _ admin.Granting = approvals{}

// Grants implements admin.Granting.
func (a approvals) Grants(plugin string) admin.Grants { return a.grants.told(plugin) }

// Decide implements admin.Granting. A plugin that has grants now of which its connection
// is told when it begins is reloaded; what it may call of others it may call at once.
func (a approvals) Decide(ctx context.Context, plugin string, d admin.GrantDecision) (admin.Grants, error) {
	fresh, err := a.grants.decide(ctx, plugin, d)
	if err != nil {
		return admin.Grants{}, err
	}
	now := a.grants.told(plugin)
	a.TellGrants(actors.Granted{Origin: actors.Origin{Plugin: plugin}, Grants: now.Granted, New: fresh, Waiting: now.Waiting})
	_, stands := a.standing(plugin)
	if !stands || !slices.ContainsFunc(fresh, func(grant string) bool { return !strings.HasPrefix(grant, manifest.InvokePrefix) }) {
		return now, nil
	}
	if _, err := a.reload(ctx, plugin); err != nil {
		return admin.Grants{}, fmt.Errorf("plugin %s has the grants now, and was not reloaded: %w", plugin, err)
	}
	return now, nil
}

// waiting are the grants that a plugin waits for.
func (g *grants) waiting(plugin string) []string { return g.told(plugin).Waiting }

// unapproved says of a list of plugins which wait for grants, and how to decide.
func (h *house) unapproved(list []*manifest.Manifest) (all []string) {
	for _, m := range list {
		plugin := m.PluginName()
		if waiting := h.grants.waiting(plugin); len(waiting) > 0 {
			all = append(all, cut(plugin+": "+strings.Join(waiting, ", ")+": airi-host approve "+plugin, longestCure))
		}
	}
	return all
}
