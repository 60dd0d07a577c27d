package actors

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// handling is a plugin with one handler.
func handling(name, key string, h plugin.Handler) *plugin.Definition {
	p := plugin.Define(name)
	plugin.Handle(p, key, h)
	return p
}

// slowly answers after a while, or gives up with its context.
func slowly(d time.Duration, result string) plugin.Handler {
	return func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		select {
		case <-time.After(d):
			return asData(result), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func TestInvoke_passesInputAndResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, handling("echo", "model:ECHO", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
			return in, nil
		}))
		startReady(t, h, manifestFor("echo"))
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "model:ECHO", Input: []byte(`{"a": 1}`), Plugin: "echo"})
		require.NoError(t, err)
		require.Equal(t, `{"a": 1}`, string(got))
		require.Zero(t, wantPhase(t, h, "echo", lifecycle.Ready).InFlight)
	})
}

func TestInvoke_whoObservesIsToldOfEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []CallEnded
		h := startHostWith(t, Options{Observe: func(c CallEnded) { seen = append(seen, c) }}, handling("a", "tool:slow", slowly(time.Second, "1")))
		startReady(t, h, manifestFor("a"))
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:slow", Input: []byte(`{}`)})
		require.NoError(t, err)
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "tool:none"})
		require.Error(t, err)
		require.Equal(t, []CallEnded{{Key: "tool:slow", Took: time.Second}, {Key: "tool:none", Err: err}}, seen)
	})
}

func TestInvoke_everyCallIsAPartOfATrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		p := plugin.Define("a")
		plugin.Handle(p, "model:INNER", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("no luck") })
		plugin.Handle(p, "model:OUTER", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return nil, plugin.From(ctx).Call(ctx, "model:INNER", nil, nil)
		})
		h := startHostWith(t, Options{Trace: func(c protocol.Call) (string, func(error)) {
			told = append(told, c.Key+" in "+c.Trace)
			return c.Trace + "/" + c.Key, func(err error) { told = append(told, c.Key+": "+err.Error()) }
		}}, p)
		startReady(t, h, manifestFor("a"))
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:OUTER", Trace: "t"})
		require.Error(t, err)
		require.Equal(t, []string{"model:OUTER in t", "model:INNER in t/model:OUTER", "model:INNER: no luck", "model:OUTER: no luck"}, told)
	})
}

func TestInvoke_countsCallsAndThoseThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := func(result string, err error) plugin.Handler {
			return func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(result), err }
		}
		p := handling("a", "tool:good", answers(`{"content":"fine"}`, nil))
		plugin.Handle(p, "tool:bad", answers("", errors.New("no luck")))
		plugin.Handle(p, "tool:sorry", answers(`{"error":"no luck"}`, nil))
		plugin.Handle(p, "model:M", answers(`{"error":"only a word"}`, nil))
		h := startHost(t, p)
		startReady(t, h, manifestFor("a"))
		for _, key := range []string{"tool:good", "tool:bad", "tool:sorry", "model:M", "tool:unknown"} {
			_, _ = callKey(t, h, key) // what becomes of it is counted
		}
		info := wantPhase(t, h, "a", lifecycle.Ready)
		require.EqualValues(t, 4, info.Calls)
		require.EqualValues(t, 2, info.CallErrors)
	})
}

func TestInvoke_anErrorKeepsItsWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := errors.New("no luck")
		h := startHost(t, handling("a", "tool:a", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, own }))
		startReady(t, h, manifestFor("a"))
		_, err := callKey(t, h, "tool:a")
		require.Same(t, own, err)
	})
}

func TestInvoke_aPanicFailsTheCallAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log notebook
		p := offering("a", "tool:good")
		plugin.Handle(p, "tool:bad", func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("oh no") })
		h := startHostWith(t, Options{Log: log.logger()}, p)
		startReady(t, h, manifestFor("a"))
		_, err := callKey(t, h, "tool:bad")
		require.EqualError(t, err, "panic: oh no")
		require.Contains(t, log.String(), `msg="the plugin panicked" plugin=a session=plugin-session-0 error="panic: oh no" stack="goroutine`)
		wantPhase(t, h, "a", lifecycle.Ready)
		wantCall(t, h, "tool:good", `"a"`)
	})
}

