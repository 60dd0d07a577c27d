// Package words is a plugin in Go. It counts the words of texts.
package words

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/airi-host/airi-host/plugin"
)

// Text is what tool:count takes.
type Text struct {
	Text string `json:"text"`
}

// Line is what it reports of each line.
type Line struct {
	Line  int `json:"line"`
	Words int `json:"words"`
}

var schema = []byte(`{"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}`)

// Plugin is the plugin, to be compiled in or to be a worker.
func Plugin() *plugin.Definition {
	var total atomic.Int64
	p := plugin.Define("words")
	plugin.Tool(p, "count", func(ctx context.Context, in Text) (plugin.Result, error) {
		sum := 0
		for i, line := range strings.Split(in.Text, "\n") {
			words := len(strings.Fields(line))
			sum += words
			if err := plugin.Report(ctx, Line{Line: i + 1, Words: words}); err != nil {
				return plugin.Result{}, err
			}
		}
		total.Add(int64(sum))
		return plugin.Text(fmt.Sprintf("%d words", sum)), nil
	}, plugin.Describe("counts the words of a text"), plugin.InputSchema(schema))
	plugin.Data(p, "total", func(context.Context, struct{}) (int64, error) { return total.Load(), nil })
	return p
}
