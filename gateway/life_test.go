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

// watch connects a peer that hears everything from then on.
func (r *rig) watch() *peer {
	r.Helper()
	p := r.dial()
	p.hear("module:authenticated")
	return p
}

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
	configurator, p := r.watch(), r.dial()
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

const needsTool = `"dependencies":[{"role":"tool:x"},{"role":"tool:y","optional":true}]`

func TestLife_dependenciesAreAwaited(t *testing.T) {
	r := start(t, Options{})
	configurator, p := r.watch(), r.dial()
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
	p.announce("bot", "1", `"possibleEvents":["tool:x"]`)
	for range 20 {
		former := r.wantPhase("bot", lifecycle.Preparing).ID
		p.say("module:status", `{%s,"phase":"failed","reason":"no token"}`, of("bot", "1"))
		p.announce("bot", "1", `"possibleEvents":["tool:x"]`)
		require.Eventually(t, func() bool {
			now, err := r.host.Inspect("bot")
			return err == nil && now.ID != former
		}, patience, time.Millisecond)
	}
	p.ready("bot", "1")
	r.wantOffer("bot", "tool:x", lifecycle.CapReady)
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
	former := ""
	for range 10 {
		p := r.dial()
		p.announce("bot", "1")
		require.Eventually(t, func() bool {
			is, err := r.host.Inspect("bot")
			return err == nil && is.ID != former && is.Phase == lifecycle.Ready
		}, patience, time.Millisecond)
		is, err := r.host.Inspect("bot")
		require.NoError(t, err)
		former = is.ID
		go func(id string) { _, _ = r.host.Stop(context.Background(), id) }(former)
		p.wantEnd(1008, "stopped by the host")
	}
}

// offers are the keys that a plugin offers, each with its state.
func (r *rig) offers(plugin string) map[string]lifecycle.State {
	offers := map[string]lifecycle.State{}
	for _, o := range r.host.Offers() {
		if o.Owner.Plugin == plugin {
			offers[string(o.Key)] = o.State
		}
	}
	return offers
}

// wantOffer waits until a plugin offers a key in a state; "" stands for none.
func (r *rig) wantOffer(plugin, key string, want lifecycle.State) {
	r.Helper()
	require.Eventually(r, func() bool { return r.offers(plugin)[key] == want }, patience, time.Millisecond, "%s: %v", key, r.offers(plugin))
}

// Steps 14 and 15: what a module contributes can be called once it is configured and active.
func TestLife_capabilities(t *testing.T) {
	r := start(t, Options{})
	configurator, p := r.watch(), r.dial()
	p.negotiate()
	p.announce("bot", "1")
	p.ready("bot", "1")
	id := of("bot", "1")
	const contribute = "module:contribute:capability:"
	p.say(contribute+"offer", `{%s,"capability":{"id":"tool:plain","name":"Plain"}}`, id)
	p.say(contribute+"configuration:configured", `{%s,"capabilityId":"tool:plain"}`, id)
	p.say(contribute+"activated", `{%s,"capabilityId":"tool:plain","active":true}`, id)
	r.wantOffer("bot", "tool:plain", lifecycle.CapReady)

	p.say(contribute+"offer", `{%s,"capability":{"id":"tool:tuned","configSchema":{"id":"s","version":1}}}`, id)
	p.say(contribute+"configuration:needed", `{%s,"capabilityId":"tool:tuned","reason":"no voice"}`, id)
	require.Contains(t, configurator.hear(contribute+"configuration:needed"), "no voice")
	require.NotContains(t, r.offers("bot"), "tool:tuned")
	for _, step := range []string{"validate", "plan"} {
		event := contribute + "configuration:" + step
		configurator.ask(event+":request", step, `{%s,"capabilityId":"tool:tuned"}`, id)
		asked := p.hearAll(event + ":request")
		p.answer(asked, event+":status", `{%s,"capabilityId":"tool:tuned","state":"working"}`, id)
		p.answer(asked, event+":response", `{%s,"capabilityId":"tool:tuned"}`, id)
		require.Equal(t, step, configurator.hearAll(event+":status").Metadata.Event.ParentID)
		require.Equal(t, step, configurator.hearAll(event+":response").Metadata.Event.ParentID)
	}
	configurator.ask(contribute+"configuration:commit", "c", `{%s,"capabilityId":"tool:tuned","config":{}}`, id)
	asked := p.hearAll(contribute + "configuration:commit")
	p.answer(asked, contribute+"configuration:commit:status", `{%s,"capabilityId":"tool:tuned","state":"done"}`, id)
	require.Equal(t, "c", configurator.hearAll(contribute+"configuration:commit:status").Metadata.Event.ParentID)
	p.say(contribute+"configuration:configured", `{%s,"capabilityId":"tool:tuned","config":{}}`, id)
	r.wantOffer("bot", "tool:tuned", lifecycle.CapReady)
	p.say(contribute+"activated", `{%s,"capabilityId":"tool:tuned","active":false,"reason":"paused"}`, id)
	r.wantOffer("bot", "tool:tuned", "")
	_, err := r.call("tool:tuned", `{}`)
	require.ErrorContains(t, err, "nobody offers tool:tuned")
	p.say(contribute+"activated", `{%s,"capabilityId":"tool:tuned","active":true}`, id)
	r.wantOffer("bot", "tool:tuned", lifecycle.CapReady)
	p.say(contribute+"configuration:needed", `{%s,"capabilityId":"tool:tuned"}`, id)
	r.wantOffer("bot", "tool:tuned", "")
	r.wantPhase("bot", lifecycle.Ready)
}

