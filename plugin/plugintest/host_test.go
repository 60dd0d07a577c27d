package plugintest_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/plugin/plugintest"
	"github.com/airi-host/airi-host/protocol"
)

type (
	options = plugintest.Options
	answers = map[string]plugintest.Answer
	anyMap  = map[string]any
)

// handling offers one raw handler, "x:y".
func handling(handle plugin.Handler) *plugin.Definition {
	p := plugin.Define("one")
	plugin.Handle(p, "x:y", handle)
	return p
}

// calling is a plugin whose "x:y" does what it is given.
func calling(do func(context.Context, *plugin.Session) (any, error)) *plugin.Definition {
	return handling(func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		v, err := do(ctx, plugin.From(ctx))
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
}

func wantCode(t *testing.T, code protocol.Code, text string, err error) {
	t.Helper()
	require.EqualError(t, err, text)
	require.Equal(t, code, protocol.CodeOf(err))
}

func TestStart_tenLinesOfATest(t *testing.T) {
	t.Parallel()
	host := plugintest.Start(t, greeter(), options{
		Config:  map[string]string{"greeting": "Hello"},
		Answers: answers{"tool:time": plugintest.Value(plugin.Text("It is noon."))},
	})
	var result plugin.Result
	require.NoError(t, host.Call("tool:greet", Person{"Ada"}, &result))
	require.Equal(t, "Hello, Ada! It is noon.", result.Content)
	require.Len(t, host.Calls("tool:time"), 1)
	require.Equal(t, []string{"level=INFO msg=greeting name=Ada"}, host.Log())
	require.Equal(t, "tool:greet", host.Offers()[0].Key)
}

func TestHost_hooksRunInOrder(t *testing.T) {
	t.Parallel()
	var ran []string
	hook := func(name string) plugin.Hook {
		return func(_ context.Context, s *plugin.Session) error {
			var config struct{ N int }
			err := s.Config(&config)
			ran = append(ran, name+strings.Repeat("!", config.N)+" of "+s.Plugin())
			return err
		}
	}
	p := plugin.Define("hooks").OnInit(hook("init")).OnSetup(hook("setup")).OnStop(hook("stop"))
	host := plugintest.Start(t, p, options{Name: "mine"})
	require.NoError(t, host.Configure(anyMap{"n": 1}))
	require.NoError(t, host.Stop())
	require.NoError(t, host.Stop(), "it is stopped once")
	require.Equal(t, []string{"init of mine", "setup of mine", "setup! of mine", "stop! of mine"}, ran)

	err := host.Call("x:y", nil, nil)
	wantCode(t, protocol.CodeCancelled, "plugin mine was stopped", err)
	require.Equal(t, err, host.Configure(nil))
	require.False(t, host.Tell("news", 1))
}

func TestOpen_returnsWhatHooksFailWith(t *testing.T) {
	t.Parallel()
	stopped := false
	start := func(h plugin.Hook) error {
		p := plugin.Define("bad").OnSetup(h).OnStop(func(context.Context, *plugin.Session) error {
			stopped = true
			return nil
		})
		_, err := plugintest.Open(t, p, options{})
		return err
	}
	for text, hook := range map[string]plugin.Hook{
		"plugin bad: no luck":      func(context.Context, *plugin.Session) error { return errors.New("no luck") },
		"plugin bad: panic: oh no": func(context.Context, *plugin.Session) error { panic("oh no") },
		"plugin bad: it ended its goroutine instead of returning: runtime.Goexit, or a test's FailNow": func(context.Context, *plugin.Session) error {
			runtime.Goexit()
			return nil
		},
	} {
		require.EqualError(t, start(hook), text)
	}
	require.False(t, stopped, "a plugin that has failed is not stopped in good order")
	_, err := plugintest.Open(t, plugin.Define("bad"), options{Config: func() {}})
	require.EqualError(t, err, "plugin bad: Options.Config: json: unsupported type: func()")

	r := &recorder{TB: t}
	plugintest.Start(r, plugin.Define("bad").OnInit(func(context.Context, *plugin.Session) error { return errors.New("no") }), options{})
	require.Equal(t, []string{"plugin bad: no"}, r.said)
}

func TestHost_whatIsLate(t *testing.T) {
	t.Parallel()
	wait := func(ctx context.Context, _ *plugin.Session) error { <-ctx.Done(); return ctx.Err() }
	synctest.Test(t, func(t *testing.T) {
		p := plugin.Define("late").OnSetup(wait)
		_, err := plugintest.Open(t, p, options{})
		wantTimeout(t, err, "plugin late: setup did not end within 10s")

		host := plugintest.Start(t, calling(func(ctx context.Context, s *plugin.Session) (any, error) {
			return nil, wait(ctx, s)
		}).OnValidate(func(ctx context.Context, s *plugin.Session, _ json.RawMessage) error { return wait(ctx, s) }), options{})
		wantTimeout(t, host.Call("x:y", nil, nil), "no answer from x:y of plugin one within 30s")
		at := func(c *protocol.Call) { c.Deadline = time.Now().Add(time.Minute) }
		wantTimeout(t, host.Call("x:y", nil, nil, at), "no answer from x:y of plugin one within 1m0s")
		wantTimeout(t, host.Call("x:y", nil, nil, plugin.Idle(time.Second)), "no answer from x:y of plugin one, and nothing reported for 1s")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantTimeout(t, host.CallContext(ctx, "x:y", nil, nil), "no answer from x:y of plugin one before the deadline of the caller's context")
		_, err = host.Validate(nil)
		wantTimeout(t, err, "OnValidate did not end within 10s")
		require.ErrorContains(t, host.Configure(nil), "OnValidate did not end")

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		wantCode(t, protocol.CodeCancelled, "no answer from x:y of plugin one: the caller gave up: context canceled",
			host.CallContext(ctx, "x:y", nil, nil))
		time.AfterFunc(time.Second, func() { _ = host.Stop() })
		wantCode(t, protocol.CodeCancelled, "plugin one was stopped", host.Call("x:y", nil, nil))
	})
}

func wantTimeout(t *testing.T, err error, text string) {
	t.Helper()
	require.EqualError(t, err, text)
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err))
}

