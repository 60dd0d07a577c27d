package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// clock is a service.
type clock struct{ zone string }

// conversational is a plugin with all that an elizaOS host can call.
func conversational() *plugin.Definition {
	p := plugin.Define("conversational")
	plugin.Action(p, "GREET", func(ctx context.Context, in plugin.Invocation[person]) (plugin.ActionResult, error) {
		var config struct{ Greeting string }
		if err := plugin.From(ctx).Config(&config); err != nil {
			return plugin.ActionResult{}, err
		}
		for _, word := range []string{"one", "two"} {
			if err := plugin.Report(ctx, map[string]string{"text": word}); err != nil {
				return plugin.ActionResult{}, err
			}
		}
		return plugin.ActionResult{Success: true, Text: config.Greeting + ", " + in.Params.Name + "!"}, nil
	}, plugin.Similes("HI", "HELLO"), plugin.Describe("greets"), plugin.Examples(json.RawMessage(`[[]]`)),
		plugin.Validate(func(_ context.Context, in plugin.Turn) (bool, error) {
			return strings.Contains(string(in.Message), "hi"), nil
		}))
	plugin.Provider(p, "TIME", func(_ context.Context, in plugin.Turn) (plugin.Provided, error) {
		return plugin.Provided{Text: "noon", Values: map[string]any{"state": in.State}}, nil
	}, plugin.Dynamic(), plugin.Private(), plugin.Position(-3))
	plugin.Evaluator(p, "SCORE", func(_ context.Context, in plugin.Turn) (json.RawMessage, error) { return in.Message, nil },
		plugin.Validate(func(context.Context, plugin.Turn) (bool, error) { return false, errors.New("no idea") }))
	plugin.Model(p, "LENGTH", func(_ context.Context, in string) (int, error) { return len(in), nil })
	plugin.Stream(p, "model:WORDS", func(_ context.Context, in string, emit func(string) error) error {
		for word := range strings.FieldsSeq(in) {
			if err := emit(word); err != nil {
				return err
			}
		}
		return nil
	})
	plugin.Service(p, "clock", plugin.ServiceHooks[*clock]{
		Start: func(context.Context, *plugin.Session) (*clock, error) { return &clock{"UTC"}, nil },
	},
		plugin.Method("now", func(_ context.Context, c *clock, zone string) (string, error) { return "noon in " + zone + c.zone, nil }, plugin.Describe("tells the time")),
		plugin.Method("sum", func(_ context.Context, _ *clock, n []int) (sum int, _ error) {
			for _, one := range n {
				sum += one
			}
			return sum, nil
		}))
	plugin.On(p, "tick", func(_ context.Context, n int) error {
		if n < 0 {
			return errors.New("backwards")
		}
		return nil
	})
	plugin.HTTP(p, "GET /items/:id", func(_ context.Context, r plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		return plugin.HTTPResponse{Body: r.Params["id"] + r.Query.Get("q")}, nil
	}, plugin.Public(), plugin.Describe("an item"))
	plugin.HTTP(p, "POST /items", func(_ context.Context, r plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		return plugin.HTTPResponse{Status: 201, Headers: map[string]string{"x-a": "b"}, Body: r.Body}, nil
	})
	return p
}

// offered takes down what the host is offered, in order.
type offered struct {
	mu   sync.Mutex
	keys []string
	all  map[string]protocol.Offer
	said []string
	came chan string
}

func (o *offered) take(e protocol.Effect) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch e := e.(type) {
	case protocol.Offered:
		o.keys = append(o.keys, e.Offer.Key)
		o.all[e.Offer.Key] = e.Offer
		o.came <- e.Offer.Key
	case protocol.Progress:
		o.said = append(o.said, string(e.Item))
	case protocol.Emitted:
		payload, _ := e.Event.JSON()
		o.said = append(o.said, e.Event.Name+" "+string(payload))
	}
}

func (o *offered) list() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.keys)
}

// await waits until a key is offered.
func (o *offered) await(key string) {
	for came := ""; came != key; {
		came = <-o.came
	}
}

func (o *offered) heard() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.said)
}

// hears makes a host take down what it is told.
func (h *host) hears() *offered {
	o := &offered{all: map[string]protocol.Offer{}, came: make(chan string, 1024)}
	h.heard = o.take
	return o
}

