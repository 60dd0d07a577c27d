package actors

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// The host's book of sessions and supervisors: who is there, under which name.

// known returns the session with the id, or the refusal in the reference host's
// words, while the host may still be asked for something.
func (h *Host) known(session, refusal string) (*handle, error) {
	if err := h.alive(); err != nil {
		return nil, err
	}
	if who := h.find(session); who != nil {
		return who, nil
	}
	return nil, inReferenceWords(refusal, session)
}

// find returns the session with the id, or nil.
func (h *Host) find(session string) *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[session]
}

// newest returns the session that has taken this one's place, or this one.
func (h *Host) newest(who *handle) *handle {
	if now := h.currentOf(who.Plugin, who.instance()); now != nil {
		return now
	}
	return who
}

// currentOf is current for a guest's instance, where one is named.
func (h *Host) currentOf(plugin, instance string) *handle {
	if instance == "" {
		return h.current(plugin)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, who := range slices.Backward(h.guests[plugin]) {
		if who.guest.Instance == instance {
			return who
		}
	}
	return nil
}

// rising returns a session of a plugin that is not up, or nil: the newest, of an instance
// where one is named.
func (h *Host) rising(plugin, instance string) *handle {
	h.mu.Lock()
	all := slices.Clone(h.guests[plugin])
	if who := h.plugins[plugin]; who != nil {
		all = []*handle{who}
	}
	h.mu.Unlock()
	for _, who := range slices.Backward(all) {
		if (instance == "" || who.guest == nil || who.guest.Instance == instance) && !isUp(who.phaseNow()) {
			return who
		}
	}
	return nil
}

// current returns the newest session of a plugin, or nil: the host's own, or else a guest.
func (h *Host) current(plugin string) *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	if who := h.plugins[plugin]; who != nil {
		return who
	}
	if all := h.guests[plugin]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// remember lists a session, in place of the one that it succeeds, if any; once the
// host shuts down none is added.
func (h *Host) remember(who, old *handle) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isDown.Load() {
		return ErrShutdown
	}
	if who.guest != nil && h.supervisors[who.Plugin] != nil { // it has come meanwhile
		return namesake(who.Plugin)
	}
	if old != nil {
		delete(h.sessions, old.Session)
	}
	h.sessions[who.Session] = who
	if who.guest != nil {
		h.guests[who.Plugin] = append(h.guests[who.Plugin], who)
		return nil
	}
	h.plugins[who.Plugin] = who
	delete(h.left, who.Plugin)
	return nil
}

func (h *Host) forget(who *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, who.Session)
	if who.guest != nil {
		h.forgetGuest(who)
		return
	}
	if h.plugins[who.Plugin] == who {
		delete(h.plugins, who.Plugin)
		h.leave(who)
	}
}

func (h *Host) alive() error {
	if h.isDown.Load() {
		return ErrShutdown
	}
	return nil
}

// forgetGuest takes a guest off the list of its name. The caller holds h.mu.
func (h *Host) forgetGuest(who *handle) {
	left := slices.DeleteFunc(h.guests[who.Plugin], func(other *handle) bool { return other == who })
	if len(left) > 0 {
		h.guests[who.Plugin] = left
		return
	}
	delete(h.guests, who.Plugin)
	if h.supervisors[who.Plugin] == nil {
		delete(h.logs, who.Plugin)
	}
}

// supervisor returns the one of the manifest's plugin, or of a guest, making it if need be.
func (h *Host) supervisor(m *manifest.Manifest, guest *Guest) (*ref, error) {
	if m == nil {
		return nil, errors.New("expected a manifest, got nil")
	}
	name := m.PluginName()
	if name == "" {
		return nil, fmt.Errorf("%s: name: a plugin must have a name that is not blank", place(m))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isDown.Load() {
		return nil, ErrShutdown
	}
	key := name
	if guest != nil {
		if h.supervisors[name] != nil {
			return nil, namesake(name)
		}
		key = guestKey(name, guest.Instance)
	}
	if sup := h.supervisors[key]; sup != nil {
		return sup, nil
	}
	sup := h.sys.spawn(func(self *ref) behavior {
		return newSupervisor(h, name, key, self)
	})
	h.supervisors[key] = sup
	return sup, nil
}

func (h *Host) newHandle(m *manifest.Manifest, guest *Guest) *handle {
	now := h.bounds.Load()
	index := int(h.nextIndex.Add(1) - 1)
	name := m.PluginName()
	dialect := h.dialects[m.Dialect]
	var schema json.RawMessage
	if guest != nil {
		dialect, schema = guest.Dialect, guest.Schema
	}
	_, untold := dialect.(protocol.Untelling)
	return &handle{
		guest:    guest,
		Origin:   Origin{Session: fmt.Sprintf("plugin-session-%d", index), Plugin: name},
		module:   protocol.Module{Name: m.Name, Index: index, ID: fmt.Sprintf("%s-%d", name, index), Plugin: name},
		man:      m,
		dialect:  dialect,
		timeouts: h.timeoutsOf(m, now),
		bounds:   now,
		untold:   untold,
		schema:   schema,
		needs:    m.Host.Requires,
		phase:    lifecycle.Session.Initial(),
		since:    time.Now(),
	}
}

// timeoutsOf lays a manifest's own limits over those that were given to the host,
// and these over its ecosystem's.
func (h *Host) timeoutsOf(m *manifest.Manifest, now *bounds) Timeouts {
	own, usual := m.Host.Timeouts, now.timeouts
	if timing, ok := h.dialects[m.Dialect].(protocol.Timing); ok {
		usual.Setup = orDefault(now.given.Setup, orDefault(timing.StepTimeout(protocol.StepSetup), usual.Setup))
		usual.Stop = orDefault(now.given.Stop, orDefault(timing.StepTimeout(protocol.StepStop), usual.Stop))
	}
	return Timeouts{
		Load:         orDefault(own.Load, usual.Load),
		Init:         orDefault(own.Init, usual.Init),
		Setup:        orDefault(own.Setup, usual.Setup),
		Stop:         orDefault(own.Stop, usual.Stop),
		Drain:        usual.Drain,
		Call:         orDefault(own.Call, usual.Call),
		Idle:         orDefault(own.Idle, usual.Idle),
		Capabilities: orDefault(own.Capabilities, usual.Capabilities),
		RouteExit:    usual.RouteExit,
	}
}