func TestHost_reportsAreSignsOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := plugintest.Start(t, calling(func(ctx context.Context, _ *plugin.Session) (any, error) {
			for i := range 3 {
				time.Sleep(900 * time.Millisecond)
				if err := plugin.Report(ctx, i); err != nil {
					return nil, err
				}
			}
			return "done", nil
		}), options{})
		var items []int
		require.NoError(t, host.Call("x:y", nil, nil, plugin.Idle(time.Second), plugintest.Collect(&items)))
		require.NoError(t, host.Call("x:y", nil, nil, plugin.Idle(time.Second)))
		require.Equal(t, []int{0, 1, 2}, items)
		require.Equal(t, plugintest.Item{Key: "x:y", Value: json.RawMessage("2")}, host.Progress()[2])
	})
}

func TestHost_streamsBothWays(t *testing.T) {
	t.Parallel()
	p := plugin.Define("flows")
	plugin.Stream(p, "x:sum", func(ctx context.Context, _ any, emit func(int) error) error {
		sum := 0
		for n, err := range plugin.Feed[int](ctx) {
			if err != nil {
				return err
			}
			sum += n
			if err := emit(sum); err != nil {
				return err
			}
		}
		return nil
	})
	host := plugintest.Start(t, p, options{})
	var sums, whole []int
	feed := plugin.Feeding(func(yield func(int, error) bool) { _ = yield(1, nil) && yield(2, nil) })
	require.NoError(t, host.Call("x:sum", nil, nil, feed, plugintest.Collect(&sums)))
	require.NoError(t, host.Call("x:sum", nil, &whole, feed))
	require.Equal(t, []int{1, 3}, sums)
	require.Equal(t, sums, whole)
}

func TestHost_anItemBehindTheEndIsNotTaken(t *testing.T) {
	t.Parallel()
	late := make(chan error, 1)
	over := make(chan struct{})
	host := plugintest.Start(t, calling(func(ctx context.Context, _ *plugin.Session) (any, error) {
		go func() {
			<-over
			late <- plugin.Report(ctx, 1)
		}()
		return nil, nil
	}), options{})
	var items []int
	require.NoError(t, host.Call("x:y", nil, nil, plugintest.Collect(&items)))
	close(over)
	require.EqualError(t, <-late, "x:y: the call is over")
	require.Empty(t, items)
}