func TestServeEliza_servesEveryKind(t *testing.T) {
	key := []byte("a key of thirty-two bytes or less")
	h := newElizaHost(t, eliza.Plugin{Key: key})
	told := h.hears()
	h.serveEliza(t.Context(), conversational(), plugin.ElizaOptions{Key: key}).begun()
	require.Equal(t, []string{
		"action:GREET", "action:GREET.validate", "provider:TIME", "model:LENGTH", "model:WORDS", "event:tick",
		"service:clock.now", "service:clock.sum", "evaluator:SCORE", "evaluator:SCORE.validate", "http:GET /items/:id", "http:POST /items",
	}, told.list())
	greet := told.all["action:GREET"]
	require.Equal(t, "greets", greet.Description)
	require.JSONEq(t, `{"similes":["HI","HELLO"],"examples":[[]],"validate":"action:GREET.validate"}`, string(greet.Metadata))
	require.JSONEq(t, `{"dynamic":true,"private":true,"position":-3}`, string(told.all["provider:TIME"].Metadata))
	require.JSONEq(t, `{"name":"GET /items/:id","public":true,"publicReason":"an item"}`, string(told.all["http:GET /items/:id"].Metadata))

	h.want("action:GREET", `{"params":{"name":"Ada"}}`, `{"success":true,"text":"Hello, Ada!"}`)
	h.want("action:GREET.validate", `{"message":{"content":{"text":"hi"}}}`, `true`)
	h.want("action:GREET.validate", `{"message":{}}`, `false`)
	h.want("provider:TIME", `{"state":{"a":1}}`, `{"text":"noon","values":{"state":{"a":1}}}`)
	h.want("evaluator:SCORE", `{"message":{"b":[2]}}`, `{"b":[2]}`)
	_, failure := h.call("evaluator:SCORE.validate", `{}`)
	require.Equal(t, "no idea", failure)
	h.want("model:LENGTH", `"four"`, `4`)
	h.want("model:WORDS", `"a b"`, `["a","b"]`)
	h.want("service:clock.now", `"Rome"`, `"noon in RomeUTC"`)
	h.want("service:clock.now", `[]`, `"noon in UTC"`)
	h.want("service:clock.sum", `[1,2,3]`, `6`)
	_, failure = h.call("service:clock.now", `["a","b"]`)
	require.Equal(t, "the arguments: expected one at most, got 2", failure)
	h.want("event:tick", `1`, `null`)
	_, failure = h.call("event:tick", `-1`)
	require.Equal(t, "backwards", failure)
	h.want("http:GET /items/:id", `{"params":{"id":"7"},"query":{"q":["x","y"]}}`, `{"status":200,"headers":{},"body":"7x"}`)
	h.want("http:POST /items", `{"body":{"n":1}}`, `{"status":201,"headers":{"x-a":"b"},"body":{"n":1}}`)
	require.NoError(t, h.close())
	require.Empty(t, h.dropped)
}

func TestServeEliza_saysThingsOnTheWay(t *testing.T) {
	h := newElizaHost(t, eliza.Plugin{})
	told := h.hears()
	p := conversational()
	plugin.Stream(p, "action:COUNT", func(_ context.Context, _ any, emit func(int) error) error { return errors.Join(emit(1), emit(2)) })
	h.serveEliza(t.Context(), p, plugin.ElizaOptions{}).begun()
	end := <-h.invoke("action:GREET", `{"params":{"name":"Ada"}}`, true)
	require.NoError(t, end.Err)
	end = <-h.invoke("model:WORDS", `"a b"`, true)
	require.NoError(t, end.Err)
	require.Equal(t, "null", string(end.Result), "the items are its answer")
	require.Equal(t, []string{`{"text":"one"}`, `{"text":"two"}`, "", `"a"`, `"b"`}, told.heard())
	h.want("action:COUNT", `{}`, `{"success":true,"data":{"result":[1,2]}}`)
	require.NoError(t, h.close())
}

// A model whose parts nobody takes any more is told so by its context.
func TestServeEliza_aModelHearsThatItWasLeft(t *testing.T) {
	left := make(chan error, 1)
	p := plugin.Define("p")
	plugin.Stream(p, "model:M", func(ctx context.Context, _ any, emit func(int) error) error {
		err := emit(1)
		if err == nil {
			<-ctx.Done()
			err = emit(2)
		}
		left <- err
		return err
	})
	h := newElizaHost(t, eliza.Plugin{})
	first := make(chan bool, 8)
	h.heard = func(e protocol.Effect) {
		if p, ok := e.(protocol.Progress); ok && p.Item != nil {
			first <- true
		}
	}
	h.serveEliza(t.Context(), p, plugin.ElizaOptions{}).begun()
	h.invoke("model:M", `1`, true)
	<-first
	h.step(protocol.Cancel{ID: 1})
	require.ErrorIs(t, <-left, context.Canceled)
	require.NoError(t, h.close())
}

