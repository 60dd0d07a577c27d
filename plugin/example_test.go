package plugin_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/airi-host/airi-host/plugin"
)

// A plugin offers a tool that counts whom it has greeted; the event
// "greeter.reset" starts the count anew.
func ExampleDefine() {
	var greeted atomic.Int64
	p := plugin.Define("greeter")
	plugin.Tool(p, "greet", func(_ context.Context, who struct{ Name string }) (plugin.Result, error) {
		if who.Name == "" {
			return plugin.Result{Error: "whom? give a name"}, nil
		}
		n := greeted.Add(1)
		return plugin.Result{Content: "Hello, " + who.Name + "!", Data: n}, nil
	}, plugin.Describe("greets somebody by name"))
	plugin.On(p, "greeter.reset", func(context.Context, struct{}) error {
		greeted.Store(0)
		return nil
	})

	for _, offer := range p.Offers() {
		fmt.Printf("%s: %q\n", offer.Key, offer.Description)
	}
	// Output:
	// tool:greet: "greets somebody by name"
	// event:greeter.reset: ""
}

// A plugin that uses others asks for them in a hook or a handler, through its
// session. What its manifest requires is ready when the init hook runs.
func ExampleDefinition_OnInit() {
	p := plugin.Define("guest")
	p.OnInit(func(ctx context.Context, s *plugin.Session) error {
		var greeting plugin.Result
		if err := s.Call(ctx, "tool:greet", map[string]string{"name": s.Plugin()}, &greeting); err != nil {
			return err
		}
		s.Log().Info("greeted", "text", greeting.Content)
		return nil
	})
}