func TestHost_callsFailAsUnderAHost(t *testing.T) {
	t.Parallel()
	p := plugin.Define("kinds")
	plugin.Tool(p, "fine", func(context.Context, Person) (plugin.Result, error) { return plugin.Text("yes"), nil })
	plugin.Handle(p, "tool:wrong", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`7`), nil })
	plugin.Handle(p, "x:nothing", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	plugin.Handle(p, "x:panics", func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("oh no") })
	plugin.Handle(p, "x:exits", func(context.Context, json.RawMessage) (json.RawMessage, error) { runtime.Goexit(); return nil, nil })
	host := plugintest.Start(t, p, options{})

	wantCode(t, protocol.CodeNotFound,
		"plugin kinds does not offer tool:none (it offers: tool:fine, tool:wrong, x:nothing, x:panics, x:exits)", host.Call("tool:none", nil, nil))
	wantCode(t, protocol.CodeInvalid, "tool:fine: input: expected an object, got a number", host.Call("tool:fine", 7, nil))
	wantCode(t, protocol.CodeInvalid, `the input's field "name": expected string, got number`, host.Call("tool:fine", anyMap{"name": 7}, nil))
	require.Equal(t, protocol.CodeWire, protocol.CodeOf(host.Call("tool:wrong", anyMap{}, nil)))
	require.EqualError(t, host.Call("x:panics", nil, nil), "panic: oh no")
	require.ErrorContains(t, host.Call("x:exits", nil, nil), "it ended its goroutine")
	require.ErrorContains(t, host.Call("x:nothing", func() {}, nil), "the input for x:nothing: ")
	nothing := new(int)
	require.NoError(t, host.Call("x:nothing", nil, &nothing))
	require.Nil(t, nothing)
	var n int
	require.ErrorContains(t, host.Call("tool:fine", anyMap{}, &n), "the result of tool:fine: ")
}

func TestHost_answersWhatThePluginCalls(t *testing.T) {
	t.Parallel()
	var key string
	var in any
	p := calling(func(ctx context.Context, s *plugin.Session) (out any, err error) {
		err = s.Call(ctx, key, in, &out)
		return out, err
	})
	plugin.Handle(p, "x:own", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		return json.Marshal("for " + plugin.Scope(ctx))
	})
	plugin.Handle(p, "x:again", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		return nil, plugin.From(ctx).Call(ctx, "x:again", nil, nil)
	})
	host := plugintest.Start(t, p, options{
		Scope: "acme",
		Answers: answers{
			"tool:double": plugintest.Func(func(_ context.Context, n int) (int, error) { return 2 * n, nil }),
			"tool:fails":  plugintest.Func(func(context.Context, any) (any, error) { return nil, errors.New("not today") }),
			"tool:panics": func(context.Context, protocol.Call) (json.RawMessage, error) { panic("a test's mistake") },
			"tool:denied": plugintest.Fail(&protocol.Error{Code: protocol.CodeDenied, Message: "no grant"}),
		},
		Secrets:  map[string]string{"api": "s3cret"},
		Settings: anyMap{"city": "Rome"},
	})
	secret := func(typ, id string) anyMap { return anyMap{"secretRef": anyMap{"type": typ, "secretId": id}} }
	for _, c := range []struct {
		key  string
		in   any
		out  any
		err  string
		code protocol.Code
	}{
		{key: "tool:double", in: 21, out: 42.0},
		{key: "tool:double", in: "x", err: "the input of tool:double: json: cannot unmarshal string into Go value of type int", code: protocol.CodeInvalid},
		{key: "tool:fails", err: "not today"},
		{key: "tool:panics", err: "panic: a test's mistake"},
		{key: "tool:denied", err: "no grant", code: protocol.CodeDenied},
		{key: "tool:none", err: "nobody offers tool:none: add it to Options.Answers", code: protocol.CodeNotFound},
		{key: "x:own", out: "for acme"},
		{key: "secrets.resolve", in: secret("secret_ref", "api"), out: "s3cret"},
		{key: "secrets.resolve", in: secret("secret_ref", "b"), err: `secretRef.secretId: no secret "b" is declared: add it to Options.Secrets`, code: protocol.CodeInvalid},
		{key: "secrets.resolve", in: secret("", "api"), err: `secretRef: expected { type: "secret_ref", secretId }`, code: protocol.CodeInvalid},
		{key: "getSetting", in: anyMap{"key": "city"}, out: "Rome"},
		{key: "getSetting", in: anyMap{"key": "none"}},
		{key: "getSetting", in: anyMap{}, err: "key: expected a string", code: protocol.CodeInvalid},
	} {
		key, in = c.key, c.in
		var out any
		err := host.Call("x:y", nil, &out)
		if c.err == "" {
			require.NoError(t, err, c.key)
		} else {
			wantCode(t, c.code, c.err, err)
		}
		require.Equal(t, c.out, out, c.key)
	}
	require.Len(t, host.Calls(""), 13)
	require.Equal(t, []any{21.0, "x"}, plugintest.Inputs[any](host, "tool:double"))
	require.Equal(t, "acme", host.Calls("tool:double")[0].Scope, "the tenant crosses")
	require.NoError(t, host.Call("x:own", nil, &in, plugintest.For("other"), plugintest.By("guest")))
	require.Equal(t, "for other", in)

	err := host.Call("x:again", nil, nil)
	require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err))
	require.ErrorContains(t, err, "33 calls are one within the other, 32 is the most")
}

