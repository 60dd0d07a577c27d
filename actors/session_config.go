package actors

import (
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// A configuration is given, or asked for again.

func (s *session) onConfigure(m configure) {
	if m.commits && s.end == living && isUp(s.phase) {
		if err := s.checkConfig(m.config); err != nil {
			reply(m.reply, err)
			return
		}
		s.askConfiguration("its configuration is being changed", false)
		s.shut(unconfigured(s.h.Plugin), nil)
	}
	if err := s.leavingWithout("takes no configuration"); err != nil {
		reply(m.reply, err)
		return
	}
	open := s.phase == lifecycle.Configured || lifecycle.Session.Can(s.phase, lifecycle.SessionConfigured)
	if s.end != living || !open {
		reply(m.reply, inReferenceWords("Session %s cannot accept configuration during phase %s.", s.h.Session, s.phase))
		return
	}
	if err := s.checkConfig(m.config); err != nil {
		reply(m.reply, err)
		return
	}
	s.settleReplies = append(s.settleReplies, m.reply)
	s.start.Config = &m.config
	s.h.config.Store(s.start.Config)
	if m.commits {
		s.say(protocol.Moment{What: protocol.MomentCommitted, Config: m.config})
	}
	s.applyConfig(m.config)
}

// leavingWithout refuses what comes while the session is on its way out; nil where it is
// not, and where it has failed for good: there its phase says so.
func (s *session) leavingWithout(what string) error {
	how := "is being stopped"
	switch {
	case s.end == living, s.phase == lifecycle.Failed && s.end == failing:
		return nil
	case s.end == failing:
		how = "has just failed"
	}
	return &protocol.Error{Code: protocol.CodeNotReady, Plugin: s.h.Plugin, Message: "plugin " + s.h.Plugin + " " + how + " and " + what, Err: ErrEnding}
}

func (s *session) onNeedConfiguration(m needConfiguration) {
	if err := s.leavingWithout("asks for no configuration"); err != nil {
		reply(m.reply, err)
		return
	}
	if s.end != living || !lifecycle.Session.Can(s.phase, lifecycle.SessionConfigurationNeeded) {
		reply(m.reply, inReferenceWords("Session %s cannot move to configuration-needed from %s.", s.h.Session, s.phase))
		return
	}
	s.askConfiguration(m.reason, false)
	s.shut(unconfigured(s.h.Plugin), func() { reply(m.reply, nil) })
}

// checkConfig holds a configuration that somebody gave to the schemas of the manifest.
func (s *session) checkConfig(c protocol.Config) error {
	if err := s.man.CheckConfiguration(c.Full); err != nil {
		return failure(protocol.CodeConfiguration, s.h.Plugin, err.Error())
	}
	return nil
}

// refused asks for another configuration than the one that the plugin does not take.
func (s *session) refused(why error) {
	s.askConfiguration(why.Error(), false)
}

// settleUnconfigured answers the start once the registry knows what is offered and
// why it cannot be called.
func (s *session) settleUnconfigured() {
	if !s.listed {
		s.settle(nil)
		return
	}
	s.register(setOffers{owner: s.owner(), to: lifecycle.CapAnnounced, reason: unconfigured(s.h.Plugin)}, func() {
		if s.end == living && s.phase == lifecycle.ConfigurationNeeded {
			s.settle(nil)
		}
	})
}

func unconfigured(plugin string) string { return "plugin " + plugin + " needs its configuration" }

// askConfiguration waits for a configuration.
func (s *session) askConfiguration(reason string, atStart bool) {
	if !s.enter(lifecycle.ConfigurationNeeded, reason) {
		return
	}
	s.start.Config, s.start.RequireConfiguration = nil, true
	s.say(protocol.Moment{What: protocol.MomentConfigurationNeeded, Reason: reason, AtStart: atStart})
	s.proceed()
}

func keyStrings(keys []capability.Key) []string {
	if len(keys) == 0 {
		return nil
	}
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = string(k)
	}
	return list
}