func TestServeEliza_results(t *testing.T) {
	for result, want := range map[string]string{
		`null`:                          `null`,
		`7`:                             `{"success":true,"data":{"result":7}}`,
		`[1]`:                           `{"success":true,"data":{"result":[1]}}`,
		`{}`:                            `{"success":true}`,
		` { "text" : "x" } `:            `{"success":true,"text":"x"}`,
		`{"text":7}`:                    `{"success":true,"data":{"result":{"text":7}}}`,
		`{"success":false,"error":"x"}`: `{"success":false,"error":"x"}`,
		`{"success":"yes"}`:             `{"success":true,"data":{"result":{"success":"yes"}}}`,
		`{"error":{"message":"m"}}`:     `{"success":true,"error":{"message":"m"}}`,
		`{"error":{}}`:                  `{"success":true,"data":{"result":{"error":{}}}}`,
		`{"values":{},"data":[]}`:       `{"success":true,"data":{"result":{"values":{},"data":[]}}}`,
	} {
		p := plugin.Define("p")
		plugin.Handle(p, "action:A", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(result), nil })
		h := newElizaHost(t, eliza.Plugin{}).serveEliza(t.Context(), p, plugin.ElizaOptions{}).begun()
		h.want("action:A", `{}`, want)
		require.NoError(t, h.close())
	}
}

// What an action is given is what the kind has: the options are its parameters as well.
func TestServeEliza_inputs(t *testing.T) {
	p := plugin.Define("p")
	plugin.Handle(p, "action:A", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"success":true,"data":{"in":` + string(in) + `}}`), nil
	})
	h := newElizaHost(t, eliza.Plugin{}).serveEliza(t.Context(), p, plugin.ElizaOptions{}).begun()
	h.want("action:A", `{"params":{"n":1},"message":{"id":"m"},"responses":[{}]}`,
		`{"success":true,"data":{"in":{"params":{"n":1},"options":{"n":1},"message":{"id":"m"},"state":{},"responses":[{}]}}}`)
	h.want("eliza:action action:A:1", `{"options":null,"message":null,"callbackId":"c"}`, `{"success":true,"data":{"in":{}}}`)
	h.want("eliza:action action:A:1", `{"options":[1],"state":{}}`, `{"success":true,"data":{"in":{"options":[1],"state":{}}}}`)
}

func TestServeEliza_failures(t *testing.T) {
	p := plugin.Define("p")
	fails := func(name string, err error) {
		plugin.Model(p, name, func(context.Context, any) (any, error) { return nil, err })
	}
	fails("PLAIN", errors.New("plain"))
	fails("NAMED", &protocol.PeerError{Name: "RangeError", Message: "too far", Code: json.RawMessage(`"FAR"`)})
	fails("CAUSED", fmt.Errorf("outer: %w", errors.New("inner")))
	fails("CODED", &protocol.Error{Code: protocol.CodeDenied, Message: "no", Err: errors.New("why")})
	plugin.Model(p, "PANIC", func(context.Context, any) (any, error) { panic("boom") })
	h := newElizaHost(t, eliza.Plugin{}).serveEliza(t.Context(), p, plugin.ElizaOptions{}).begun()
	for key, want := range map[string]string{
		"PLAIN": "plain Error - -", "NAMED": "too far RangeError FAR -", "CAUSED": `outer: inner Error - {"name":"Error","message":"inner"}`,
		"CODED": `no: why Error denied {"name":"Error","message":"why"}`,
		"PANIC": "plugin tested: the handler of model:PANIC panicked: boom Error - -",
	} {
		end := <-h.begin("model:"+key, `1`)
		var e *eliza.RemoteError
		require.ErrorAs(t, end.Err, &e)
		code, coded := e.Code()
		if !coded {
			code = "-"
		}
		cause := string(e.Cause)
		if cause == "" {
			cause = "-"
		}
		require.Equal(t, want, strings.Join([]string{e.Error(), e.Name(), code, cause}, " "))
	}
}