func TestInvoke_aToolsErrorIsAFailedCall(t *testing.T) {
	for result, text := range map[string]string{
		`{"content":"fine","ERROR":"x"}`: "",
		`{"err\u006fr":"boom"}`:          "boom",
		`{"error":"no luck","data":1}`:   "no luck",
		`{"error":""}`:                   "",
		`{"error":null}`:                 "",
		`{"data":{"error":"inner"}}`:     "",
		`["error"]`:                      "",
		`"\"error\""`:                    "",
	} {
		synctest.Test(t, func(t *testing.T) {
			p := handling("a", "tool:a", answers(result))
			plugin.Handle(p, "model:A", answers(result))
			h := startHost(t, p)
			startReady(t, h, manifestFor("a"))
			got, err := callKey(t, h, "tool:a")
			require.Equal(t, result, got)
			if text == "" {
				require.NoError(t, err)
			} else {
				var peer *protocol.PeerError
				require.ErrorAs(t, err, &peer)
				require.EqualError(t, err, text)
				require.JSONEq(t, result, string(peer.Data))
			}
			wantCall(t, h, "model:A", result)
		})
	}
}

func TestInvoke_whatCannotBeCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "data:x", "tool:a"), offering("b", "data:x"))
		startReady(t, h, manifestFor("a"))
		startReady(t, h, manifestFor("b"))
		set(t, h, "cap:host", lifecycle.CapReady)
		for _, test := range []struct {
			call protocol.Call
			code protocol.Code
			text string
		}{
			{protocol.Call{Key: "tool:none"}, protocol.CodeNotFound, "nobody offers tool:none"},
			{protocol.Call{Key: "tool:a", Plugin: "b"}, protocol.CodeNotFound, "plugin b does not offer tool:a"},
			{protocol.Call{Key: "tool:a", Plugin: "nobody"}, protocol.CodeNotFound, "plugin nobody does not offer tool:a"},
			{protocol.Call{Key: "tool:a", Plugin: "a", Instance: "i"}, protocol.CodeNotFound, "plugin a, instance i does not offer tool:a"},
			{protocol.Call{Key: "cap:host"}, protocol.CodeInvalid, "plugin airi-host: cap:host of the host can be awaited, not called"},
			{
				protocol.Call{Key: "data:x"},
				protocol.CodeAmbiguous,
				"data:x is offered by several plugins (a, b): name the one to use, e.g. --plugin a, or the call's Plugin",
			},
			{
				protocol.Call{Key: ""},
				protocol.CodeInvalid,
				`the capability's key: a capability's key is empty: expected "<kind>:<name>", e.g. "tool:greet"`,
			},
			{
				protocol.Call{Key: "tool:"},
				protocol.CodeInvalid,
				`the capability's key: capability key "tool:" has no name: expected one after "tool:"`,
			},
		} {
			_, err := h.Invoke(t.Context(), test.call)
			wantCode(t, err, test.code, test.text)
		}
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "data:x", Plugin: "b"})
		require.NoError(t, err)
		require.Equal(t, `"b"`, said(got))
	})
}

func TestInvoke_whatCanOnlyBeAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHostWith(t, Options{Programs: map[string]protocol.Program{"a": awaited{plugin.Define("a")}}})
		startReady(t, h, manifestFor("a"))
		_, err := callKey(t, h, "cap:a")
		wantCode(t, err, protocol.CodeInvalid, "cap:a of plugin a can be awaited, not called")
	})
}

// awaited is a program whose one offer is not invocable.
type awaited struct{ *plugin.Definition }

func (awaited) Offers() []protocol.Offer { return []protocol.Offer{{Key: "cap:a"}} }

func TestInvoke_isRefusedAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := handling("a", "tool:slow", slowly(time.Second, `1`))
		h := startHostWith(t, Options{Limits: Limits{Pending: 3}}, p)
		startReady(t, h, manifestFor("a", func(m *manifest.Manifest) { m.Host.Limits.PendingCalls = 2 }))
		first := beginCall(t, h, protocol.Call{Key: "tool:slow"})
		second := beginCall(t, h, protocol.Call{Key: "tool:slow"})
		require.EqualValues(t, 2, wantPhase(t, h, "a", lifecycle.Ready).InFlight)
		_, err := callKey(t, h, "tool:slow")
		wantCode(t, err, protocol.CodeOverloaded,
			"plugin a has 2 calls in flight, its limit: try again later, or raise airi-host.limits.pendingCalls")
		require.NoError(t, (<-first).err)
		require.NoError(t, (<-second).err)
		wantCall(t, h, "tool:slow", `1`)
	})
}

