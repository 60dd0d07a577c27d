package actors

import (
	"errors"
	"fmt"
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
	if now := h.current(who.Plugin); now != nil {
		return now
	}
	return who
}

// current returns the newest session of a plugin, or nil.
func (h *Host) current(plugin string) *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.plugins[plugin]
}

// remember lists a session, in place of the one that it succeeds, if any; once the
// host shuts down none is added.
func (h *Host) remember(who, old *handle) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isDown.Load() {
		return ErrShutdown
	}
	if old != nil {
		delete(h.sessions, old.Session)
	}
	h.sessions[who.Session] = who
	h.plugins[who.Plugin] = who
	delete(h.left, who.Plugin)
	return nil
}

func (h *Host) forget(who *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, who.Session)
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

// supervisor returns the one of the manifest's plugin, making it if need be.
func (h *Host) supervisor(m *manifest.Manifest) (*ref, error) {
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
	if sup := h.supervisors[name]; sup != nil {
		return sup, nil
	}
	sup := h.sys.spawn(func(self *ref) behavior {
		return newSupervisor(h, name, self)
	})
	h.supervisors[name] = sup
	return sup, nil
}

func (h *Host) newHandle(m *manifest.Manifest) *handle {
	now := h.bounds.Load()
	index := int(h.nextIndex.Add(1) - 1)
	name := m.PluginName()
	_, untold := h.dialects[m.Dialect].(protocol.Untelling)
	return &handle{
		Origin:   Origin{Session: fmt.Sprintf("plugin-session-%d", index), Plugin: name},
		module:   protocol.Module{Name: m.Name, Index: index, ID: fmt.Sprintf("%s-%d", name, index), Plugin: name},
		man:      m,
		dialect:  h.dialects[m.Dialect],
		timeouts: h.timeoutsOf(m, now),
		bounds:   now,
		untold:   untold,
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
