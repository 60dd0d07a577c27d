package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// asking is a plugin whose model "ASK" is a call of the host that the test describes.
func asking(call func(context.Context, *plugin.Session) (any, error)) *plugin.Definition {
	p := plugin.Define("asking")
	plugin.Model(p, "ASK", func(ctx context.Context, _ any) (any, error) { return call(ctx, plugin.From(ctx)) })
	return p
}

// The methods of the runtime are called by their names, models and events as every elizaOS
// host has them, and what else there is by this host's own method.
func TestSession_callsTheElizaRuntime(t *testing.T) {
	for _, c := range []struct {
		key    string
		in     any
		of     string
		method string
		args   string
	}{
		{"getSetting", map[string]string{"key": "k"}, "", "getSetting", `{"key":"k"}`},
		{"setSetting", map[string]any{"key": "k", "value": nil}, "", "setSetting", `{"key":"k","value":null}`},
		{"getService", map[string]string{"serviceType": "clock"}, "", "getService", `{"serviceType":"clock"}`},
		{"createMemory", map[string]any{"memory": map[string]any{}}, "", "createMemory", `{"memory":{}}`},
		{"bare", nil, "", "bare", `{}`},
		{"model:TEXT_SMALL", map[string]string{"prompt": "p"}, "", "useModel", `{"modelType":"TEXT_SMALL","params":{"prompt":"p"},"timeoutMs":0}`},
		{"model:TEXT_SMALL", "p", "other", "invoke", `{"key":"model:TEXT_SMALL","input":"p","plugin":"other","timeoutMs":0}`},
		{"event:paid", map[string]int{"n": 1}, "", "emitEvent", `{"name":"paid","payload":{"n":1}}`},
		{"event:paid", nil, "", "emitEvent", `{"name":"paid"}`},
		{"event:paid", 7, "", "invoke", `{"key":"event:paid","input":7,"timeoutMs":0}`},
		{"tool:greet", person{"Ada"}, "", "invoke", `{"key":"tool:greet","input":{"name":"Ada"},"timeoutMs":0}`},
	} {
		var got protocol.Call
		h := newElizaHost(t, eliza.Plugin{})
		h.services[c.method] = func(call protocol.Call) (json.RawMessage, error) {
			got = call
			return json.RawMessage(`{"answer":1}`), nil
		}
		h.serveEliza(t.Context(), asking(func(ctx context.Context, s *plugin.Session) (any, error) {
			var out any
			var opts []plugin.CallOption
			if c.of != "" {
				opts = append(opts, plugin.Of(c.of))
			}
			err := s.Call(ctx, c.key, c.in, &out, opts...)
			return out, err
		}), plugin.ElizaOptions{}).begun()
		_, failure := h.call("model:ASK", `1`)
		require.Empty(t, failure, c.key)
		require.NoError(t, h.close())
		args := map[string]any{}
		require.NoError(t, json.Unmarshal(got.Input, &args))
		if limit, ok := args["timeoutMs"]; ok {
			require.InDelta(t, 30_000, limit, 2_000)
			args["timeoutMs"] = 0
		}
		told, err := json.Marshal(args)
		require.NoError(t, err)
		require.JSONEq(t, c.args, string(told), c.key)
		require.Equal(t, company, got.Scope, "it is for the sake of the handler's own call")
	}
}

// A host's failure keeps its name, code and cause on its way through a plugin.
func TestSession_theElizaHostsFailures(t *testing.T) {
	h := newElizaHost(t, eliza.Plugin{})
	h.services["fails"] = func(protocol.Call) (json.RawMessage, error) {
		return nil, &protocol.Error{Code: protocol.CodeDenied, Message: "no", Err: errors.New("why")}
	}
	var seen error
	h.serveEliza(t.Context(), asking(func(ctx context.Context, s *plugin.Session) (any, error) {
		seen = s.Call(ctx, "fails", nil, nil)
		return nil, seen
	}), plugin.ElizaOptions{}).begun()
	end := <-h.begin("model:ASK", `1`)
	for _, err := range []error{seen, end.Err} {
		var e *eliza.RemoteError
		require.ErrorAs(t, err, &e)
		code, _ := e.Code()
		require.Equal(t, "denied", code)
		require.JSONEq(t, `{"name":"Error","message":"why"}`, string(e.Cause))
		require.Equal(t, "no: why", e.Error())
	}
	require.NoError(t, h.close())
	wantCode(t, ended(t).Call(t.Context(), "m", nil, nil), protocol.CodeNotReady, "m was not called: the connection has ended")
}

