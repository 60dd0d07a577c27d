// Package greeter is a plugin written in Go and compiled into the host: it offers
// a tool, keeps count in an event handler, and answers an action with the count.
package greeter

import (
	"context"
	"sync/atomic"

	"github.com/airi-host/airi-host/plugin"
)

// Person is whom to greet.
type Person struct {
	Name string `json:"name"`
}

// Plugin is the greeter.
func Plugin() *plugin.Definition {
	var greeted atomic.Int64
	p := plugin.Define("greeter")
	plugin.Tool(p, "greet", func(ctx context.Context, who Person) (plugin.Result, error) {
		if who.Name == "" {
			return plugin.Result{Error: "whom? give a name"}, nil
		}
		greeted.Add(1)
		plugin.From(ctx).Log().Info("greeting", "name", who.Name)
		return plugin.Text("Hello, " + who.Name + "!"), nil
	}, plugin.Describe("greets somebody by name"))
	plugin.Action(p, "COUNT_GREETINGS", func(context.Context, plugin.Invocation[struct{}]) (int64, error) {
		return greeted.Load(), nil
	}, plugin.Describe("tells how many were greeted"))
	plugin.On(p, "greeter.reset", func(context.Context, any) error {
		greeted.Store(0)
		return nil
	})
	return p
}
