package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
)

// negotiate asks for the host's own versions.
func (p *peer) negotiate() {
	p.r.Helper()
	p.say("module:compatibility:request", `{"protocolVersion":"v1","apiVersion":"v1"}`)
	require.JSONEq(p.r, `{"protocolVersion":"v1","apiVersion":"v1","mode":"exact"}`, p.hear("module:compatibility:result"))
}

// of is an identity of the module generation, for the data of an event.
func of(plugin, instance string) string {
	return fmt.Sprintf(`"identity":{"kind":"plugin","plugin":{"id":%q},"id":%q}`, plugin, instance)
}

// status is what a module:status says.
type status struct {
	Identity json.RawMessage
	Phase    string
	Reason   string
	Details  json.RawMessage
}

// hearStatus waits for a module:status of a phase.
func (p *peer) hearStatus(phase string) (s status) {
	p.r.Helper()
	for {
		s = status{}
		require.NoError(p.r, json.Unmarshal([]byte(p.hear("module:status")), &s))
		if s.Phase == phase {
			return s
		}
	}
}

// ready takes a module that negotiates to ready.
func (p *peer) ready(plugin, instance string) {
	p.r.Helper()
	p.say("module:prepared", `{%s}`, of(plugin, instance))
	p.say("module:status", `{%s,"phase":"ready"}`, of(plugin, instance))
	p.r.wantPhase(plugin, lifecycle.Ready)
}

// A module that negotiates says itself how far it is; the host waits for that at each step.
func TestLife_aModuleThatNegotiatesSaysHowFarItIs(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.negotiate()
	p.announce("bot", "1")
	r.wantPhase("bot", lifecycle.Preparing)
	p.say("module:status", `{%s,"phase":"preparing"}`, of("bot", "1"))
	p.say("module:prepared", `{%s}`, of("bot", "1"))
	r.wantPhase("bot", lifecycle.Configured)
	p.say("module:status", `{%s,"phase":"ready"}`, of("bot", "1"))
	r.wantPhase("bot", lifecycle.Ready)
}