func TestInvoke_handlersThatNobodyWaitsForCountToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := handling("a", "tool:deaf", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			<-release
			return nil, nil
		})
		h := startHostWith(t, Options{Limits: Limits{Pending: 1}, Timeouts: Timeouts{Call: time.Second}}, p)
		events := listen(t, h, KindDropped, nil)
		startReady(t, h, manifestFor("a"))
		_, err := callKey(t, h, "tool:deaf")
		require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err))
		_, err = callKey(t, h, "tool:deaf")
		require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err))
		info := wantPhase(t, h, "a", lifecycle.Ready)
		require.EqualValues(t, 1, info.Busy)
		require.Zero(t, info.InFlight)

		close(release)
		require.Equal(t, []string{"a drops late-answer 1 tool:deaf"}, events.all())
		info = wantPhase(t, h, "a", lifecycle.Ready)
		require.Zero(t, info.Busy)
		require.Equal(t, map[string]uint64{"late-answer": 1}, info.Dropped)
		_, err = callKey(t, h, "tool:deaf")
		require.NoError(t, err)
	})
}

func TestInvoke_namesTheLimitThatFired(t *testing.T) {
	const late = "tool:a of plugin a did not answer before the deadline "
	second := time.Second
	for source, test := range map[string]struct {
		call, caller, own, host time.Duration
		after                   time.Duration
	}{
		"(the call's own deadline)":                      {call: second, caller: 2 * second, after: second},
		"(the caller's deadline)":                        {call: 3 * second, caller: 2 * second, after: 2 * second},
		"(the host's limit timeouts.call)":               {host: 4 * second, after: 4 * second},
		"(the plugin's limit airi-host.timeouts.call)":   {host: 4 * second, own: 5 * second, after: 5 * second},
		"(the host's limit timeouts.call) ":              {host: -1, after: 30 * second},
		"(the plugin's limit airi-host.timeouts.call) ":  {own: second / 2, caller: second, after: second / 2},
		"(the call's own deadline) ":                     {call: time.Minute, own: second, after: time.Minute},
		"(the plugin's limit airi-host.timeouts.call)  ": {host: second, own: time.Hour, after: time.Hour},
	} {
		t.Run(source, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHostWith(t, Options{Timeouts: Timeouts{Call: test.host}},
					handling("a", "tool:a", slowly(2*time.Hour, `1`)))
				startReady(t, h, manifestFor("a", bounded(func(own *manifest.Timeouts) { own.Call = test.own })))
				began := time.Now()
				ctx, c := t.Context(), protocol.Call{Key: "tool:a"}
				if test.caller > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, test.caller)
					defer cancel()
				}
				if test.call > 0 {
					c.Deadline = began.Add(test.call)
				}
				_, err := h.Invoke(ctx, c)
				wantCode(t, err, protocol.CodeTimeout, late+strings.TrimSpace(source))
				require.Equal(t, test.after, time.Since(began))
			})
		})
	}
}

func TestInvoke_aDeadlineThatHasPassedIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, handling("a", "tool:a", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			panic("not to be called")
		}))
		startReady(t, h, manifestFor("a"))
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:a", Deadline: time.Now()})
		wantCode(t, err, protocol.CodeTimeout, "tool:a of plugin a was not called before the deadline (the call's own deadline)")
	})
}

func TestInvoke_aHandlerSeesTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, handling("a", "tool:a", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			at, ok := ctx.Deadline()
			require.True(t, ok)
			return asData(`"` + time.Until(at).String() + `"`), nil
		}))
		startReady(t, h, manifestFor("a"))
		wantCall(t, h, "tool:a", `"30s"`)
	})
}

