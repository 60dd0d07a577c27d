package plugin_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// calling is a plugin whose data "call" is a call of the host that the test describes.
func calling(call func(context.Context, *plugin.Session) error) *plugin.Definition {
	p := plugin.Define("calling")
	plugin.Data(p, "call", func(ctx context.Context, _ any) (any, error) { return nil, call(ctx, plugin.From(ctx)) })
	return p
}

func TestSession_callsMethodsOfThePaperclipHost(t *testing.T) {
	state := json.RawMessage(`null`)
	h := newHost(t)
	h.services["state.set"] = func(c protocol.Call) (json.RawMessage, error) {
		require.Equal(t, company, c.Scope, "the call is made for the company of the handler's own call")
		state = c.Input
		return nil, nil
	}
	h.services["companies.ping"] = func(c protocol.Call) (json.RawMessage, error) {
		require.JSONEq(t, `{}`, string(c.Input))
		return json.RawMessage(`[1,2]`), nil
	}
	h.serve(t.Context(), calling(func(ctx context.Context, s *plugin.Session) error {
		var list []int
		require.NoError(t, s.Call(ctx, "companies.ping", nil, &list))
		require.Equal(t, []int{1, 2}, list)
		err := s.Call(ctx, "nothing.there", nil, nil)
		require.EqualError(t, err, `Host does not handle method "nothing.there"`)
		return s.Call(ctx, "state.set", map[string]string{"scopeKind": "company", "scopeId": plugin.Scope(ctx)}, nil)
	}), plugin.PaperclipOptions{}).ready()
	h.want("data:call", `{}`, `null`)
	require.JSONEq(t, `{"scopeKind":"company","scopeId":"company-1"}`, string(state))
}

func TestSession_callsForTheInvocationOfItsHandlerAlone(t *testing.T) {
	outside := make(chan *plugin.Session, 1)
	p := calling(func(ctx context.Context, s *plugin.Session) error { return s.Call(ctx, "m", nil, nil) })
	p.OnInit(func(_ context.Context, s *plugin.Session) error {
		outside <- s
		return nil
	})
	l, _ := newLines(t.Context(), t, p, plugin.PaperclipOptions{})
	l.send(`{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"call"},"paperclipInvocation":{"id":"i-1","scope":{"companyId":"c"}}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"m","params":{},"paperclipInvocationId":"i-1"}`, l.next())
	l.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"no"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"no"}}`, l.next(), "the host's error keeps its code")

	l.send(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}`)
	require.Contains(t, l.next(), `"id":2`)
	done := make(chan error)
	go func() { done <- (<-outside).Call(t.Context(), "m", nil, nil) }()
	require.Equal(t, `{"jsonrpc":"2.0","id":2,"method":"m","params":{}}`, l.next())
	l.send(`{"jsonrpc":"2.0","id":2,"result":null}`)
	require.NoError(t, <-done)
}

func TestSession_callsCapabilitiesThroughTheHost(t *testing.T) {
	h := newHost(t)
	h.services["airi-host.invoke"] = func(c protocol.Call) (json.RawMessage, error) { return c.Input, nil }
	var got struct {
		Key, Plugin string
		Input       person
		TimeoutMS   int64
	}
	h.serve(t.Context(), calling(func(ctx context.Context, s *plugin.Session) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return s.Call(ctx, "tool:greet", person{"Ada"}, &got, plugin.Of("greeter"))
	}), plugin.PaperclipOptions{}).ready()
	h.want("data:call", `{}`, `null`)
	require.Equal(t, "tool:greet", got.Key)
	require.Equal(t, "greeter", got.Plugin)
	require.Equal(t, person{"Ada"}, got.Input)
	require.InDelta(t, 30_000, got.TimeoutMS, 1_000, "the default limit is shorter than the context's")
}

func TestSession_callsEndAtTheirLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := make(chan error, 4)
		p := calling(func(ctx context.Context, s *plugin.Session) error {
			failures <- s.Call(ctx, "slow", nil, nil)
			short, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			failures <- s.Call(short, "slow", nil, nil)
			cancelled, stop := context.WithCancel(ctx)
			stop()
			failures <- s.Call(cancelled, "slow", nil, nil)
			return nil
		})
		l, served := newLines(t.Context(), t, p, plugin.PaperclipOptions{})
		l.send(`{"jsonrpc":"2.0","id":1,"method":"getData","params":{"key":"call"}}`)
		require.Contains(t, l.next(), `"method":"slow"`)
		wantCode(t, <-failures, protocol.CodeTimeout, "plugin calling: slow: the host did not answer within the caller's limit of 30s")
		require.Contains(t, l.next(), `"method":"slow"`)
		wantCode(t, <-failures, protocol.CodeTimeout, "plugin calling: slow: the host did not answer within the caller's limit of 2s")
		wantCode(t, <-failures, protocol.CodeCancelled, "plugin calling: nobody waits for slow any more: context canceled")
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":null}`, l.next())

		l.send(`{"jsonrpc":"2.0","id":1,"result":null}`)
		require.Contains(t, l.next(), `"level":"debug"`, "a late answer is not used")
		require.NoError(t, l.in.Close())
		require.NoError(t, <-served)
	})
}

