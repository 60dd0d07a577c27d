// Command go-caller is a worker in Go that calls a handler which an AIRI module
// defines: that of examples/airi-module.
package main

import (
	"context"

	"github.com/airi-host/airi-host/plugin"
)

// Note is what tool:note and the module's tool:tidy take.
type Note struct {
	Text string `json:"text"`
}

func main() {
	p := plugin.Define("caller")
	plugin.Tool(p, "note", func(ctx context.Context, in Note) (plugin.Result, error) {
		var tidy plugin.Result
		if err := plugin.From(ctx).Call(ctx, "tool:tidy", in, &tidy); err != nil {
			return plugin.Result{}, err
		}
		return plugin.Text("noted: " + tidy.Content), nil
	})
	plugin.Main(p)
}
