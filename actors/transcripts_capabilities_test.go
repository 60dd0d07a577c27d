package actors_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol/airi"
)

// The stories about capabilities and about the model providers.

// requires is a start with requirements, of which the first may be there already.
func requires(wait time.Duration, ready string, keys ...string) func(*lab) {
	return func(l *lab) {
		if ready != "" {
			l.set(ready, lifecycle.CapReady, "")
		}
		l.note("start", l.start(l.plugin("plain"), actors.StartOptions{Requires: keys, Wait: wait}))
	}
}

func requiredPartial(l *lab) {
	l.set("cap:a", lifecycle.CapReady, "")
	opts := actors.StartOptions{Requires: []string{"cap:a", "cap:b"}}
	started := later(func() string { return l.start(l.plugin("plain"), opts) })
	l.await(`"waiting-deps"`)
	l.set("cap:b", lifecycle.CapReady, "")
	l.note("start", <-started)
}

func requiredWait(l *lab) {
	opts := actors.StartOptions{Requires: []string{"cap:a", "cap:b"}, Wait: 2 * time.Second}
	started := later(func() string { return l.start(l.plugin("plain"), opts) })
	l.await(`"waiting-deps"`)
	l.note("phase while waiting", l.phase(session))
	l.set("cap:a", lifecycle.CapReady, "")
	l.note("phase after cap:a", l.phase(session))
	l.set("cap:b", lifecycle.CapReady, "")
	l.note("start", <-started)
}

func capsRegistry(l *lab) {
	state := func(d capability.Descriptor) string { return fmt.Sprintf("%s=%s", d.Key, d.State) }
	l.note("initial", l.json(l.host.Capabilities()))
	l.note("announce", l.set("k", lifecycle.CapAnnounced, `{"a":1}`))
	l.note("ready keeps metadata when omitted", l.set("k", lifecycle.CapReady, ""))
	l.note("degraded replaces metadata", l.set("k", lifecycle.CapDegraded, `{"b":2}`))
	l.note("ready after degraded", l.set("k", lifecycle.CapReady, ""))
	again := l.set("k", lifecycle.CapAnnounced, "")
	l.note("announce again resets ready", fmt.Sprintf("%s ready=%v", again, strings.Contains(again, `"ready"`)))
	l.note("withdraw unknown key creates it", l.set("never-announced", lifecycle.CapWithdrawn, ""))
	var order []string
	for _, d := range l.host.Capabilities() {
		order = append(order, state(d))
	}
	l.note("list order = first-touch order", l.json(order))
	begun := time.Now()
	_, err := l.host.Wait(l.t.Context(), 30*time.Millisecond, "nope")
	l.note("wait default timeout is long; explicit 30", "THROW "+err.Error())
	l.note("elapsed>=30", time.Since(begun) >= 30*time.Millisecond)
	require.NoError(l.t, l.host.WaitAll(l.t.Context(), 0))
	l.note("waitForCapabilities []", "ok undefined")
	l.note("two waiters same descriptor object", twoWaiters(l))
}

// twoWaiters tells whether two who wait for a key get the same descriptor.
func twoWaiters(l *lab) bool {
	type waited struct {
		d   *capability.Descriptor
		err error
	}
	got := make(chan waited, 2)
	for range 2 {
		go func() {
			d, err := l.host.Wait(l.t.Context(), labPatience, "w")
			got <- waited{d, err}
		}()
	}
	l.set("w", lifecycle.CapReady, `{"by":"lab"}`)
	one, two := <-got, <-got
	require.NoError(l.t, one.err)
	return reflect.DeepEqual(one, two)
}

const serviceNames = "proj-airi:plugin-sdk:apis:protocol:"

func capsInvoke(l *lab) {
	puppet(l, "puppet")
	l.note("snapshot", <-l.order(airi.ServiceCapabilitySnapshot, ""))
	l.note("listProviders", <-l.order(airi.ServiceListProviders, ""))
	waiting := l.order(airi.ServiceCapabilityWait, `{"key":"cap:x","timeoutMs":1000}`)
	l.await(`"key":"cap:x"`)
	l.set("cap:x", lifecycle.CapReady, `{"by":"lab"}`)
	l.note("wait cap:x", <-waiting)
	l.note("wait timeout", <-l.order(airi.ServiceCapabilityWait, `{"key":"cap:y","timeoutMs":15}`))
	l.note("wait without payload", <-l.order(airi.ServiceCapabilityWait, ""))
}

func duplicateInvokeHandler(l *lab) {
	puppet(l, "second-handler")
	l.note("call", <-l.order(airi.ServiceListProviders, ""))
}

// puppet starts a plugin that does what it is ordered to.
func puppet(l *lab, module string) {
	require.Equal(l.t, "ok ready", l.start(l.plugin(module), l.options()))
	l.catchUp()
	l.lines = nil // what follows is what the transcript has
}

// Providers

func providersOverride(l *lab) {
	overrideProviders(l, func() ([]airi.Provider, error) {
		return []airi.Provider{{Name: "provider1"}, {Name: "provider2"}}, nil
	})
	l.note("caps", l.json(l.host.Capabilities()))
	starts("providers")(l)
}

func providersResolverThrows(l *lab) {
	overrideProviders(l, func() ([]airi.Provider, error) { return nil, errors.New("resolver exploded") })
	starts("providers")(l)
}

func overrideProviders(l *lab, list func() ([]airi.Provider, error)) {
	service := airi.ProvidersService(func(context.Context) ([]airi.Provider, error) { return list() })
	require.NoError(l.t, l.host.SetService(l.t.Context(), service))
}

func providersWithdrawn(l *lab) {
	l.set(airi.ServiceListProviders, lifecycle.CapWithdrawn, "")
	started := later(func() string { return l.start(l.plugin("providers"), l.options()) })
	l.await(serviceNames + "capabilities:wait-send")
	l.set(airi.ServiceListProviders, lifecycle.CapReady, "")
	l.note("start", <-started)
}