func wantCode(t *testing.T, err error, code protocol.Code, text string) {
	t.Helper()
	require.EqualError(t, err, text)
	require.Equal(t, code, protocol.CodeOf(err))
}

func TestSession_callsFailWhenItHasEnded(t *testing.T) {
	sessions := make(chan *plugin.Session, 1)
	p := plugin.Define("p").OnInit(func(_ context.Context, s *plugin.Session) error {
		sessions <- s
		return nil
	})
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{}).ready()
	require.NoError(t, h.stop())
	s := <-sessions
	wantCode(t, s.Call(t.Context(), "m", nil, nil), protocol.CodeNotReady, `Cannot call "m": worker RPC host is not running`)
	s.Log().Info("into the void")
}

func TestSession_inputsTooLongAreErrors(t *testing.T) {
	h := newHost(t).serve(t.Context(), calling(func(ctx context.Context, s *plugin.Session) error {
		return s.Call(ctx, "m", strings.Repeat("x", 2000), nil)
	}), plugin.PaperclipOptions{MaxRecord: 2000}).ready()
	h.wantFailure("data:call", `{}`,
		"plugin tested: the input of m has 2002 bytes, the limit is 1743: send less, or in parts", "-32002")
}

func TestSession_offersWhatThePaperclipHostCanCall(t *testing.T) {
	nothing := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	session := make(chan *plugin.Session, 1)
	p := plugin.Define("late").OnSetup(func(_ context.Context, s *plugin.Session) error {
		session <- s
		for _, key := range []string{"tool:late", "job:sync", "data:d", "action:a", "event:e.*"} {
			plugin.Handle(s, key, nothing)
		}
		return nil
	})
	h := newHost(t)
	subscribed := make(chan string, 1)
	h.services["events.subscribe"] = func(c protocol.Call) (json.RawMessage, error) {
		subscribed <- string(c.Input)
		return nil, nil
	}
	h.serve(t.Context(), p, plugin.PaperclipOptions{}).ready()
	require.JSONEq(t, `{"eventPattern":"e.*","filter":null}`, <-subscribed)
	for _, key := range []string{"tool:late", "job:sync", "data:d"} {
		h.want(key, `{}`, `null`)
	}
	s := <-session
	plugin.Handle(s, "tool:none", nothing)
	line := h.wantLog("the host refused an offer")
	require.Contains(t, string(line.Meta), `"key":"tool:none"`, "outside a hook it is logged")
	require.NoError(t, s.Withdraw("data:d"))
	h.wantFailure("data:d", `{}`, `No data handler registered for key "d" in plugin tested`, "-32002")
	wantCode(t, s.Withdraw("tool:late"), protocol.CodeNotFound,
		"plugin tested: tool:late: the manifest declares it, and a Paperclip host has no call to take it back")
}

func TestSession_refusesWhatThePaperclipHostHasNoCallFor(t *testing.T) {
	refused := map[string]string{
		"tool:none":              `tool:none: a Paperclip host learns of it by the manifest alone: declare "none" among its tools`,
		"model:M":                `model:M: a Paperclip host has no call for it: expected one of the kinds tool, action, data, job, webhook, http, event and environment`,
		"environment:shed.probe": `environment:shed.probe: a Paperclip host is told of environment drivers before the plugin runs: call plugin.Environment with the Definition`,
		"webhook:hook":           `webhook:hook: a Paperclip host is told before the plugin runs whether it takes requests: offer one of the kind on the Definition`,
	}
	for key, why := range refused {
		t.Run(key, func(t *testing.T) {
			p := plugin.Define("late").OnSetup(func(_ context.Context, s *plugin.Session) error {
				plugin.Handle(s, key, nil)
				return nil
			})
			h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{})
			require.ErrorContains(t, h.start(`{"manifest":`+manifest+`}`), "offering "+key+": plugin tested: "+why)
		})
	}
	p := plugin.Define("early")
	plugin.Handle(p, "model:M", nil)
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{}).ready()
	require.Contains(t, string(h.wantLog("the host cannot call this").Meta), `"key":"model:M"`, "on a definition it is for other hosts")
}

func TestSession_saysWhatThePaperclipHostHasNot(t *testing.T) {
	h := newHost(t).serve(t.Context(), calling(func(ctx context.Context, s *plugin.Session) error {
		require.Equal(t, "tested", s.Plugin())
		require.NoError(t, s.Wait(ctx))
		wantCode(t, s.Wait(ctx, "tool:a", "tool:b"), protocol.CodeNotFound, "plugin tested: a Paperclip host has no call to wait for "+
			`tool:a, tool:b: name it in the manifest's "airi-host".requires, then the plugin starts when it is ready`)
		wantCode(t, s.Send("event:e", 1), protocol.CodeNotFound, "plugin tested: event:e: a Paperclip host listens to no channel of its "+
			`plugins: call "events.emit" with {name, companyId, payload}`)
		return nil
	}), plugin.PaperclipOptions{}).ready()
	h.want("data:call", `{}`, `null`)
}
