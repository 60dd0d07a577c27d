package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// home is a host that remembers what a plugin asked of it.
type home struct {
	served  []protocol.Call
	answer  json.RawMessage
	fail    error
	offered []string
	sent    []protocol.Event
	waited  []string
}

func (h *home) Module() protocol.Module { return protocol.Module{Plugin: "tested"} }

func (h *home) Serve(_ context.Context, c protocol.Call) (json.RawMessage, error) {
	h.served = append(h.served, c)
	return h.answer, h.fail
}

func (h *home) Wait(_ context.Context, keys ...string) error {
	h.waited = append(h.waited, keys...)
	return h.fail
}

func (h *home) Offer(o protocol.Offer) error {
	h.offered = append(h.offered, o.Key)
	return h.fail
}

func (h *home) Retract(key string) error {
	h.offered = append(h.offered, "-"+key)
	return h.fail
}

func (h *home) Emit(e protocol.Event) error {
	h.sent = append(h.sent, e)
	return h.fail
}

func (h *home) Log() *slog.Logger { return slog.New(slog.DiscardHandler) }

type person struct {
	Name string `json:"name"`
}

func call(t *testing.T, p *plugin.Definition, key, input string) (string, error) {
	t.Helper()
	result, err := p.Open(&home{}).Invoke(t.Context(), &protocol.Call{Key: key, Input: json.RawMessage(input)})
	return string(result), err
}

func TestOffers_haveTheirKindsKeysAndShapes(t *testing.T) {
	p := plugin.Define("kinds")
	plugin.Tool(p, "greet", func(_ context.Context, in person) (plugin.Result, error) {
		return plugin.Text("Hello, " + in.Name + "!"), nil
	}, plugin.Describe("greets"), plugin.Priority(3), plugin.InputSchema([]byte(`{"type":"object"}`)))
	plugin.Action(p, "WAVE", func(_ context.Context, in plugin.Invocation[person]) (string, error) {
		return in.Params.Name + string(in.State), nil
	})
	plugin.Model(p, "TEXT_SMALL", func(_ context.Context, in string) (int, error) { return len(in), nil })
	plugin.On(p, "tick", func(_ context.Context, _ int) error { return errors.New("heard it") })
	plugin.Handle(p, "raw:key", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })

	require.Equal(t, "kinds", p.Name())
	require.Equal(t, protocol.Offer{
		Key: "tool:greet", Invocable: true, Priority: 3, Description: "greets", InputSchema: []byte(`{"type":"object"}`),
	}, p.Offers()[0])

	tests := []struct{ key, input, result, err string }{
		{"tool:greet", `{"name":"Ada"}`, `{"content":"Hello, Ada!"}`, ""},
		{"tool:greet", ``, `{"content":"Hello, !"}`, ""},
		{"action:WAVE", `{"params":{"name":"Ada"},"state":{"x":1}}`, `"Ada{\"x\":1}"`, ""},
		{"model:TEXT_SMALL", `"four"`, `4`, ""},
		{"event:tick", `1`, ``, "heard it"},
		{"raw:key", `{"a": 1}`, `{"a": 1}`, ""},
		{"tool:greet", `{"name":7}`, ``, `the input's field "name": expected string, got number`},
		{"tool:greet", `[]`, ``, `the input's field "(the whole)": expected plugin_test.person, got array`},
		{"tool:greet", `{`, ``, `the input is not valid JSON: unexpected end of JSON input`},
		{"tool:none", `{}`, ``, `plugin tested has no handler for tool:none`},
	}
	for _, test := range tests {
		t.Run(test.key+" "+test.input, func(t *testing.T) {
			result, err := call(t, p, test.key, test.input)
			require.Equal(t, test.result, result)
			if test.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, test.err)
			}
		})
	}
}

func TestDefinition_offeringOneKeyTwicePanics(t *testing.T) {
	p := plugin.Define("twice")
	offer := func() {
		plugin.Tool(p, "x", func(context.Context, any) (plugin.Result, error) { return plugin.Result{}, nil })
	}
	offer()
	require.PanicsWithValue(t, "plugin twice offers tool:x twice", offer)
}

func TestSession_hooksRunOnlyWhereThereAreAny(t *testing.T) {
	var ran []string
	hook := func(name string) plugin.Hook {
		return func(ctx context.Context, s *plugin.Session) error {
			ran = append(ran, name)
			require.Same(t, s, plugin.From(ctx))
			return nil
		}
	}
	port := plugin.Define("hooks").OnInit(hook("init")).OnStop(hook("stop")).Open(&home{})
	require.False(t, port.Has(protocol.StepLoad))
	require.False(t, port.Has(protocol.StepSetup))
	for _, step := range []protocol.Step{protocol.StepInit, protocol.StepStop} {
		require.True(t, port.Has(step))
		require.NoError(t, port.Run(t.Context(), step))
	}
	require.Equal(t, []string{"init", "stop"}, ran)
	require.Nil(t, plugin.From(t.Context()))
}