func TestInvoke_theCallerMayGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, handling("a", "tool:a", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			time.Sleep(time.Minute)
			return nil, nil
		}))
		events := listen(t, h, KindDropped, nil)
		startReady(t, h, manifestFor("a"))
		ctx, cancel := context.WithCancelCause(t.Context())
		done := begun(func() (SessionInfo, error) {
			_, err := h.Invoke(ctx, protocol.Call{Key: "tool:a"})
			return SessionInfo{}, err
		})
		cancel(errors.New("went home"))
		wantCode(t, (<-done).err, protocol.CodeCancelled, "tool:a of plugin a did not answer: the caller gave up: went home")
		require.Empty(t, events.all())
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a drops late-answer 1 tool:a"}, events.all(), "what the handler answers then is for nobody")
	})
}

// TestInvoke_announcedIsNotReady is the story of a plugin that takes its time.
func TestInvoke_announcedIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		ready := false
		p := handling("slow", "tool:x", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			require.True(t, ready, "nothing is called before it is ready")
			calls.Add(1)
			return asData(`1`), nil
		}).OnInit(lasts(2 * time.Second)).OnSetup(hook(func(context.Context) error { ready = true; return nil }))
		h := startHost(t, p)
		started := beginStart(t, h, manifestFor("slow"))
		wantOffers(t, h, "tool:x announced")
		for _, plugin := range []string{"", "slow"} {
			_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:x", Plugin: plugin, Deadline: time.Now().Add(200 * time.Millisecond)})
			wantCode(t, err, protocol.CodeTimeout,
				"tool:x of plugin slow is not ready: preparing before the deadline (the call's own deadline)")
		}
		require.Zero(t, calls.Load())
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:x", Deadline: time.Now().Add(10 * time.Second)})
		require.NoError(t, err)
		require.Equal(t, `1`, said(got))
		require.EqualValues(t, 1, calls.Load())
		require.NoError(t, (<-started).err)
	})
}

func TestInvoke_waitsWhileItsOwnerStartsAndFailsWithIt(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(t *testing.T, h *Host)
		code protocol.Code
		text string
	}{
		"it fails": {
			func(*testing.T, *Host) { time.Sleep(2 * time.Second) },
			protocol.CodeNotReady, "tool:x of plugin a is not ready: failed (no luck)",
		},
		"it is stopped": {func(t *testing.T, h *Host) {
			t.Helper()
			_, err := h.Stop(t.Context(), "plugin-session-0")
			require.NoError(t, err)
		}, protocol.CodeNotReady, "tool:x of plugin a is not ready: stopped"},
		"it needs configuration": {func(t *testing.T, h *Host) {
			t.Helper()
			_, err := h.MarkConfigurationNeeded(t.Context(), "plugin-session-0", "a new key")
			require.NoError(t, err)
		}, protocol.CodeNotReady, "tool:x of plugin a is not ready: configuration-needed (a new key)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t, offering("a", "tool:x").OnInit(func(ctx context.Context, s *plugin.Session) error {
					return errors.Join(lasts(time.Second)(ctx, s), errors.New("no luck"))
				}))
				set(t, h, "cap:x", lifecycle.CapReady)
				beginStart(t, h, manifestFor("a", requires("cap:x")))
				first := beginCall(t, h, protocol.Call{Key: "tool:x"})
				test.end(t, h)
				wantCode(t, (<-first).err, test.code, test.text)
			})
		})
	}
}

func TestInvoke_whatFailedFailsAtOnceWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:x").OnInit(hook(func(context.Context) error { return errors.New("no luck") })))
		_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
		require.EqualError(t, err, "no luck")
		for _, key := range []string{"tool:x", "tool:unknown"} {
			_, err = h.Invoke(t.Context(), protocol.Call{Key: key, Plugin: "a"})
			wantCode(t, err, protocol.CodeNotReady, key+" of plugin a is not ready: failed (no luck)")
		}
	})
}

func TestInvoke_goesToAnotherOwnerThatIsReadyFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("slow", "tool:x").OnInit(lasts(time.Minute/4)), offering("fast", "tool:x").OnInit(lasts(time.Second)))
		beginStart(t, h, manifestFor("slow"))
		done := beginCall(t, h, protocol.Call{Key: "tool:x"})
		named := beginCall(t, h, protocol.Call{Key: "tool:x", Plugin: "slow"})
		startReady(t, h, manifestFor("fast"))
		wantCall(t, h, "tool:x", `"fast"`)
		for _, call := range []<-chan outcomeOf{done, named} {
			require.NoError(t, (<-call).err)
		}
	})
}

