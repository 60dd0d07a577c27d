package ws_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/plugin/ws"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/websocket"
)

type person struct {
	Name string `json:"name"`
}

func greet(_ context.Context, in person) (plugin.Result, error) {
	if in.Name == "" {
		return plugin.Result{}, errors.New("whom? give a name")
	}
	return plugin.Text("Hello, " + in.Name + "!"), nil
}

// greeter is a plugin of the host's own.
func greeter() *plugin.Definition {
	p := plugin.Define("greeter")
	plugin.Tool(p, "greet", greet)
	return p
}

func TestServe_makesAPluginAModule(t *testing.T) {
	heard := make(chan string, 8)
	p := plugin.Define("chat")
	plugin.Tool(p, "shout", func(_ context.Context, in person) (plugin.Result, error) {
		return plugin.Text(strings.ToUpper(in.Name)), nil
	}, plugin.Describe("Shouts."))
	plugin.Tool(p, "panic", func(context.Context, person) (plugin.Result, error) { panic("oh") })
	plugin.Handle(p, "chat:say", func(_ context.Context, input json.RawMessage) (json.RawMessage, error) { return input, nil })
	plugin.On(p, "rain", func(_ context.Context, in person) error {
		heard <- in.Name
		return nil
	})
	plugin.Action(p, "GREET", func(ctx context.Context, in plugin.Invocation[person]) (string, error) {
		var out plugin.Result
		err := plugin.From(ctx).Call(ctx, "tool:greet", in.Params, &out)
		return out.Content, err
	})
	plugin.Stream(p, "model:WORDS", func(_ context.Context, in string, emit func(string) error) error {
		for _, word := range strings.Fields(in) {
			if err := emit(word); err != nil {
				return err
			}
		}
		return nil
	})
	plugin.Action(p, "RAIN", func(ctx context.Context, _ plugin.Invocation[struct{}]) (any, error) {
		return nil, plugin.From(ctx).Call(ctx, "event:sun", person{"Ra"}, nil)
	})
	stopped := make(chan struct{})
	p.OnSetup(func(_ context.Context, s *plugin.Session) error {
		plugin.Data(s, "late", func(context.Context, any) (int, error) { return 7, nil })
		return nil
	})
	p.OnStop(func(context.Context, *plugin.Session) error {
		close(stopped)
		return nil
	})

	sun := make(chan string, 1)
	g := greeter()
	plugin.On(g, "sun", func(_ context.Context, in person) error {
		sun <- in.Name
		return nil
	})
	r := start(t, gateway.Options{}, g)
	stop := r.serve(p, ws.Options{Instance: "one"})
	r.wantPhase("chat", lifecycle.Ready)

	for _, c := range []struct{ key, input, want, fails string }{
		{key: "tool:shout", input: `{"name":"ada"}`, want: `{"content":"ADA"}`},
		{key: "chat:say", input: `[1,{"a":2}]`, want: `[1,{"a":2}]`},
		{key: "action:GREET", input: `{"params":{"name":"Ada"}}`, want: `"Hello, Ada!"`},
		{key: "action:GREET", input: `{"params":{}}`, fails: "whom? give a name"},
		{key: "tool:panic", input: `{}`, fails: "plugin chat: the handler of tool:panic panicked: oh"},
		{key: "model:WORDS", input: `"sun and moon"`, want: `["sun","and","moon"]`},
		{key: "data:late", input: `null`, want: `7`},
		{key: "action:RAIN", input: `{}`, want: `null`},
	} {
		got, err := r.call(c.key, c.input)
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails, c.key)
			continue
		}
		require.NoError(t, err, c.key)
		require.JSONEq(t, c.want, got, c.key)
	}
	require.Equal(t, "Ra", <-sun)

	_, err := r.call("event:rain", `{"name":"Noah"}`)
	require.NoError(t, err)
	require.Equal(t, "Noah", <-heard)

	var items []string
	result, err := r.host.Invoke(t.Context(), protocol.Call{Key: "model:WORDS", Input: json.RawMessage(`"a b"`), Progress: func(item json.RawMessage) error {
		items = append(items, string(item))
		return nil
	}})
	require.NoError(t, err)
	require.Equal(t, []string{`"a"`, `"b"`}, items)
	require.Equal(t, "null", string(result))

	require.NoError(t, stop())
	<-stopped
}

