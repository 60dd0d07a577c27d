package actors_test

import (
	"context"
	"fmt"
	"io"

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

// A command's log comes while it runs, before its result. Its driver is a worker as a rule;
// this one is compiled in.
func ExampleHost_Execute() {
	ctx := context.Background()
	shed := plugin.Define("shed")
	plugin.Environment(shed, "shed", plugin.EnvironmentHooks{
		Execute: func(_ context.Context, e plugin.EnvironmentExecution, log *plugin.ExecutionLog) (plugin.EnvironmentExecuted, error) {
			_, _ = fmt.Fprintln(log.Stdout, "running", e.Command)
			return plugin.EnvironmentExecuted{ExitCode: new(0), Stdout: "running " + e.Command + "\n"}, nil
		},
	})
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"shed": shed}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = host.Shutdown(ctx) }()
	_, err = host.Start(ctx, builtin("shed"), actors.StartOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	done, err := host.Execute(ctx, actors.ExecuteRequest{
		Driver: "shed", Scope: "acme", Params: []byte(`{"environmentId":"e","config":{},"lease":{"providerLeaseId":"l"},"command":"make"}`),
	}, func(c protocol.LogChunk) error {
		fmt.Printf("%s: %s", c.Stream, c.Text)
		return nil
	})
	fmt.Println(*done.ExitCode, err)
	// Output:
	// stdout: running make
	// 0 <nil>
}

// A channel at a plugin is read and written as any other one.
func ExampleHost_OpenDuplex() {
	talk := func(ctx context.Context, host *actors.Host) (string, error) {
		channel, err := host.OpenDuplex(ctx, actors.RouteRequest{
			Plugin: "cloud", Scope: "acme",
			Params: []byte(`{"driverKey":"vm","environmentId":"e","providerLeaseId":"l","command":["head","-n1"]}`),
		})
		if err != nil {
			return "", err
		}
		defer func() { _ = channel.Close() }()
		if _, err := io.WriteString(channel, "hello\n"); err != nil {
			return "", err
		}
		said, err := io.ReadAll(channel) // until the program has ended
		if err != nil {
			return "", err
		}
		exit, err := channel.Wait(ctx)
		return fmt.Sprintf("%s, status %d", said, exit.Code), err
	}

	ctx := context.Background()
	host, err := actors.New(actors.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = host.Shutdown(ctx) }()
	_, err = talk(ctx, host)
	fmt.Println(err)
	// Output:
	// no plugin cloud runs: no duplex is opened
}
