package plugintest_test

import (
	"context"
	"testing"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/plugin/plugintest"
)

// Person is whom to greet.
type Person struct {
	Name string `json:"name"`
}

// greeter greets in the words of its configuration, and asks another plugin for the time.
func greeter() *plugin.Definition {
	p := plugin.Define("greeter")
	plugin.Tool(p, "greet", func(ctx context.Context, who Person) (plugin.Result, error) {
		config := struct{ Greeting string }{"Hi"}
		var now plugin.Result
		if err := plugin.From(ctx).Config(&config); err != nil {
			return now, err
		}
		if err := plugin.From(ctx).Call(ctx, "tool:time", struct{}{}, &now); err != nil {
			return now, err
		}
		plugin.From(ctx).Log().Info("greeting", "name", who.Name)
		return plugin.Text(config.Greeting + ", " + who.Name + "! " + now.Content), nil
	})
	return p
}

// A plugin is tested without a process: what it asks of others is answered by functions.
func ExampleStart() {
	_ = func(t *testing.T) { //nolint:thelper // it is a test: func TestGreet(t *testing.T)
		host := plugintest.Start(t, greeter(), plugintest.Options{
			Config:  map[string]string{"greeting": "Hello"},
			Answers: map[string]plugintest.Answer{"tool:time": plugintest.Value(plugin.Text("It is noon."))},
		})
		var result plugin.Result
		if err := host.Call("tool:greet", Person{"Ada"}, &result); err != nil {
			t.Fatal(err)
		}
		if result.Content != "Hello, Ada! It is noon." || len(host.Calls("tool:time")) != 1 {
			t.Error(result.Content, host.Log())
		}
	}
}