func TestServe_sendsStreamsBothWays(t *testing.T) {
	sum := plugin.Define("sum")
	plugin.Handle(sum, "sum:all", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		total := 0
		for n, err := range plugin.Feed[int](ctx) {
			if err != nil {
				return nil, err
			}
			total += n
		}
		return json.Marshal(total)
	})
	far := plugin.Define("far")
	plugin.Handle(far, "far:all", sumOf)
	plugin.Handle(far, "far:ask", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		var total int
		err := plugin.From(ctx).Call(ctx, "sum:all", nil, &total, plugin.Feeding(func(yield func(int, error) bool) {
			_ = yield(1, nil) && yield(2, nil)
		}))
		if err != nil {
			return nil, err
		}
		return json.Marshal(total)
	})
	r := start(t, gateway.Options{}, sum)
	r.serve(far, ws.Options{})
	r.wantPhase("far", lifecycle.Ready)
	r.wantCall("far:ask", `null`, "3")
	result, err := r.host.Invoke(t.Context(), protocol.Call{Key: "far:all", Feed: func(yield func(json.RawMessage, error) bool) {
		_ = yield(json.RawMessage("4"), nil) && yield(json.RawMessage("5"), nil)
	}})
	require.NoError(t, err)
	require.Equal(t, "9", string(result))
}

func sumOf(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
	total := 0
	for n, err := range plugin.Feed[int](ctx) {
		if err != nil {
			return nil, err
		}
		total += n
	}
	return json.Marshal(total)
}

func TestServe_keepsItsSessionOverALostConnection(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	asked := make(chan error, 1)
	p := plugin.Define("phoenix")
	plugin.Data(p, "alive", func(context.Context, any) (bool, error) { return true, nil })
	plugin.Data(p, "long", func(ctx context.Context, _ any) (any, error) {
		asked <- plugin.From(ctx).Call(context.WithoutCancel(ctx), "data:stuck", nil, nil)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	inits := 0
	p.OnInit(func(context.Context, *plugin.Session) error { inits++; return nil })
	stuck := plugin.Define("stuck")
	plugin.Data(stuck, "stuck", func(ctx context.Context, _ any) (any, error) {
		begun <- struct{}{} // both calls are in flight
		<-ctx.Done()
		return nil, ctx.Err()
	})
	r := start(t, gateway.Options{}, stuck)
	stop := r.serve(p, ws.Options{})
	before := r.wantPhase("phoenix", lifecycle.Ready)
	r.wantCall("data:alive", "null", "true")

	failed := make(chan error, 1)
	go func() {
		_, err := r.call("data:long", "null")
		failed <- err
	}()
	<-begun
	r.cable.cut()
	require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(<-failed))
	require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(<-asked))
	require.ErrorIs(t, <-ended, context.Canceled)
	r.cable.mend()
	r.wantCall("data:alive", "null", "true")
	after := r.wantPhase("phoenix", lifecycle.Ready)
	require.Equal(t, before.ID, after.ID)
	require.NoError(t, stop())
	require.Equal(t, 1, inits)
}

func TestServe_givesUpWithAWrongToken(t *testing.T) {
	r := start(t, gateway.Options{Verify: func(token string) (string, bool) { return token, token == "right" }})
	require.ErrorIs(t, ws.Serve(t.Context(), greeter(), ws.Options{URL: r.url, Token: "wrong"}), ws.ErrToken)
	r.serve(greeter(), ws.Options{Token: "right"})
	r.wantPhase("greeter", lifecycle.Ready)
}

