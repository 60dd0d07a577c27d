package airi

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestDriver_handlersBecomeOffers(t *testing.T) {
	d := newDriver(protocol.Settings{}, Collecting{})
	say := func(what, tag string) []protocol.Effect {
		return d.Step(now, protocol.Received{Message: Frame{ID: ControlPrefix + what, Body: raw(fmt.Sprintf(`{"tag":%q}`, tag))}}, nil)
	}
	require.Equal(t, []protocol.Effect{protocol.Offered{Offer: protocol.Offer{Key: "tool:greet", Invocable: true}}}, say("handler-defined", "tool:greet"))
	require.Empty(t, say("handler-defined", "tool:greet"), "once")
	require.Empty(t, say("handler-removed", "other"))
	require.Equal(t, []protocol.Effect{protocol.Retracted{Key: "tool:greet"}}, say("handler-removed", "tool:greet"))
	require.Empty(t, say("handler-removed", "tool:greet"), "once")
	require.Len(t, say("handler-defined", "tool:greet"), 1)
}

func TestDriver_whatIsTheHostsOwnIsNoOffer(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	for _, tag := range []string{
		"", "airi-host:x", "eventa-invoke-fn-8agw0wyj9fTqh7nZ",
		ServiceCapabilityWait, ServiceCapabilitySnapshot, ServiceListProviders,
	} {
		require.Equal(t, []string{"dropped offer " + tag},
			r.receive(ControlPrefix+"handler-defined", fmt.Sprintf(`{"tag":%q}`, tag)))
	}
}

func TestDriver_offersAreBounded(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	define := func(n int) string {
		return r.receive(ControlPrefix+"handler-defined", fmt.Sprintf(`{"tag":"t%d"}`, n))[0]
	}
	for n := range MaxOffers {
		require.Contains(t, define(n), "offered ")
	}
	require.Equal(t, fmt.Sprintf("dropped offer t%d", MaxOffers), define(MaxOffers))
	r.receive(ControlPrefix+"handler-removed", `{"tag":"t0"}`)
	require.Contains(t, define(MaxOffers), "offered ")
}

func TestDriver_checksTheBridgesVersion(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	require.Empty(t, r.receive(ControlPrefix+"hello", `{"protocol":1,"bridge":"1.0.0","node":"20.20.2"}`))
	require.Equal(t, []string{
		"fail plugin hello: expected a bridge that speaks version 1 of the control events, got version 2 (bridge 9.0.0, Node.js 20.20.2): start the bridge that came with this host",
	}, r.receive(ControlPrefix+"hello", `{"protocol":2,"bridge":"9.0.0","node":"20.20.2"}`))
}

func TestDriver_aCrashFailsTheConnectionWithItsReason(t *testing.T) {
	d := newDriver(protocol.Settings{Plugin: "hello"}, Collecting{})
	out := d.Step(now, protocol.Received{Message: Frame{
		ID:   ControlPrefix + "crashed",
		Body: raw(`{"origin":"unhandled rejection","name":"TypeError","message":"boom","at":"main.mjs:3:9"}`),
	}}, nil)
	failed, ok := out[0].(protocol.Fail)
	require.True(t, ok)
	require.EqualError(t, failed.Err, "plugin hello: unhandled rejection at main.mjs:3:9: boom")
	var peer *protocol.PeerError
	require.ErrorAs(t, failed.Err, &peer)
	require.Equal(t, "main.mjs:3:9", peer.At)
}

func TestDriver_countsControlEventsThatMeanNothing(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	for _, id := range []string{"airi-host:bridge:dance", "airi-host:other", "airi-host:bridge:", "airi-host:bridge:load-send"} {
		require.Equal(t, []string{"dropped control " + id}, r.receive(id, `{"invokeId":"x"}`))
	}
}
