package main

import (
	"context"

	"github.com/airi-host/airi-host/plugin"
)

// echoed is what the worker takes and gives.
type echoed struct {
	Text string `json:"text"`
}

// echoWorker serves a worker on this project's SDK that gives back what it gets, as
// an author would write it.
func echoWorker(opts plugin.PaperclipOptions) error {
	p := plugin.Define("echo")
	plugin.Data(p, "echo", func(_ context.Context, in echoed) (echoed, error) { return in, nil })
	return plugin.ServePaperclip(context.Background(), p, opts)
}