// Step 16: a module says how it is, also one that negotiates nothing.
func TestLife_aModuleSaysHowItIs(t *testing.T) {
	for name, negotiates := range map[string]bool{"negotiates": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			r := start(t, Options{})
			p := r.dial()
			if negotiates {
				p.negotiate()
			}
			p.announce("bot", "1", `"possibleEvents":["tool:x"]`)
			p.ready("bot", "1")
			for _, phase := range []string{"degraded", "failed"} {
				p.say("module:status", `{%s,"phase":%q,"reason":"the game is paused"}`, bot, phase)
				info := r.wantPhase("bot", lifecycle.Degraded)
				require.Equal(t, "the game is paused", info.Reason)
				r.wantOffer("bot", "tool:x", lifecycle.CapDegraded)
				p.say("module:status", `{%s,"phase":"ready"}`, bot)
				r.wantPhase("bot", lifecycle.Ready)
				r.wantOffer("bot", "tool:x", lifecycle.CapReady)
			}
		})
	}
}

// Step 17: a module goes back, to be prepared or to be configured anew.
func TestLife_aModuleGoesBack(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.negotiate()
	p.announce("bot", "1", `"possibleEvents":["tool:x"]`)
	p.ready("bot", "1")
	session := r.wantPhase("bot", lifecycle.Ready).ID
	p.say("module:status:change", `{%s,"phase":"announced","reason":"a new world"}`, bot)
	r.wantPhase("bot", lifecycle.Preparing)
	r.wantOffer("bot", "tool:x", lifecycle.CapAnnounced)
	p.ready("bot", "1")

	p.say("module:status:change", `{%s,"phase":"configuration-needed","reason":"the token is stale"}`, bot)
	require.Equal(t, "the token is stale", r.wantPhase("bot", lifecycle.ConfigurationNeeded).Reason)
	p.say("module:configuration:configured", `{%s,"config":%s}`, bot, config)
	require.Equal(t, session, r.wantPhase("bot", lifecycle.Ready).ID)

	other := r.dial()
	other.say("module:status:change", `{%s,"phase":"announced"}`, bot)
	p.hear("module:status:change")
	r.wantPhase("bot", lifecycle.Ready)
}

// ofExtension is an identity of the extension generation.
func ofExtension(instance string) string {
	return fmt.Sprintf(`"identity":{"id":%q,"extension":{"id":"game"}}`, instance)
}

// Each of several modules of a connection has a life of its own; so have those of two
// connections, and of the two generations.
func TestLife_severalModulesOnOneConnection(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.negotiate()
	announce := func(instance, more string) {
		p.say("extension:module:announce", `{"name":%q,%s,"possibleEvents":[]%s}`, instance, ofExtension(instance), more)
	}
	say := func(instance, kind, more string) { p.say(kind, `{%s%s}`, ofExtension(instance), more) }
	announce("ready", "")
	announce("needs", "")
	announce("fails", "")
	announce("waits", ","+needsTool)
	for _, instance := range []string{"ready", "needs", "fails"} {
		say(instance, "module:prepared", "")
	}
	say("ready", "module:status", `,"phase":"ready"`)
	say("needs", "module:configuration:needed", `,"reason":"no map"`)
	say("fails", "module:status", `,"phase":"failed","reason":"no world"`)
	r.wantModules(map[string]string{"ready": "ready", "needs": "configuration-needed no map", "fails": " no world", "waits": "waiting-deps Waiting for capabilities: tool:x"})

	announce("fails", "")
	say("fails", "module:prepared", "")
	say("fails", "module:status", `,"phase":"ready"`)
	say("ready", "module:status", `,"phase":"degraded","reason":"slow"`)
	say("needs", "module:configuration:configured", `,"config":`+config)
	say("needs", "module:status", `,"phase":"ready"`)
	r.wantModules(map[string]string{"ready": "degraded slow", "needs": "ready", "fails": "ready", "waits": "waiting-deps Waiting for capabilities: tool:x"})
}