func TestLife_versionsAreNegotiated(t *testing.T) {
	for name, row := range map[string]struct{ request, result string }{
		"exact":      {`{"protocolVersion":"v1","apiVersion":"v1"}`, `{"protocolVersion":"v1","apiVersion":"v1","mode":"exact"}`},
		"downgraded": {`{"protocolVersion":"v2","apiVersion":"v1","supportedProtocolVersions":["v2","v1"]}`, `{"protocolVersion":"v1","apiVersion":"v1","mode":"downgraded"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, Options{})
			p := r.dial()
			p.say("module:compatibility:request", "%s", row.request)
			require.JSONEq(t, row.result, p.hear("module:compatibility:result"))
			p.announce("bot", "1")
			p.ready("bot", "1")
			require.NotEmpty(t, r.gateway.Peers()[0].Compatibility.Mode)
		})
	}
}

// A peer whose versions the host does not speak has no session, and all are told why; it
// stays connected, and may ask for others.
func TestLife_versionsThatAreRejected(t *testing.T) {
	r := start(t, Options{})
	configurator, p := r.dial(), r.dial()
	p.raw(`{"type":"module:compatibility:request","data":{"protocolVersion":"v9","apiVersion":"v1"},"metadata":{"event":{"id":"e1"},"source":{"kind":"plugin","plugin":{"id":"bot"},"id":"1"}}}`)
	const reason = `Negotiation rejected: protocol: Host does not support preferred version "v9".`
	require.JSONEq(t, fmt.Sprintf(`{"protocolVersion":"v9","apiVersion":"v1","mode":"rejected","reason":%q}`, reason), p.hear("module:compatibility:result"))
	told := configurator.hearStatus("failed")
	require.Equal(t, reason, told.Reason)
	require.JSONEq(t, `{"kind":"plugin","plugin":{"id":"bot"},"id":"1"}`, string(told.Identity))
	require.JSONEq(t, `{"compatibility":"rejected","protocolVersion":"v9","apiVersion":"v1","supportedProtocolVersions":[],"supportedApiVersions":[]}`, string(told.Details))

	p.announce("bot", "1")
	require.Equal(t, reason, configurator.hearStatus("failed").Reason)
	r.wantGone("bot")
	module := r.gateway.Peers()[1].Modules[0]
	require.Equal(t, "", module.Session)
	require.Equal(t, reason, module.Reason)

	p.negotiate()
	p.announce("bot", "1")
	p.ready("bot", "1")
}

// provider offers a capability when it is asked to.
const needsTool = `"dependencies":[{"role":"tool:x"},{"role":"tool:y","optional":true}]`

func TestLife_dependenciesAreAwaited(t *testing.T) {
	r := start(t, Options{})
	configurator, p := r.dial(), r.dial()
	p.negotiate()
	p.announce("bot", "1", needsTool)
	told := configurator.hearStatus("preparing")
	require.Equal(t, "Waiting for capabilities: tool:x", told.Reason)
	require.JSONEq(t, `{"lifecyclePhase":"waiting-deps","requiredCapabilities":["tool:x"],"unresolvedCapabilities":["tool:x"],"timeoutMs":15000}`, string(told.Details))
	r.wantPhase("bot", lifecycle.WaitingDeps)

	other := r.dial()
	other.announce("tools", "1", `"possibleEvents":["tool:x"]`)
	p.ready("bot", "1")
	require.NoError(t, other.Close())
	require.Equal(t, "missing capabilities: tool:x", configurator.hearStatus("degraded").Reason)
	r.wantPhase("bot", lifecycle.Degraded)
	again := r.dial()
	again.announce("tools", "1", `"possibleEvents":["tool:x"]`)
	configurator.hearStatus("ready")
	r.wantPhase("bot", lifecycle.Ready)
}

// waits bounds the wait for dependencies.
func waits(limit time.Duration) func(*actors.Guest) error {
	return func(g *actors.Guest) error { g.Start.Wait = limit; return nil }
}

// What does not come in time fails the session alone: the peer stays connected, and has
// another session when it announces itself anew.
func TestLife_dependenciesThatDoNotCome(t *testing.T) {
	r := start(t, Options{Prepare: waits(time.Millisecond)})
	p := r.dial()
	p.negotiate()
	for range 3 {
		p.announce("bot", "1", needsTool)
		require.Contains(t, p.hearStatus("failed").Reason, "Capability `tool:x` is not ready after 1ms.")
		require.Contains(t, r.gateway.Peers()[0].Modules[0].Reason, "is not ready after 1ms.")
	}
	p.announce("bot", "1")
	p.ready("bot", "1")
}

// A module that says that it has failed and announces itself in the same breath has another
// session, whichever of the two its former session sees.
func TestLife_aModuleThatFailedBeginsAnew(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.negotiate()
	p.announce("bot", "1")
	for range 20 {
		former := r.wantPhase("bot", lifecycle.Preparing).ID
		p.say("module:status", `{%s,"phase":"failed","reason":"no token"}`, of("bot", "1"))
		p.announce("bot", "1")
		require.Eventually(t, func() bool {
			now, err := r.host.Inspect("bot")
			return err == nil && now.ID != former
		}, patience, time.Millisecond)
	}
	p.ready("bot", "1")
}

// With other dependencies a module has another session.
func TestLife_otherDependencies(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.negotiate()
	p.announce("bot", "1", needsTool)
	former := r.wantPhase("bot", lifecycle.WaitingDeps).ID
	p.announce("bot", "1", needsTool)
	p.announce("bot", "1")
	require.NotEqual(t, former, r.wantPhase("bot", lifecycle.Preparing).ID)
	p.ready("bot", "1")
}

// A name that the host's own plugin has is refused, in words that all can show.
func TestLife_aNameThatIsTaken(t *testing.T) {
	r := start(t, Options{}, plugin.Define("bot"))
	p := r.dial()
	p.negotiate()
	p.announce("bot", "1")
	require.Contains(t, p.hearStatus("failed").Reason, "plugin bot is one of the host's own")
}

// An identity that has left may come at once, whether its session has ended or not.
func TestLife_comesAgainWhileItsSessionEnds(t *testing.T) {
	r := start(t, Options{})
	for range 10 {
		p := r.dial()
		p.announce("bot", "1")
		id := r.wantPhase("bot", lifecycle.Ready).ID
		go func() { _, _ = r.host.Stop(context.Background(), id) }()
		p.wantEnd(1008, "stopped by the host")
	}
}