func TestServe_failsWithItsHooks(t *testing.T) {
	for step, p := range map[string]*plugin.Definition{
		"setup": plugin.Define("broken").OnSetup(func(context.Context, *plugin.Session) error { return errors.New("no luck") }),
		"init":  plugin.Define("broken").OnInit(func(context.Context, *plugin.Session) error { return errors.New("no luck") }),
	} {
		r := start(t, gateway.Options{})
		watcher, err := websocket.Dial(t.Context(), r.url, websocket.DialOptions{})
		require.NoError(t, err)
		hear(t, watcher, "registry:modules:sync") // it is one of those who are told
		require.EqualError(t, ws.Serve(t.Context(), p, ws.Options{URL: r.url, Instance: "one"}), step+": no luck")
		hear(t, watcher, `"type":"module:status"`, `"phase":"failed","reason":"no luck"`)
		require.NoError(t, watcher.Close())
		<-watcher.Done()
	}
}

// hear waits for a record that has all of the texts.
func hear(t *testing.T, c *websocket.Conn, texts ...string) {
	t.Helper()
	late := time.AfterFunc(patience, func() { _ = c.Close() })
	defer late.Stop()
	for {
		record, err := c.Recv()
		require.NoError(t, err, "nobody has said %q", texts)
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(string(record), text) }) {
			return
		}
	}
}

func TestServe_tellsHowThePluginIs(t *testing.T) {
	health := make(chan plugin.Health, 1)
	is := plugin.Health{}
	p := plugin.Define("patient").OnHealth(func(context.Context, *plugin.Session) (plugin.Health, error) {
		select {
		case is = <-health:
		default:
		}
		return is, nil
	})
	plugin.Data(p, "x", func(context.Context, any) (int, error) { return 1, nil })
	r := start(t, gateway.Options{})
	r.serve(p, ws.Options{HealthEvery: time.Millisecond})
	r.wantPhase("patient", lifecycle.Ready)
	health <- plugin.Health{Status: plugin.HealthDegraded, Message: "it coughs"}
	require.Contains(t, r.wantPhase("patient", lifecycle.Degraded).Reason, "it coughs")
	health <- plugin.Health{}
	r.wantPhase("patient", lifecycle.Ready)
}

func TestServe_isPreparedAnew(t *testing.T) {
	steps := make(chan string, 8)
	p := plugin.Define("again")
	step := func(name string) plugin.Hook {
		return func(context.Context, *plugin.Session) error {
			steps <- name
			return nil
		}
	}
	p.OnInit(step("init")).OnSetup(step("setup"))
	plugin.Data(p, "anew", func(ctx context.Context, _ any) (any, error) { return nil, plugin.From(ctx).Reannounce("spring") })
	r := start(t, gateway.Options{})
	r.serve(p, ws.Options{})
	r.wantPhase("again", lifecycle.Ready)
	_, err := r.call("data:anew", "null")
	require.NoError(t, err)
	for _, want := range []string{"init", "setup", "init", "setup"} {
		require.Equal(t, want, <-steps)
	}
	r.wantPhase("again", lifecycle.Ready)
}

func TestServe_speaksAsAnExtension(t *testing.T) {
	r := start(t, gateway.Options{})
	r.serve(greeter(), ws.Options{Extensions: true})
	r.wantPhase("greeter", lifecycle.Ready)
	r.wantCall("tool:greet", `{"name":"Ada"}`, `{"content":"Hello, Ada!"}`)
}