func TestSession_offersWhileItRuns(t *testing.T) {
	h := &home{}
	p := plugin.Define("late").OnSetup(func(_ context.Context, s *plugin.Session) error {
		for _, word := range []string{"old", "new"} {
			plugin.Model(s, "M", func(context.Context, any) (string, error) { return word, nil })
		}
		return s.Withdraw("model:OTHER")
	})
	port := p.Open(h)
	require.NoError(t, port.Run(t.Context(), protocol.StepSetup))
	require.Equal(t, []string{"model:M", "model:M", "-model:OTHER"}, h.offered)
	result, err := port.Invoke(t.Context(), &protocol.Call{Key: "model:M"})
	require.NoError(t, err)
	require.JSONEq(t, `"new"`, string(result), "the newer handler takes the older one's place")
}

func TestSession_aRefusedOfferFailsItsHook(t *testing.T) {
	h := &home{fail: errors.New("too many")}
	p := plugin.Define("refused").OnSetup(func(_ context.Context, s *plugin.Session) error {
		plugin.Model(s, "M", func(context.Context, any) (any, error) { return nil, nil })
		return nil
	})
	require.EqualError(t, p.Open(h).Run(t.Context(), protocol.StepSetup), "offering model:M: too many")
}

func TestSession_callsWaitsAndSends(t *testing.T) {
	h := &home{answer: json.RawMessage(`{"name":"Ada"}`)}
	var got person
	p := plugin.Define("caller").OnInit(func(ctx context.Context, s *plugin.Session) error {
		require.Equal(t, "tested", s.Plugin())
		return errors.Join(
			s.Wait(ctx, "tool:a", "tool:b"),
			s.Call(ctx, "tool:a", person{"in"}, &got),
			s.Call(ctx, "tool:b", nil, nil),
			s.Send("hello", 1),
		)
	})
	require.NoError(t, p.Open(h).Run(t.Context(), protocol.StepInit))
	require.Equal(t, person{"Ada"}, got)
	require.Equal(t, []string{"tool:a", "tool:b"}, h.waited)
	require.JSONEq(t, `{"name":"in"}`, string(h.served[0].Input))
	require.Equal(t, []protocol.Event{{Name: "hello", Payload: 1}}, h.sent)

	h.answer = json.RawMessage(`7`)
	p.OnInit(func(ctx context.Context, s *plugin.Session) error { return s.Call(ctx, "tool:a", 1, &got) })
	require.ErrorContains(t, p.Open(h).Run(t.Context(), protocol.StepInit), "the result of tool:a: ")
	p.OnInit(func(ctx context.Context, s *plugin.Session) error { return s.Call(ctx, "tool:a", func() {}, nil) })
	require.ErrorContains(t, p.Open(h).Run(t.Context(), protocol.StepInit), "the input for tool:a: ")
}

func TestSession_listensToItsChannelInOrder(t *testing.T) {
	var heard []string
	port := plugin.Define("listener").OnInit(func(_ context.Context, s *plugin.Session) error {
		for _, who := range []string{"a", "b"} {
			s.Listen(func(e protocol.Event) { heard = append(heard, who+e.Name) })
		}
		return nil
	}).Open(&home{})
	require.False(t, port.Listens())
	port.Emit(protocol.Event{Name: "0"})
	require.NoError(t, port.Run(t.Context(), protocol.StepInit))
	require.True(t, port.Listens())
	port.Emit(protocol.Event{Name: "1"})
	port.Emit(protocol.Event{Name: "2"})
	require.Equal(t, []string{"a1", "b1", "a2", "b2"}, heard)
}

// configured is a home that tells a configuration.
type configured struct {
	*home
	config json.RawMessage
}

func (c *configured) Config() json.RawMessage { return c.config }

func TestSession_tellsItsConfiguration(t *testing.T) {
	h := &configured{home: &home{}}
	name := person{"default"}
	p := plugin.Define("p").OnSetup(func(_ context.Context, s *plugin.Session) error { return s.Config(&name) })
	require.NoError(t, p.Open(h.home).Run(t.Context(), protocol.StepSetup))
	require.NoError(t, p.Open(h).Run(t.Context(), protocol.StepSetup))
	require.Equal(t, person{"default"}, name, "there is none")
	h.config = json.RawMessage(`{"name":"Ada"}`)
	require.NoError(t, p.Open(h).Run(t.Context(), protocol.StepSetup))
	require.Equal(t, person{"Ada"}, name)
	h.config = json.RawMessage(`7`)
	require.ErrorContains(t, p.Open(h).Run(t.Context(), protocol.StepSetup), "the configuration: json: ")
}

func TestSession_withdrawnOffersAreGone(t *testing.T) {
	h := &home{}
	p := plugin.Define("p")
	plugin.Data(p, "d", func(context.Context, any) (any, error) { return nil, nil })
	p.OnSetup(func(_ context.Context, s *plugin.Session) error { return s.Withdraw("data:d") })
	port := p.Open(h)
	h.fail = errors.New("no")
	require.EqualError(t, port.Run(t.Context(), protocol.StepSetup), "no")
	_, err := port.Invoke(t.Context(), &protocol.Call{Key: "data:d"})
	require.NoError(t, err, "what could not be withdrawn stays")
	h.fail = nil
	require.NoError(t, port.Run(t.Context(), protocol.StepSetup))
	_, err = port.Invoke(t.Context(), &protocol.Call{Key: "data:d"})
	require.EqualError(t, err, "plugin tested has no handler for data:d")
}