func TestInputs_ofAnotherTypeFailTheTest(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	host := plugintest.Start(r, calling(func(ctx context.Context, s *plugin.Session) (any, error) {
		return nil, s.Call(ctx, "tool:a", "text", nil)
	}), options{Answers: answers{"tool:a": plugintest.Value(1)}})
	require.NoError(t, host.Call("x:y", nil, nil))
	plugintest.Inputs[int](host, "tool:a")
	require.ErrorContains(t, errors.New(r.said[0]), "the input of tool:a: ")
	r.end()
}

func TestStream_isFollowed(t *testing.T) {
	t.Parallel()
	var words []string
	host := plugintest.Start(t, calling(func(ctx context.Context, s *plugin.Session) (any, error) {
		return nil, errors.Join(
			s.Call(ctx, "model:M", nil, nil, plugin.Follow(func(w string) error { words = append(words, w); return nil })),
			s.Call(ctx, "model:M", nil, nil))
	}), options{Answers: answers{"model:M": plugintest.Stream("a", "b"), "model:BAD": plugintest.Stream(func() {})}})
	require.NoError(t, host.Call("x:y", nil, nil))
	require.Equal(t, []string{"a", "b"}, words)
}

func TestHost_events(t *testing.T) {
	t.Parallel()
	var heard []string
	hear := func(name string) func(context.Context, string) error {
		return func(ctx context.Context, payload string) error {
			heard = append(heard, name+" "+payload+plugin.Scope(ctx))
			if payload == "bad" {
				return errors.New("not so")
			}
			return nil
		}
	}
	p := calling(func(ctx context.Context, s *plugin.Session) (any, error) {
		return nil, errors.Join(s.Call(ctx, "event:a.b", "own", nil), s.Call(ctx, "event:a.b", "bad", nil), s.Call(ctx, "event:z", 1, nil))
	})
	plugin.On(p, "a.b", hear("exact"))
	plugin.On(p, "a.*", hear("short"))
	plugin.On(p, "a.b.*", hear("long"))
	host := plugintest.Start(t, p, options{})
	require.NoError(t, host.Emit("a.b", "1"))
	require.NoError(t, host.Emit("a.c", "2", plugintest.For(" acme")))
	require.NoError(t, host.Emit("a.b.c", "3"))
	require.EqualError(t, host.Emit("a.b", "bad"), "not so")
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(host.Emit("b", "4")))
	require.ErrorContains(t, host.Emit("a.b", func() {}), "the payload of a.b: ")
	require.Equal(t, []string{"exact 1", "short 2 acme", "long 3", "exact bad"}, heard)

	require.NoError(t, host.Call("x:y", nil, nil))
	require.Equal(t, []string{"exact own", "exact bad"}, heard[4:], "it hears what it publishes itself")
	require.Equal(t, []string{`level=ERROR msg="an event was not handled" event=a.b error="not so"`}, host.Log())
	published := host.Published()
	require.Len(t, published, 3)
	require.Equal(t, `event:a.b "own"`, published[0].Key+" "+string(published[0].Input))
	require.Empty(t, host.Calls(""))
}

func TestHost_channel(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	host := plugintest.Start(r, plugin.Define("talks").OnInit(func(_ context.Context, s *plugin.Session) error {
		s.Listen(func(e protocol.Event) {
			if e.Name == "bad" {
				panic("oh no")
			}
			_ = s.Send("heard", e.Payload)
		})
		return nil
	}), options{})
	require.True(t, host.Tell("news", 1))
	require.Equal(t, []protocol.Event{{Name: "heard", Payload: 1}}, host.Sent())
	require.Empty(t, r.said)
	require.True(t, host.Tell("bad", 1))
	require.Equal(t, []string{"plugin talks: its listener at bad: panic: oh no"}, r.said)
	r.end()
}

func TestHost_offersWhileItRuns(t *testing.T) {
	t.Parallel()
	p := calling(func(_ context.Context, s *plugin.Session) (any, error) {
		for _, word := range []string{"old", "new"} {
			plugin.Model(s, "M", func(context.Context, any) (string, error) { return word, nil })
		}
		return nil, errors.Join(s.Withdraw("x:y"), s.Withdraw("x:none"))
	})
	host := plugintest.Start(t, p, options{})
	require.NoError(t, host.Call("x:y", nil, nil))
	require.Len(t, host.Offers(), 1)
	var word string
	require.NoError(t, host.Call("model:M", nil, &word))
	require.Equal(t, "new", word)
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(host.Call("x:y", nil, nil)))
}

