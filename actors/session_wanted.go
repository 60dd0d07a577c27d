package actors

import (
	"fmt"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// A plugin asks to go back: to be prepared anew, or to be configured.

// heed passes on what an event of a plugin's channel asks for.
func (h *Host) heed(who *handle, e protocol.Event) {
	d, ok := who.dialect.(protocol.Heeding)
	if !ok {
		return
	}
	want, asks := d.Wants(e)
	switch limit := who.bounds.limits.PhaseRequests; {
	case !asks:
	case want.Config != nil:
		if m := who.took(*want.Config); m != nil {
			who.self.tell(m)
		}
	case who.mayRequest(time.Now(), limit):
		who.self.tell(who.wants(want))
	default:
		h.drop(who, droppedRequest, fmt.Sprintf("the plugin asked for another phase more than %d times within %s, the limit", limit, requestTime), 1)
	}
}

// taken tells that the plugin has a configuration that is not the host's, the newest as long
// as the session is not at it.
type taken struct{ config protocol.Config }

// took notes what a plugin has taken. It returns what the session is to be told; nil where
// that is on its way.
func (h *handle) took(c protocol.Config) *taken {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.taken != nil {
		h.taken.config = c
		return nil
	}
	h.taken = &taken{c}
	return h.taken
}

// wants is a request for another phase, which what the plugin takes afterwards does not
// overtake.
func (h *handle) wants(w protocol.Wanted) wanted {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.taken = nil
	return wanted{w}
}

// takes is what a plugin has taken.
func (h *handle) takes(m *taken) protocol.Config {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.taken == m {
		h.taken = nil
	}
	return m.config
}

// droppedRequest counts requests for another phase that are not followed.
const droppedRequest = "status-change"

// requestTime is the time in which a session may ask Limits.PhaseRequests times.
const requestTime = time.Minute

// phaseRequests counts what a session asks for within requestTime from the first on.
type phaseRequests struct {
	since time.Time
	count int
}

// mayRequest counts a request for another phase, and tells whether it is within the limit.
func (h *handle) mayRequest(now time.Time, limit int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.requests == nil {
		h.requests = &phaseRequests{}
	}
	if now.Sub(h.requests.since) >= requestTime {
		*h.requests = phaseRequests{since: now}
	}
	h.requests.count++
	return h.requests.count <= limit
}

// waysBack are the phases that a plugin may ask for.
var waysBack = map[lifecycle.State]lifecycle.Event{
	lifecycle.Announced:           lifecycle.SessionReannounce,
	lifecycle.ConfigurationNeeded: lifecycle.SessionConfigurationNeeded,
}

func (s *session) onWanted(m wanted) {
	back, known := waysBack[lifecycle.State(m.Phase)]
	switch {
	case s.end != living:
	case !known:
		s.unwanted(m, "expected announced or configuration-needed")
	case s.phase == lifecycle.ConfigurationNeeded && back == lifecycle.SessionConfigurationNeeded:
		s.asksAgain(m)
	case !lifecycle.Session.Can(s.phase, back):
		s.unwanted(m, "it is "+string(s.phase)+", from where no way leads there")
	case back == lifecycle.SessionReannounce:
		s.reannounce(m.Reason)
	default:
		s.asksFor(m)
		s.askConfiguration(wantedFor(m.Reason, "the plugin asks for another configuration"), false)
		s.shut(unconfigured(s.h.Plugin), nil)
	}
}

// asksFor notes what the configuration that is asked for has to be like.
func (s *session) asksFor(m wanted) {
	if m.Schema != nil {
		s.h.setSchema(m.Schema)
	}
}

// asksAgain is for a session that waits already: its reason is another now, if it gives one.
func (s *session) asksAgain(m wanted) {
	s.asksFor(m)
	if m.Reason != "" {
		s.h.enter(s.phase, clip(m.Reason), s.now)
	}
}

// onTaken goes by what the plugin has from somebody else. One that is still on its way to
// being configured goes on with it, without being asked about it or given it; one that has
// just been given another by the host gets that.
func (s *session) onTaken(m *taken) {
	c := s.h.takes(m)
	switch {
	case s.end != living:
		return
	case s.phase == lifecycle.Configured && s.start.Config != nil:
		s.host.drop(s.h, droppedRequest, "the plugin was configured by somebody else while the host did so", 1)
		return
	}
	s.start.Config, s.itsOwn = &c, &c
	s.h.config.Store(&c)
	if s.phase == lifecycle.ConfigurationNeeded || s.phase == lifecycle.Prepared && s.step == "" {
		s.applyConfig(c)
	}
	if g := s.h.guest; g != nil && g.Configured != nil {
		g.Configured(c)
	}
}

// unwanted counts a request that is not followed.
func (s *session) unwanted(m wanted, why string) {
	s.host.drop(s.h, droppedRequest, fmt.Sprintf("the plugin asked to be %q: %s", clip(m.Phase), why), 1)
}

func wantedFor(given, otherwise string) string {
	if given == "" {
		return otherwise
	}
	return clip(given)
}

// reannounce has a ready session go through its preparation once more: what it requires
// is awaited, init and setup run again, with the configuration that is in force.
func (s *session) reannounce(reason string) {
	reason = wantedFor(reason, "the plugin asks to be prepared anew")
	if !s.enter(lifecycle.Announced, reason) {
		return
	}
	if s.watching {
		s.watching = false
		s.host.registry.tell(unwatchNeeds{s.self, s.h.key()})
	}
	s.inited, s.settled, s.met, s.itsOwn = false, false, false, nil
	s.shut("plugin "+s.h.Plugin+" is prepared anew: "+reason, nil)
	s.say(protocol.Moment{What: protocol.MomentAnnounced})
	s.prepareAgain()
}
