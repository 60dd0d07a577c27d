package capability_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
)

var (
	now   = time.UnixMilli(1000)
	hello = capability.Owner{Plugin: "hello"}
)

// A plugin offers a tool, becomes ready, and is chosen to serve it.
func Example() {
	registry := capability.New(capability.Options{})
	_, err := registry.Offer(now, capability.Offer{
		Key: "tool:greet", Owner: hello, Invocable: true, Target: "the session that serves it",
	})
	if err != nil {
		fmt.Println(err)
	}
	_, err = registry.Snapshot().Choose("tool:greet", capability.Filter{})
	fmt.Println(err)

	changes, err := registry.SetOwner(now, hello, lifecycle.CapReady, "")
	fmt.Println(changes[0].Before.State, "->", changes[0].After.State, err)
	offer, err := registry.Snapshot().Choose("tool:greet", capability.Filter{})
	fmt.Println(offer.Owner, "serves it by", offer.Target, err)
	// Output:
	// tool:greet of plugin hello is not ready: announced
	// announced -> ready <nil>
	// plugin hello serves it by the session that serves it <nil>
}

// The host's own capabilities look like the reference host's.
func ExampleRegistry_Ready() {
	registry := capability.New(capability.Options{})
	descriptor, _, err := registry.Ready(now, "proj-airi:providers", json.RawMessage(`{"source":"plugin-host"}`))
	text, _ := json.Marshal(descriptor)
	fmt.Println(string(text), err)
	// Output:
	// {"key":"proj-airi:providers","state":"ready","metadata":{"source":"plugin-host"},"updatedAt":1000} <nil>
}

// A goroutine waits until somebody, whoever it is, is ready to serve a key.
func ExampleRegistry_Wait() {
	registry := capability.New(capability.Options{})
	_, err := registry.Wait(context.Background(), "tool:greet", 20*time.Millisecond)
	fmt.Println(err)
	if late, ok := errors.AsType[*capability.TimeoutError](err); ok {
		fmt.Println("gave up", late.Key)
	}
	// Output:
	// Capability `tool:greet` is not ready after 20ms.
	// gave up tool:greet
}

// An actor does not wait: it is told, in the goroutine that changes the registry.
func ExampleRegistry_Watch() {
	registry := capability.New(capability.Options{})
	needs := capability.Requirements{
		{AnyOf: []capability.Key{"tool:greet"}},
		{AnyOf: []capability.Key{"model:TEXT_SMALL", "model:TEXT_LARGE"}},
	}
	fmt.Println("needs", needs)
	cancel, err := registry.Watch(needs, func(met bool, unmet []capability.Key) {
		fmt.Println(met, unmet)
	})
	if err != nil {
		fmt.Println(err)
	}
	defer cancel()
	for _, key := range []capability.Key{"tool:greet", "model:TEXT_LARGE"} {
		if _, _, err := registry.Ready(now, key, nil); err != nil {
			fmt.Println(err)
		}
	}
	if _, _, err := registry.Degrade(now, "tool:greet", nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// needs tool:greet, model:TEXT_SMALL or model:TEXT_LARGE
	// false [tool:greet model:TEXT_SMALL model:TEXT_LARGE]
	// true []
	// false [tool:greet]
}