func TestInvoke_anEventIsHeardByAllAtMostOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard [4]int
		hears := func(i int, name string, err error) *plugin.Definition {
			p := plugin.Define(name)
			plugin.On(p, "tick", func(context.Context, int) error { heard[i]++; return err })
			return p
		}
		hangs := plugin.Define("hangs")
		plugin.On(hangs, "tick", func(context.Context, int) error { time.Sleep(time.Minute); return nil })
		h := startHost(t, hears(0, "a", nil), hears(1, "b", errors.New("no luck")), hears(2, "loaded", nil), hangs, offering("other", "event:else"))
		for _, name := range []string{"a", "b", "hangs", "other"} {
			startReady(t, h, manifestFor(name))
		}
		beginStart(t, h, manifestFor("loaded", requires("cap:never")))
		events := listen(t, h, KindDropped, nil)
		began := time.Now()
		result, err := h.Invoke(t.Context(), protocol.Call{Key: "event:tick", Input: []byte(`7`)})
		require.NoError(t, err)
		require.Nil(t, result)
		require.Equal(t, [4]int{1, 1, 0, 0}, heard, "who is not ready hears nothing, now or later")
		require.Equal(t, 30*time.Second, time.Since(began))
		time.Sleep(time.Minute)
		require.ElementsMatch(t, []string{
			"b drops event 1 event:tick: no luck",
			"hangs drops event 1 event:tick: event:tick of plugin hangs did not answer before the deadline (the host's limit timeouts.call)",
			"hangs drops late-answer 1 event:tick",
		}, events.all())

		_, err = h.Invoke(t.Context(), protocol.Call{Key: "event:tick", Input: []byte(`7`), Plugin: "a"})
		require.NoError(t, err)
		require.Equal(t, [4]int{2, 1, 0, 0}, heard)
		_, err = callKey(t, h, "event:nobody")
		require.NoError(t, err)
	})
}

func TestInvoke_aPluginCallsAnotherUnderItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := handling("asks", "tool:ask", func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
			var out json.RawMessage
			err := plugin.From(ctx).Call(ctx, "tool:answer", in, &out)
			return out, err
		})
		h := startHost(t, asks, offering("answers", "tool:answer"))
		startReady(t, h, manifestFor("asks"))
		_, err := callKey(t, h, "tool:ask")
		wantCode(t, err, protocol.CodeNotFound, "nobody offers tool:answer")
		startReady(t, h, manifestFor("answers"))
		wantCall(t, h, "tool:ask", `"answers"`)
	})
}

func TestInvoke_aPluginMayCallWhatItsManifestLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := handling("asks", "model:ASK", func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
			var key string
			if err := json.Unmarshal(in, &key); err != nil {
				return nil, err
			}
			return nil, plugin.From(ctx).Call(ctx, key, nil, nil)
		})
		h := startHost(t, asks, offering("b", "tool:b", "model:B"))
		startReady(t, h, manifestFor("b"))
		startReady(t, h, manifestFor("asks", func(m *manifest.Manifest) { m.Host.Invoke = []string{"tool:*"} }))
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:ASK", Input: []byte(`"tool:b"`)})
		require.NoError(t, err)
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "model:ASK", Input: []byte(`"model:B"`)})
		wantCode(t, err, protocol.CodeDenied, "plugin asks may not call model:B: its manifest's airi-host.invoke does not list it")
	})
}

func TestInvoke_aCallOfAPluginEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		asks := plugin.Define("asks").OnInit(func(_ context.Context, s *plugin.Session) error {
			failed <- s.Call(context.Background(), "tool:slow", nil, nil)
			return nil
		})
		h := startHost(t, asks, handling("slow", "tool:slow", slowly(time.Minute/4, `1`)))
		startReady(t, h, manifestFor("slow"))
		beginStart(t, h, manifestFor("asks"))
		_, err := h.Stop(t.Context(), "plugin-session-1")
		require.NoError(t, err)
		wantCode(t, <-failed, protocol.CodeCancelled,
			"tool:slow of plugin slow did not answer: the caller gave up: plugin asks was stopped")
	})
}
