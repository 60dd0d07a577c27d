// Package sky is a plugin with something of every kind, which is compiled in, or a worker of
// an elizaOS or a Paperclip host, and does the same in all three.
package sky

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// Wish is what somebody wants to know.
type Wish struct {
	What string `json:"what"`
}

// Order is a call that the plugin is to make of another one, or of the host.
type Order struct {
	Key   string          `json:"key"`
	Input json.RawMessage `json:"input"`
	// Follow has what comes before the result, too.
	Follow bool `json:"follow"`
}

// Answered is what came of it.
type Answered struct {
	Result json.RawMessage   `json:"result,omitempty"`
	Items  []json.RawMessage `json:"items,omitempty"`
	Failed string            `json:"failed,omitempty"`
}

// almanac is what one process remembers.
type almanac struct {
	mu       sync.Mutex
	heard    []int
	openings int
}

// Plugin is the almanac.
func Plugin() *plugin.Definition {
	a := &almanac{}
	p := plugin.Define("almanac")
	a.talks(p)
	a.works(p)
	p.OnInit(func(context.Context, *plugin.Session) error {
		fmt.Println("the almanac prints something") // which must not disturb the wire
		return nil
	})
	p.OnSetup(func(_ context.Context, s *plugin.Session) error {
		config := struct{ City string }{"nowhere"}
		if err := s.Config(&config); err != nil {
			return err
		}
		plugin.Action(s, "CITY", func(context.Context, plugin.Invocation[struct{}]) (plugin.ActionResult, error) {
			return plugin.ActionResult{Success: true, Text: config.City}, nil
		})
		return nil
	})
	return p
}

// talks offers what belongs to conversations.
func (a *almanac) talks(p *plugin.Definition) {
	plugin.Action(p, "TELL", tell,
		plugin.Describe("tells what the sky does"), plugin.Similes("SKY", "LOOK_UP"),
		plugin.Validate(func(_ context.Context, in plugin.Turn) (bool, error) {
			return strings.Contains(string(in.Message), "sky"), nil
		}))
	plugin.Action(p, "CALL", func(ctx context.Context, in plugin.Invocation[Order]) (plugin.ActionResult, error) {
		return plugin.ActionResult{Success: true, Data: map[string]any{"got": call(ctx, in.Params)}}, nil
	})
	plugin.Action(p, "FAIL", func(_ context.Context, in plugin.Invocation[Wish]) (any, error) { return nil, fail(in.Params) })
	plugin.Provider(p, "SKY", func(_ context.Context, in plugin.Turn) (plugin.Provided, error) {
		return plugin.Provided{Text: "clear", Values: map[string]any{"asked": in.Message}}, nil
	}, plugin.Position(3))
	plugin.Evaluator(p, "MOOD", func(_ context.Context, in plugin.Turn) (json.RawMessage, error) { return in.State, nil },
		plugin.Validate(func(context.Context, plugin.Turn) (bool, error) { return true, nil }))
	plugin.Model(p, "UPPER", func(_ context.Context, in Wish) (string, error) { return strings.ToUpper(in.What), fail(in) })
	plugin.Stream(p, "model:WORDS", func(_ context.Context, in Wish, emit func(string) error) error {
		for word := range strings.FieldsSeq(in.What) {
			if err := emit(word); err != nil {
				return err
			}
		}
		return fail(in)
	})
	plugin.Service(p, "calendar", plugin.ServiceHooks[*almanac]{
		Start: func(context.Context, *plugin.Session) (*almanac, error) {
			if a.openings++; a.openings == 1 {
				return nil, errors.New("the calendar is locked")
			}
			return a, nil
		},
	},
		plugin.Method("openings", func(_ context.Context, a *almanac, _ any) (int, error) { return a.openings, nil }),
		plugin.Method("next", func(_ context.Context, _ *almanac, day int) (int, error) { return day + 1, nil }),
		plugin.Method("sum", func(_ context.Context, _ *almanac, days []int) (sum int, _ error) {
			for _, day := range days {
				sum += day
			}
			return sum, nil
		}))
}

// works offers the rest.
func (a *almanac) works(p *plugin.Definition) {
	plugin.Tool(p, "look", func(_ context.Context, in Wish) (plugin.Result, error) {
		return plugin.Result{Content: "the " + in.What + " is up", Data: in}, fail(in)
	})
	plugin.Data(p, "phase", func(_ context.Context, in Wish) (string, error) { return "half " + in.What, fail(in) })
	plugin.Job(p, "turn", func(_ context.Context, r plugin.Run) error { return a.hear(len(r.Trigger)) })
	plugin.Webhook(p, "star", func(_ context.Context, d plugin.Delivery) error { return a.hear(len(d.RawBody)) })
	plugin.On(p, "sky.turned", func(_ context.Context, in map[string]int) error { return a.hear(in["by"]) })
	plugin.HTTP(p, "GET /days/:n", func(_ context.Context, r plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		return plugin.HTTPResponse{Body: "day " + r.Params["n"] + r.Query.Get("of")}, nil
	})
	plugin.HTTP(p, "POST /days", func(_ context.Context, r plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		return plugin.HTTPResponse{Status: 201, Headers: map[string]string{"x-sky": "clear"}, Body: r.Body}, nil
	})
	plugin.Action(p, "HEARD", func(context.Context, plugin.Invocation[struct{}]) (plugin.ActionResult, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		return plugin.ActionResult{Success: true, Data: map[string]any{"heard": append([]int{}, a.heard...)}}, nil
	})
}

// tell says two things before its answer.
func tell(ctx context.Context, in plugin.Invocation[Wish]) (plugin.ActionResult, error) {
	for _, said := range []string{"looking up", "still looking"} {
		if err := plugin.Report(ctx, map[string]string{"text": said}); err != nil {
			return plugin.ActionResult{}, err
		}
	}
	return plugin.ActionResult{Success: true, Text: "the " + in.Params.What + " is up"}, nil
}

// call makes a call for the sake of ctx's.
func call(ctx context.Context, o Order) (got Answered) {
	var opts []plugin.CallOption
	if o.Follow {
		opts = append(opts, plugin.Follow(func(item json.RawMessage) error {
			got.Items = append(got.Items, item)
			return nil
		}))
	}
	if err := plugin.From(ctx).Call(ctx, o.Key, o.Input, &got.Result, opts...); err != nil {
		return Answered{Failed: err.Error()}
	}
	return got
}

// fail is a failure with a name and a code, where it is wished for.
func fail(in Wish) error {
	if in.What != "failure" {
		return nil
	}
	return &protocol.PeerError{Name: "SkyError", Message: "the sky has fallen", Code: json.RawMessage(`"FALLEN"`)}
}

func (a *almanac) hear(n int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = append(a.heard, n)
	return nil
}
