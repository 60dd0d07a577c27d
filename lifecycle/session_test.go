package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// referenceTransitions is the reference host's own list, as it wrote it: from, to,
// and the event that its machine is sent.
var referenceTransitions = map[string]map[string]string{
	"loading":              {"loaded": "SESSION_LOADED", "failed": "SESSION_FAILED"},
	"loaded":               {"authenticating": "START_AUTHENTICATION", "stopped": "STOP", "failed": "SESSION_FAILED"},
	"authenticating":       {"authenticated": "AUTHENTICATED", "failed": "SESSION_FAILED"},
	"authenticated":        {"announced": "ANNOUNCED", "failed": "SESSION_FAILED"},
	"announced":            {"preparing": "START_PREPARING", "configuration-needed": "CONFIGURATION_NEEDED", "failed": "SESSION_FAILED", "stopped": "STOP"},
	"preparing":            {"waiting-deps": "WAITING_DEPENDENCIES", "prepared": "PREPARED", "failed": "SESSION_FAILED"},
	"waiting-deps":         {"prepared": "PREPARED", "failed": "SESSION_FAILED"},
	"prepared":             {"configuration-needed": "CONFIGURATION_NEEDED", "configured": "CONFIGURED", "failed": "SESSION_FAILED"},
	"configuration-needed": {"configured": "CONFIGURED", "failed": "SESSION_FAILED"},
	"configured":           {"ready": "READY", "failed": "SESSION_FAILED"},
	"ready":                {"announced": "REANNOUNCE", "configuration-needed": "CONFIGURATION_NEEDED", "failed": "SESSION_FAILED", "stopped": "STOP"},
	"failed":               {"stopped": "STOP"},
	"stopped":              {},
}

// ourTransitions are all that may come on top of it.
var ourTransitions = map[string]map[string]string{
	"loading":              {"stopped": "STOP"},
	"authenticating":       {"stopped": "STOP"},
	"authenticated":        {"stopped": "STOP"},
	"preparing":            {"stopped": "STOP"},
	"waiting-deps":         {"stopped": "STOP"},
	"prepared":             {"stopped": "STOP"},
	"configuration-needed": {"stopped": "STOP"},
	"configured":           {"stopped": "STOP", "configuration-needed": "CONFIGURATION_NEEDED"},
	"ready":                {"degraded": "DEGRADED"},
	"degraded":             {"ready": "RECOVERED", "configuration-needed": "CONFIGURATION_NEEDED", "failed": "SESSION_FAILED", "stopped": "STOP"},
}

func TestSession_isTheReferenceAndOurs(t *testing.T) {
	reference, ours := transitions(false), transitions(true)
	reference["stopped"] = map[string]string{} // a row without an edge
	require.Equal(t, referenceTransitions, reference)
	require.Equal(t, ourTransitions, ours)
}

// transitions lists the session's edges by from and to, those of ours or the others.
func transitions(ours bool) map[string]map[string]string {
	list := make(map[string]map[string]string)
	for _, from := range Session.States() {
		for _, ev := range Session.Events() {
			if !Session.Can(from, ev) || Session.Ours(from, ev) != ours {
				continue
			}
			if list[string(from)] == nil {
				list[string(from)] = make(map[string]string)
			}
			list[string(from)][string(Session.next[from][ev])] = string(ev)
		}
	}
	return list
}

func TestSession_stopsFromEveryPhaseButStopped(t *testing.T) {
	for _, phase := range Session.States() {
		require.Equal(t, phase != Stopped, Session.Can(phase, SessionStop), phase)
	}
}

// The peers of the reference host are told the target, not the event: it must be
// known for every event.
func TestSession_everyEventHasOneTarget(t *testing.T) {
	for _, ev := range Session.Events() {
		require.NotEmpty(t, Session.goal[ev], ev)
	}
}

func TestSession_stories(t *testing.T) {
	start := []Event{SessionLoaded, SessionStartAuthentication, SessionAuthenticated, SessionAnnounced}
	phases := []State{Loaded, Authenticating, Authenticated, Announced}
	tests := []story{
		{
			"a plugin that needs nothing",
			[]Event{SessionStartPreparing, SessionPrepared, SessionConfigured, SessionReady, SessionStop},
			[]State{Preparing, Prepared, Configured, Ready, Stopped},
		},
		{
			"one that waits for others and is configured by hand",
			[]Event{SessionStartPreparing, SessionWaitingDependencies, SessionPrepared, SessionConfigurationNeeded, SessionConfigured, SessionReady},
			[]State{Preparing, WaitingDeps, Prepared, ConfigurationNeeded, Configured, Ready},
		},
		{
			"one that does not accept its configuration at first",
			[]Event{SessionConfigurationNeeded, SessionConfigured, SessionConfigurationNeeded, SessionConfigured, SessionReady},
			[]State{ConfigurationNeeded, Configured, ConfigurationNeeded, Configured, Ready},
		},
		{
			"one that is unwell for a while and goes through it all again",
			[]Event{SessionStartPreparing, SessionPrepared, SessionConfigured, SessionReady, SessionDegraded, SessionRecovered, SessionReannounce, SessionStartPreparing},
			[]State{Preparing, Prepared, Configured, Ready, Degraded, Ready, Announced, Preparing},
		},
		{
			"one that fails and is cleared away",
			[]Event{SessionStartPreparing, SessionFailed, SessionStop},
			[]State{Preparing, Failed, Stopped},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantStory(t, Session, story{tt.name, append(start[:4:4], tt.events...), append(phases[:4:4], tt.states...)})
		})
	}
}