// ended is the session of a worker that has ended.
func ended(t *testing.T) *plugin.Session {
	t.Helper()
	sessions := make(chan *plugin.Session, 1)
	p := plugin.Define("p").OnInit(func(_ context.Context, s *plugin.Session) error {
		sessions <- s
		return nil
	})
	h := newElizaHost(t, eliza.Plugin{}).serveEliza(t.Context(), p, plugin.ElizaOptions{}).begun()
	require.NoError(t, h.close())
	s := <-sessions
	s.Log().Info("into the void")
	return s
}

func TestSession_followsTheElizaHost(t *testing.T) {
	h := newElizaHost(t, eliza.Plugin{})
	h.streams = map[string][]string{"useModel": {`"a"`, `"b"`}}
	h.services["useModel"] = func(protocol.Call) (json.RawMessage, error) { return json.RawMessage(`"ab"`), nil }
	var parts []string
	var whole string
	enough := errors.New("enough")
	h.serveEliza(t.Context(), asking(func(ctx context.Context, s *plugin.Session) (any, error) {
		err := s.Call(ctx, "model:TEXT", "x", &whole, plugin.Follow(func(part string) error {
			parts = append(parts, part)
			return nil
		}))
		left := s.Call(ctx, "model:TEXT", "x", &whole, plugin.Follow(func(string) error { return enough }))
		return errors.Is(left, enough), err
	}), plugin.ElizaOptions{}).begun()
	h.want("model:ASK", `1`, `true`)
	require.Equal(t, []string{"a", "b"}, parts)
	require.Equal(t, "ab", whole)
	require.NoError(t, h.close())
}

// Who does not take the parts of a host's answer has no more of them at a limit, and the host
// is told.
func TestSession_followsTheElizaHostWithinABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, failed := make(chan struct{}), make(chan error, 1)
		p := asking(func(ctx context.Context, s *plugin.Session) (any, error) {
			failed <- s.Call(ctx, "model:TEXT", "x", nil, plugin.Follow(func(int) error {
				<-stuck
				return nil
			}))
			return nil, nil
		})
		l, served, _ := newElizaLines(t.Context(), t, p, plugin.ElizaOptions{})
		l.next()
		l.next()
		l.send(`{"type":"worker-rpc","requestId":5,"surface":"model","target":"model:ASK:1","args":{}}`)
		require.Equal(t, `{"type":"host-rpc","requestId":1,"api":"runtime","method":"useModel","args":{"modelType":"TEXT","params":"x","timeoutMs":30000},"streamReply":true,"within":5}`, l.next())
		l.send(`{"type":"host-rpc-result","requestId":1,"ok":true,"streamId":"s"}`)
		l.send(`{"type":"stream-chunk","streamId":"s","chunk":1}`)
		synctest.Wait()
		for range 1025 {
			l.send(`{"type":"stream-chunk","streamId":"s","chunk":1}`)
		}
		synctest.Wait()
		close(stuck)
		require.Contains(t, l.next(), `{"type":"stream-end","streamId":"s","error":{"name":"AbortError"`)
		wantCode(t, <-failed, protocol.CodeOverloaded, "who follows the call is too slow: more than 1024 items or 8388608 bytes wait for it")
		require.Contains(t, l.next(), `"requestId":5,"ok":true`)
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
	})
}

func TestSession_callsOfTheElizaHostEndAtTheirLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := make(chan error, 4)
		p := asking(func(ctx context.Context, s *plugin.Session) (any, error) {
			failures <- s.Call(ctx, "slow", nil, nil)
			failures <- s.Call(ctx, "slow", nil, nil, plugin.Feeding(func(func(int, error) bool) {}))
			return nil, s.Call(ctx, "slow", strings.Repeat("x", 2000), nil)
		})
		l, served, _ := newElizaLines(t.Context(), t, p, plugin.ElizaOptions{MaxRecord: 2000})
		l.next()
		l.next()
		l.send(`{"type":"worker-rpc","requestId":5,"surface":"model","target":"model:ASK:1","args":{}}`)
		l.next()
		began := time.Now()
		wantCode(t, <-failures, protocol.CodeTimeout, "plugin asking: slow: the host did not answer within the caller's limit of 30s")
		require.Equal(t, 30*time.Second, time.Since(began))
		wantCode(t, <-failures, protocol.CodeInvalid, "plugin asking: slow was not called: an elizaOS host takes no request stream: give the call an input")
		require.Contains(t, l.next(), "the input of slow has 2002 bytes, the limit is 1740")
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
	})
}