// wantModules waits until the modules of the first connection are in phases, for reasons.
func (r *rig) wantModules(want map[string]string) {
	r.Helper()
	var got map[string]string
	require.Eventually(r, func() bool {
		got = map[string]string{}
		for _, m := range r.gateway.Peers()[0].Modules {
			got[m.Instance] = m.Phase
			if m.Reason != "" {
				got[m.Instance] += " " + m.Reason
			}
		}
		return fmt.Sprint(got) == fmt.Sprint(want)
	}, patience, time.Millisecond, "%v", &got)
}

// A step that a module does not end fails at the host's limit, which the reason names.
func TestLife_stepsAreBounded(t *testing.T) {
	for step, c := range map[string]struct{ says, by string }{"init": {"", "module:prepared"}, "setup": {"module:prepared", "module:status with ready"}} {
		t.Run(step, func(t *testing.T) {
			r := start(t, Options{Prepare: func(g *actors.Guest) error {
				g.Manifest.Host.Timeouts.Init, g.Manifest.Host.Timeouts.Setup = 50*time.Millisecond, 50*time.Millisecond
				return nil
			}})
			p := r.dial()
			p.negotiate()
			p.announce("bot", "1")
			if c.says != "" {
				p.say(c.says, `{%s}`, bot)
			}
			require.Equal(t, fmt.Sprintf("%s of plugin bot did not finish within 50ms: it has to tell the host when it is over, by %s; "+
				"or raise timeouts.%s in the host's settings", step, c.by, step), p.hearStatus("failed").Reason)
		})
	}
}

// A connection that is lost on the way loses nothing: whoever comes back goes on.
func TestLife_goesOnAfterAReconnect(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.negotiate()
	p.announce("bot", "1")
	session := r.wantPhase("bot", lifecycle.Preparing).ID
	require.NoError(t, p.Close())
	require.Eventually(t, func() bool { return r.gateway.Counts().Away == 1 }, patience, time.Millisecond)
	p = r.dial()
	p.negotiate()
	p.announce("bot", "1")
	p.say("module:prepared", `{%s}`, bot)
	p.say("module:configuration:needed", `{%s,"reason":"no tone yet"}`, bot)
	require.Equal(t, session, r.wantPhase("bot", lifecycle.ConfigurationNeeded).ID)
	require.NoError(t, p.Close())
	require.Eventually(t, func() bool { return r.gateway.Counts().Away == 1 }, patience, time.Millisecond)
	p = r.dial()
	p.negotiate()
	p.announce("bot", "1")
	p.say("module:configuration:configured", `{%s,"config":%s}`, bot, config)
	p.say("module:status", `{%s,"phase":"ready"}`, bot)
	require.Equal(t, session, r.wantPhase("bot", lifecycle.Ready).ID)
}

// A peer that asks for versions once it has announced itself loses its session, too.
func TestLife_asksForOtherVersionsLater(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.announce("bot", "1")
	r.wantPhase("bot", lifecycle.Ready)
	p.say("module:compatibility:request", `{"protocolVersion":"v9","apiVersion":"v1"}`)
	p.hearStatus("failed")
	r.wantGone("bot")
	require.Contains(t, r.gateway.Peers()[0].Modules[0].Reason, "Negotiation rejected")
}

// A peer that comes back and speaks other versions loses its session.
func TestLife_comesBackWithOtherVersions(t *testing.T) {
	r := start(t, Options{})
	p := r.dial()
	p.announce("bot", "1")
	r.wantPhase("bot", lifecycle.Ready)
	newer := r.dial()
	newer.say("module:compatibility:request", `{"protocolVersion":"v9","apiVersion":"v1"}`)
	newer.announce("bot", "1")
	p.wantEnd(4001, "replaced by a newer connection of the same identity")
	newer.hearStatus("failed")
	r.wantGone("bot")
}
