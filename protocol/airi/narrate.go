package airi

import (
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// The events of a module's life, as the reference host names them.
const (
	eventAuthenticate  = "module:authenticate"
	eventAuthenticated = "module:authenticated"
	eventCompatRequest = "module:compatibility:request"
	eventCompatResult  = "module:compatibility:result"
	eventModulesSync   = "registry:modules:sync"
	eventAnnounce      = "module:announce"
	eventPrepared      = "module:prepared"
	eventConfigNeeded  = "module:configuration:needed"
	eventConfigured    = "module:configuration:configured"
	eventStatus        = "module:status"
	eventStatusChange  = "module:status:change"
	eventConfigCommit  = "module:configuration:commit"
)

// narrate finds the words for a moment. The order of events and of their members
// is the reference host's.
func narrate(m protocol.Moment) []protocol.Event {
	self := identityOf(m.Self)
	switch m.What {
	case protocol.MomentAuthenticating:
		return events(event(eventAuthenticate, authenticate{Token: m.Token}))
	case protocol.MomentAuthenticated:
		return events(event(eventAuthenticated, authenticated{Authenticated: true}))
	case protocol.MomentNegotiated:
		return negotiated(m)
	case protocol.MomentSynced:
		return events(event(eventModulesSync, modulesOf(m.Modules)))
	case protocol.MomentAnnounced:
		return events(
			event(eventAnnounce, announce{Name: m.Self.Name, Identity: self, PossibleEvents: []string{}}),
			status(self, "announced"))
	case protocol.MomentPreparing:
		return events(status(self, "preparing"))
	case protocol.MomentWaiting:
		return events(waiting(self, m))
	case protocol.MomentPrepared:
		return events(event(eventPrepared, prepared{Identity: self}), status(self, "prepared"))
	case protocol.MomentConfigurationNeeded:
		return configurationNeeded(self, m)
	case protocol.MomentCommitted:
		return events(event(eventConfigCommit, configured{Identity: self, Config: configOf(m.Config)}))
	case protocol.MomentConfigured:
		return events(
			event(eventConfigured, configured{Identity: self, Config: configOf(m.Config)}),
			status(self, "configured"))
	case protocol.MomentReady, protocol.MomentRecovered:
		return events(status(self, "ready"))
	case protocol.MomentDegraded:
		return events(event(eventStatus, moduleStatus{Identity: self, Phase: "degraded", Reason: given(m.Reason)}))
	case protocol.MomentFailed:
		return events(event(eventStatus, moduleStatus{Identity: self, Phase: "failed", Reason: &m.Reason}))
	}
	return nil
}

func events(list ...protocol.Event) []protocol.Event { return list }

func event(name string, payload any) protocol.Event {
	return protocol.Event{Name: name, Payload: payload}
}

func status(self identity, phase string) protocol.Event {
	return event(eventStatus, moduleStatus{Identity: self, Phase: phase})
}

// given leaves an empty reason out.
func given(reason string) *string {
	if reason == "" {
		return nil
	}
	return &reason
}

// negotiated tells both sides at once: nobody but the host takes part.
func negotiated(m protocol.Moment) []protocol.Event {
	return events(
		event(eventCompatRequest, compatibilityRequest{
			ProtocolVersion:           m.Asked.Protocol,
			APIVersion:                m.Asked.API,
			SupportedProtocolVersions: slices.Clone(m.Asked.SupportedProtocol),
			SupportedAPIVersions:      slices.Clone(m.Asked.SupportedAPI),
		}),
		event(eventCompatResult, compatibilityResult{
			ProtocolVersion: m.Result.Protocol,
			APIVersion:      m.Result.API,
			Mode:            m.Result.Mode,
			Reason:          m.Result.Reason,
		}))
}

// waiting is told even when nothing is missing. The phase stays "preparing": the
// true one is among the details.
func waiting(self identity, m protocol.Moment) protocol.Event {
	reason := "Waiting for capabilities: " + strings.Join(m.Required, ", ")
	return event(eventStatus, moduleStatus{Identity: self, Phase: "preparing", Reason: &reason, Details: &waitDetails{
		LifecyclePhase:         "waiting-deps",
		RequiredCapabilities:   list(m.Required),
		UnresolvedCapabilities: list(m.Unresolved),
		TimeoutMs:              m.Timeout.Milliseconds(),
	}})
}

// list copies keys; none is an empty list, not null.
func list(keys []string) []string { return append([]string{}, keys...) }

// configurationNeeded has the reason in both events, save at the start, where
// the status has none.
func configurationNeeded(self identity, m protocol.Moment) []protocol.Event {
	now := moduleStatus{Identity: self, Phase: "configuration-needed"}
	if !m.AtStart {
		now.Reason = given(m.Reason)
	}
	return events(
		event(eventConfigNeeded, needed{Identity: self, Reason: given(m.Reason)}),
		event(eventStatus, now))
}

func modulesOf(known []protocol.Module) modulesSync {
	sync := modulesSync{Modules: make([]moduleEntry, 0, len(known))}
	for _, k := range known {
		sync.Modules = append(sync.Modules, moduleEntry{Name: k.Name, Index: k.Index, Identity: identityOf(k)})
	}
	return sync
}

func identityOf(m protocol.Module) identity {
	return identity{ID: m.ID, Kind: "plugin", Plugin: pluginIdentity{ID: m.Plugin}}
}

// configOf copies what could be changed behind the event's back.
func configOf(c protocol.Config) protocol.Config {
	if c.BaseRevision != nil {
		base := *c.BaseRevision
		c.BaseRevision = &base
	}
	return c
}