// A call that the plugin makes of its own accord is for no call of the host's.
func TestSession_asksTheElizaHostOfItsOwnAccord(t *testing.T) {
	p := plugin.Define("p").OnInit(func(ctx context.Context, s *plugin.Session) error { return s.Call(ctx, "getSetting", nil, nil) })
	l, served, _ := newElizaLines(t.Context(), t, p, plugin.ElizaOptions{InitWait: time.Nanosecond})
	l.next()
	require.Equal(t, `{"type":"host-rpc","requestId":1,"api":"runtime","method":"getSetting","args":{},"within":null}`, l.next())
	l.send(`{"type":"host-rpc-result","requestId":1,"ok":true,"payload":null}`)
	require.Equal(t, initComplete, l.next())
	require.NoError(t, l.in.Close())
	require.NoError(t, <-served)
}

func TestSession_whatAnElizaHostHasNot(t *testing.T) {
	h := newElizaHost(t, eliza.Plugin{})
	h.serveEliza(t.Context(), asking(func(ctx context.Context, s *plugin.Session) (any, error) {
		require.NoError(t, s.Wait(ctx))
		_, err := s.OpenStream(ctx, "x")
		require.ErrorIs(t, err, plugin.ErrNotOffered)
		return nil, s.Wait(ctx, "tool:a", "tool:b")
	}), plugin.ElizaOptions{}).begun()
	_, failure := h.call("model:ASK", `1`)
	require.Equal(t, `plugin tested: an elizaOS host has no call to wait for tool:a, tool:b: name it in the manifest's "airi-host".requires, then the plugin starts when it is ready`, failure)
	require.NoError(t, h.close())
}

// Services are started by the first call, for all who wait; one that fails is tried again.
func TestService_isStartedByTheFirstCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type pump struct{}
		started, fail, stopped := 0, errors.New("no power"), []string{}
		start := func(ctx context.Context, s *plugin.Session) (pump, error) {
			require.Same(t, s, plugin.From(ctx))
			started++
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return pump{}, ctx.Err()
			}
			return pump{}, fail
		}
		p := plugin.Define("p")
		run := plugin.Method("run", func(context.Context, pump, any) (string, error) { return "runs", nil })
		plugin.Service(p, "pump", plugin.ServiceHooks[pump]{Start: start, Stop: func(context.Context, pump) error {
			stopped = append(stopped, "pump")
			return errors.New("leaks")
		}}, run)
		plugin.Service(p, "slow", plugin.ServiceHooks[pump]{Start: start, StartLimit: time.Millisecond}, run)
		plugin.Service(p, "odd", plugin.ServiceHooks[pump]{Start: func(context.Context, *plugin.Session) (pump, error) { panic("boom") }}, run)
		plugin.Service(p, "other", plugin.ServiceHooks[pump]{
			Start: func(context.Context, *plugin.Session) (pump, error) { return pump{}, nil },
			Stop: func(context.Context, pump) error {
				stopped = append(stopped, "other")
				return nil
			},
		}, run)
		require.Panics(t, func() { plugin.Service(p, "other", plugin.ServiceHooks[pump]{}) })
		port := p.Open(&home{})
		call := func(ctx context.Context, typ string) error {
			_, err := port.Invoke(ctx, &protocol.Call{Key: "service:" + typ + ".run", Input: json.RawMessage(`[]`)})
			return err
		}
		failures := make(chan error, 2)
		for range 2 {
			go func() { failures <- call(t.Context(), "pump") }()
		}
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, call(short, "pump"), context.DeadlineExceeded, "who waits gives up, and the start goes on")
		require.EqualError(t, <-failures, "the service pump: no power")
		require.EqualError(t, <-failures, "the service pump: no power")
		require.Equal(t, 1, started)
		fail = nil
		require.NoError(t, call(t.Context(), "pump"))
		require.NoError(t, call(t.Context(), "pump"))
		require.Equal(t, 2, started)
		require.EqualError(t, call(t.Context(), "slow"), "the service slow: context deadline exceeded")
		require.EqualError(t, call(t.Context(), "odd"), "the service odd: its start panicked: boom")
		require.NoError(t, call(t.Context(), "other"))

		require.True(t, port.Has(protocol.StepStop))
		require.EqualError(t, port.Run(t.Context(), protocol.StepStop), "the service pump: leaks")
		require.Equal(t, []string{"other", "pump"}, stopped)
		require.NoError(t, port.Run(t.Context(), protocol.StepStop), "nothing is left to stop")
		require.Equal(t, []string{"other", "pump"}, stopped)
	})
}