func TestHost_waitsForNobody(t *testing.T) {
	t.Parallel()
	host := plugintest.Start(t, calling(func(ctx context.Context, s *plugin.Session) (any, error) {
		require.NoError(t, s.Wait(ctx, "tool:a", "x:y"))
		return nil, s.Wait(ctx, "tool:b")
	}), options{Answers: answers{"tool:a": plugintest.Value(1)}})
	wantTimeout(t, host.Call("x:y", nil, nil), "capability tool:b is not ready: add it to Options.Answers")
}

func TestHost_configures(t *testing.T) {
	t.Parallel()
	p := plugin.Define("picky").OnValidate(func(_ context.Context, _ *plugin.Session, config json.RawMessage) error {
		if string(config) == `"bad"` {
			return errors.Join(errors.New("too short"), errors.New("too late"))
		}
		return nil
	})
	host := plugintest.Start(t, p, options{})
	found, err := host.Validate("bad")
	require.NoError(t, err)
	require.True(t, found.Asked)
	require.Len(t, found.Invalid, 2)
	wantCode(t, protocol.CodeConfiguration, "plugin picky refuses the configuration: too short; too late", host.Configure("bad"))
	require.NoError(t, host.Configure("good"))
	require.ErrorContains(t, host.Configure(func() {}), "the configuration: ")
	_, err = host.Validate(func() {})
	require.ErrorContains(t, err, "the configuration: ")
}

func TestHost_aSessionThatHasEndedCanDoNothing(t *testing.T) {
	t.Parallel()
	var session *plugin.Session
	host := plugintest.Start(t, plugin.Define("gone").OnInit(func(_ context.Context, s *plugin.Session) error {
		session = s
		return nil
	}), options{})
	require.NoError(t, host.Stop())
	for _, err := range []error{
		session.Call(t.Context(), "tool:a", nil, nil), session.Wait(t.Context(), "tool:a"), session.Send("x", 1), session.Withdraw("x"),
	} {
		wantCode(t, protocol.CodeCancelled, "plugin gone was stopped", err)
	}
	plugin.Model(session, "M", func(context.Context, any) (any, error) { return nil, nil })
	require.Contains(t, host.Log()[0], "the host refused an offer")
}

func TestHost_whatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	host := plugintest.Start(r, calling(func(ctx context.Context, s *plugin.Session) (any, error) {
		var errs []error
		for range 3 {
			s.Log().Info("one")
			errs = append(errs, s.Call(ctx, "tool:a", 1, nil), s.Call(ctx, "event:a", 1, nil), s.Send("a", 1), plugin.Report(ctx, 1))
		}
		return nil, errors.Join(errs...)
	}).OnInit(func(_ context.Context, s *plugin.Session) error {
		plugin.Model(s, "M", func(context.Context, any) (any, error) { return nil, nil })
		return nil
	}), options{Records: 2, Answers: answers{"tool:a": plugintest.Value(1)}})
	var items []int
	require.NoError(t, host.Call("x:y", nil, nil, plugintest.Collect(&items)))
	require.Len(t, items, 3, "who follows gets all")
	require.Len(t, host.Calls(""), 2)
	r.end()
	for _, what := range []string{"calls", "published events", "sent events", "lines of the log", "progress items"} {
		require.Contains(t, r.said, "plugin one: 1 more "+what+" than the 2 that are kept: raise Options.Records")
	}
	require.Contains(t, r.said, "plugin one has logged:\nlevel=INFO msg=one\nlevel=INFO msg=one")

	_, err := plugintest.Open(t, plugin.Define("many").OnInit(func(_ context.Context, s *plugin.Session) error {
		for _, name := range []string{"A", "B"} {
			plugin.Model(s, name, func(context.Context, any) (any, error) { return nil, nil })
		}
		return nil
	}), options{Records: 1})
	require.EqualError(t, err, "plugin many: offering model:B: model:B: a plugin offers at most 1 capabilities (Options.Records)")
}

func TestHost_anEndThatFailsFailsTheTest(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	plugintest.Start(r, plugin.Define("bad").OnStop(func(context.Context, *plugin.Session) error { return errors.New("no") }), options{})
	r.end()
	require.Equal(t, []string{"plugin bad: OnStop: no"}, r.said)
}