func TestServe_changesWhatItOffers(t *testing.T) {
	p := plugin.Define("shop")
	plugin.Data(p, "open", func(ctx context.Context, _ any) (any, error) {
		s := plugin.From(ctx)
		plugin.Data(s, "price", func(context.Context, any) (int, error) { return 3, nil })
		plugin.Handle(s, "shop:list", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`[]`), nil })
		return nil, nil
	})
	plugin.Data(p, "close", func(ctx context.Context, _ any) (any, error) {
		s := plugin.From(ctx)
		return nil, errors.Join(s.Withdraw("data:price"), s.Withdraw("shop:list"))
	})
	plugin.Data(p, "own", func(ctx context.Context, _ any) (n int, err error) {
		err = plugin.From(ctx).Call(ctx, "data:price", nil, &n)
		return n, err
	})
	plugin.Data(p, "of", func(ctx context.Context, _ any) (any, error) {
		return nil, plugin.From(ctx).Call(ctx, "data:x", nil, nil, plugin.Of("other"))
	})
	plugin.Data(p, "wait", func(ctx context.Context, _ any) (any, error) { return nil, plugin.From(ctx).Wait(ctx, "data:price") })
	r := start(t, gateway.Options{})
	r.serve(p, ws.Options{})
	before := r.wantPhase("shop", lifecycle.Ready)
	r.wantCall("data:open", "null", "null")
	r.wantCall("data:price", "null", "3")
	r.wantCall("data:own", "null", "3")
	r.wantCall("data:wait", "null", "null")
	r.wantCall("shop:list", "null", "[]")
	_, err := r.call("data:of", "null")
	require.ErrorContains(t, err, "this wire cannot name whose capability is called")
	r.cable.cut()
	r.cable.mend()
	r.wantCall("data:price", "null", "3")
	r.wantCall("shop:list", "null", "[]")
	require.Equal(t, before.ID, r.wantPhase("shop", lifecycle.Ready).ID)
	r.wantCall("data:close", "null", "null")
	for _, key := range []string{"data:price", "shop:list"} {
		require.Eventually(t, func() bool {
			_, err := r.call(key, "null")
			return err != nil
		}, patience, 5*time.Millisecond)
	}
}

func TestServe_triesAsOftenAsItIsTold(t *testing.T) {
	err := ws.Serve(t.Context(), greeter(), ws.Options{URL: "ws://127.0.0.1:1/ws", FirstPause: time.Millisecond, Tries: 3})
	require.ErrorContains(t, err, "3 connections came to nothing")
	require.ErrorContains(t, ws.Serve(t.Context(), greeter(), ws.Options{}), "ws.Options.URL: expected")
	require.ErrorContains(t, ws.Serve(t.Context(), greeter(), ws.Options{URL: "http://127.0.0.1:1/ws"}), "is no address of a websocket")
}

func TestServe_takesConfigurations(t *testing.T) {
	type config struct {
		City string `json:"city"`
	}
	p := plugin.Define("sky")
	p.OnValidate(func(_ context.Context, _ *plugin.Session, raw json.RawMessage) error {
		var c config
		if err := json.Unmarshal(raw, &c); err != nil || c.City == "" {
			return errors.New("where? give a city")
		}
		return nil
	})
	plugin.Data(p, "city", func(ctx context.Context, _ any) (string, error) {
		var c config
		err := plugin.From(ctx).Config(&c)
		return c.City, err
	})
	r := start(t, gateway.Options{})
	r.serve(p, ws.Options{NeedsConfig: true, ConfigSchema: json.RawMessage(`{"type":"object"}`)})
	r.wantPhase("sky", lifecycle.ConfigurationNeeded)
	session := r.wantPhase("sky", lifecycle.ConfigurationNeeded).ID
	revision := 0
	set := func(full string) error {
		revision++
		c := protocol.Config{ID: "sky:config", Revision: int64(revision), Full: json.RawMessage(full)}
		v, err := r.host.AskConfiguration(t.Context(), session, c)
		if err == nil && v.Problems() != "" {
			err = errors.New(v.Problems())
		}
		if err != nil {
			return err
		}
		_, err = r.host.CommitConfiguration(t.Context(), session, c)
		return err
	}
	require.ErrorContains(t, set(`{}`), "where? give a city")
	require.NoError(t, set(`{"city":"Paris"}`))
	r.wantPhase("sky", lifecycle.Ready)
	r.wantCall("data:city", "null", `"Paris"`)
	require.NoError(t, set(`{"city":"Rome"}`))
	r.wantCall("data:city", "null", `"Rome"`)
}
