package actors_test

import (
	"context"
	"fmt"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// hello is a plugin that greets.
func hello() *plugin.Definition {
	type person struct {
		Name string `json:"name"`
	}
	p := plugin.Define("hello")
	plugin.Tool(p, "greet", func(_ context.Context, who person) (plugin.Result, error) {
		return plugin.Text("Hello, " + who.Name + "!"), nil
	})
	return p
}

// builtin is the manifest of a plugin that is compiled in; one that comes from a
// file is found by manifest.Discover.
func builtin(name string) *manifest.Manifest {
	return &manifest.Manifest{
		Dialect: manifest.DialectAIRI, Name: name, Entrypoints: manifest.Entrypoints{Go: new("builtin:" + name)},
	}
}

// A host starts a plugin that is compiled in, and calls what it offers.
func Example() {
	ctx := context.Background()
	host, err := actors.New(actors.Options{
		Programs: map[string]protocol.Program{"hello": hello()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = host.Shutdown(ctx) }()

	info, err := host.Start(ctx, builtin("hello"), actors.StartOptions{})
	fmt.Println(info.Plugin, info.Phase, err)
	result, err := host.Invoke(ctx, protocol.Call{Key: "tool:greet", Input: []byte(`{"name":"Ada"}`)})
	fmt.Println(string(result), err)
	// Output:
	// hello ready <nil>
	// {"content":"Hello, Ada!"} <nil>
}

// A plugin that needs its configuration waits for it, and says so to callers.
func ExampleHost_ApplyConfiguration() {
	ctx := context.Background()
	host, err := actors.New(actors.Options{
		Programs: map[string]protocol.Program{"hello": hello()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = host.Shutdown(ctx) }()

	info, err := host.Start(ctx, builtin("hello"), actors.StartOptions{RequireConfiguration: true})
	fmt.Println(info.Phase, err)
	_, err = host.Invoke(ctx, protocol.Call{Key: "tool:greet", Plugin: "hello"})
	fmt.Println(protocol.CodeOf(err))
	info, err = host.ApplyConfiguration(ctx, info.ID, protocol.Config{ID: "mine", Revision: 1, Full: []byte(`{"loud":true}`)})
	fmt.Println(info.Phase, err)
	// Output:
	// configuration-needed <nil>
	// not-ready
	// ready <nil>
}

// Whoever subscribes hears every phase of every session, in order.
func ExampleHost_Subscribe() {
	ctx := context.Background()
	host, err := actors.New(actors.Options{
		Programs: map[string]protocol.Program{"hello": hello()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = host.Shutdown(ctx) }()

	events := host.Subscribe(actors.KindPhase, 0)
	defer events.Close()
	if _, err := host.Start(ctx, builtin("hello"), actors.StartOptions{}); err != nil {
		fmt.Println(err)
	}
	for e := range events.C {
		if phase, ok := e.(actors.PhaseChanged); ok {
			fmt.Println(phase.Plugin, phase.From, "→", phase.To)
			if phase.To == lifecycle.Ready {
				break
			}
		}
	}
	// Output:
	// hello loading → loaded
	// hello loaded → authenticating
	// hello authenticating → authenticated
	// hello authenticated → announced
	// hello announced → preparing
	// hello preparing → prepared
	// hello prepared → configured
	// hello configured → ready
}
