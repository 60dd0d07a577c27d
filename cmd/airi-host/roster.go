package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// roster has the manifests of the plugins that a host runs, by the plugins' names. One
// is read anew when its plugin is started or reloaded by hand. Any goroutine may use it.
type roster struct {
	opts manifest.Options
	// saw is told of each manifest by which a plugin is started anew; nil for nobody.
	saw func(*manifest.Manifest)

	mu     sync.Mutex
	names  []string // in the order in which they came
	byName map[string]*manifest.Manifest
	// turns are held by who starts or reloads a plugin, by its name, and are there as long as
	// somebody holds one or waits for it.
	turns map[string]*turn
}

// turn is had by one at a time.
type turn struct {
	had chan struct{}
	// users hold it or wait for it; the roster's lock guards their number.
	users int
}

func newRoster(list []*manifest.Manifest, opts manifest.Options) *roster {
	r := &roster{opts: opts, byName: make(map[string]*manifest.Manifest, len(list)), turns: map[string]*turn{}}
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

// dialect is that of a plugin's manifest, or "".
func (r *roster) dialect(plugin string) string {
	if m := r.get(plugin); m != nil {
		return m.Dialect
	}
	return ""
}

// list returns the plugins' names.
func (r *roster) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.names)
}

// put takes a manifest in, in the place of its plugin's, if the plugin is there.
func (r *roster) put(m *manifest.Manifest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := m.PluginName()
	if r.byName[name] == nil {
		r.names = append(r.names, name)
	}
	r.byName[name] = m
}

// see tells of a manifest by which its plugin is about to be started.
func (r *roster) see(m *manifest.Manifest) {
	if r.saw != nil {
		r.saw(m)
	}
}

// remove strikes a plugin out.
func (r *roster) remove(plugin string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byName, plugin)
	r.names = slices.DeleteFunc(r.names, func(name string) bool { return name == plugin })
}

// hold waits until nobody else starts or reloads the plugin; release must follow.
func (r *roster) hold(ctx context.Context, plugin string) (release func(), err error) {
	one := r.turn(plugin)
	select {
	case one.had <- struct{}{}:
		return func() {
			<-one.had
			r.leave(plugin, one)
		}, nil
	case <-ctx.Done():
		r.leave(plugin, one)
		return nil, fmt.Errorf("plugin %s is being started: %w", plugin, context.Cause(ctx))
	}
}

// turn is that of a plugin, for one more who wants it; leave must follow.
func (r *roster) turn(plugin string) *turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.turns[plugin]
	if one == nil {
		one = &turn{had: make(chan struct{}, 1)}
		r.turns[plugin] = one
	}
	one.users++
	return one
}

func (r *roster) leave(plugin string, one *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.users--; one.users == 0 {
		delete(r.turns, plugin)
	}
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
		return nil, leftAsItIs(plugin, ", its manifest has problems: "+err.Error())
	}
	if len(found.Manifests) != 1 || found.Manifests[0].PluginName() != plugin {
		return nil, leftAsItIs(plugin, ": "+old.File+" is not its manifest any more")
	}
	r.put(found.Manifests[0])
	r.see(found.Manifests[0])
	return found.Manifests[0], nil
}

// leftAsItIs is what whoever asks for a plugin to be started has to mend first.
func leftAsItIs(plugin, why string) error {
	return &protocol.Error{Code: protocol.CodeInvalid, Plugin: plugin, Message: "plugin " + plugin + " was left as it is" + why}
}

// start starts a plugin that is stopped, by now: who had the turn before may have started
// it.
func (h *house) start(ctx context.Context, plugin string) (actors.SessionInfo, error) {
	release, err := h.roster.hold(ctx, plugin)
	if err != nil {
		return actors.SessionInfo{}, err
	}
	defer release()
	if now, stands := h.standing(plugin); stands && h.runs(plugin) {
		return now, &protocol.Error{Code: protocol.CodeInvalid, Plugin: plugin, Message: fmt.Sprintf(
			"plugin %s is not stopped: it is %s (%s); to start it anew, reload it", plugin, now.Phase, now.ID)}
	}
	m, err := h.roster.reread(plugin)
	if err != nil {
		return actors.SessionInfo{}, err
	}
	return h.begin(ctx, m)
}

// reload stops a plugin and starts it anew, if its manifest is still good. The session that
// it ends is the one that is there when its turn comes: who had the turn before may have
// started the plugin anew, by an older manifest or with fewer grants.
func (h *house) reload(ctx context.Context, plugin string) (actors.SessionInfo, error) {
	release, err := h.roster.hold(ctx, plugin)
	if err != nil {
		return actors.SessionInfo{}, err
	}
	defer release()
	m, err := h.roster.reread(plugin)
	if err != nil {
		return actors.SessionInfo{}, err
	}
	if now, stands := h.standing(plugin); stands {
		return h.again(ctx, m, now.ID)
	}
	return h.begin(ctx, m)
}

// again ends a session and starts its plugin anew.
func (h *house) again(ctx context.Context, m *manifest.Manifest, session string) (actors.SessionInfo, error) {
	if info, err := h.Stop(ctx, session); err != nil {
		return info, err
	}
	return h.begin(ctx, m)
}

// begin starts a plugin, unless it is disabled by now. Who disables one does not wait for
// its turn: what was begun meanwhile is stopped here.
func (h *house) begin(ctx context.Context, m *manifest.Manifest) (actors.SessionInfo, error) {
	name := m.PluginName()
	if h.disabled.has(name) {
		return actors.SessionInfo{}, errDisabled(name)
	}
	info, err := h.Start(ctx, m, h.configs.start(m))
	if info.ID == "" || !h.disabled.has(name) {
		return info, err
	}
	info, err = h.Stop(ctx, info.ID)
	return info, cmp.Or(err, errDisabled(name))
}

func errDisabled(plugin string) error {
	return &protocol.Error{Code: protocol.CodeInvalid, Plugin: plugin, Message: "plugin " + plugin + " is disabled: enable it, which starts it too"}
}
