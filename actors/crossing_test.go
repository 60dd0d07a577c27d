package actors

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/logtest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// relaying is a plugin whose tool calls another one, and counts.
func relaying(name, key string, runs *atomic.Int64, opts ...plugin.CallOption) *plugin.Definition {
	p := plugin.Define(name)
	plugin.Tool(p, name, func(ctx context.Context, in json.RawMessage) (plugin.Result, error) {
		runs.Add(1)
		return plugin.Result{}, plugin.From(ctx).Call(ctx, key, in, nil, opts...)
	})
	return p
}

func TestCrossing_isToldWithItsChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		last := plugin.Define("three")
		plugin.Tool(last, "three", func(context.Context, json.RawMessage) (plugin.Result, error) {
			return plugin.Result{Error: "the secret is out"}, nil
		})
		var logged logtest.Buffer
		log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
		h := startHostWith(t, Options{Log: log, LogEvents: KindCall}, relaying("one", "tool:two", &runs), relaying("two", "tool:three", &runs), last)
		for _, name := range []string{"one", "two", "three"} {
			startReady(t, h, manifestFor(name))
		}
		sub := h.Subscribe(KindCall, 0)
		defer sub.Close()
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:one", Scope: "acme", Input: json.RawMessage(`{"token":"secret"}`)})
		require.ErrorContains(t, err, "the secret is out")
		chain := []protocol.Link{{Key: "tool:one"}, {Caller: "one", Ecosystem: "go", Key: "tool:two"}, {Caller: "two", Ecosystem: "go", Key: "tool:three"}}
		for i, name := range []string{"three", "two", "one"} {
			e := (<-sub.C).(Called)
			require.Equal(t, name, e.Plugin)
			require.Equal(t, []any{"go", chain[2-i].Caller, "acme", codePeer}, []any{e.Ecosystem, e.Caller, e.Scope, e.Code})
			require.Equal(t, chain[:3-i], e.Chain)
			text, err := EncodeEvent(e)
			require.NoError(t, err)
			require.NotContains(t, string(text), "secret", "who called whom is told, and not with what")
		}
		require.Contains(t, logged.String(), `chain="tool:one → one (go) tool:two → two (go) tool:three"`)
		require.NotContains(t, logged.String(), "secret")
	})
}

// Plugins that call each other in a circle come to an end, also where nobody knows which
// call is made for the sake of which other.
func TestCrossing_endsCircles(t *testing.T) {
	for name, c := range map[string]struct {
		limit, want int64
		lost        bool
	}{
		"by default": {0, 32, false}, "as told": {5, 5, false}, "no more than can be told apart": {1000, 64, false},
		"its cause is unknown": {6, 6, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int64
				var denied []Denial
				plugins := []*plugin.Definition{relaying("one", "tool:two", &runs), relaying("two", "tool:one", &runs)}
				if c.lost {
					plugins[1] = forgetful("two", "tool:one", &runs)
				}
				h := startHostWith(t, Options{Limits: Limits{CallDepth: int(c.limit)}, Denied: func(d Denial) { denied = append(denied, d) }}, plugins...)
				startReady(t, h, manifestFor("one"))
				startReady(t, h, manifestFor("two"))
				_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:one"})
				require.ErrorContains(t, err, "(limits.callDepth): do plugins call each other in a circle?")
				require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
				require.EqualValues(t, c.want, runs.Load())
				require.Len(t, denied, 1)
				require.LessOrEqual(t, len(denied[0].Chain), protocol.MaxLinks+1)
				if !c.lost {
					require.Equal(t, protocol.Link{Key: "tool:one"}, denied[0].Chain[0])
				}
				require.Nil(t, h.current("one").serves.cause(nil), "nothing is left of it")
			})
		})
	}
}

// forgetful calls of its own accord, as far as anybody knows.
func forgetful(name, key string, runs *atomic.Int64) *plugin.Definition {
	var session *plugin.Session
	p := plugin.Define(name)
	p.OnSetup(func(_ context.Context, s *plugin.Session) error { session = s; return nil })
	plugin.Tool(p, name, func(context.Context, json.RawMessage) (plugin.Result, error) {
		runs.Add(1)
		return plugin.Result{}, session.Call(context.Background(), key, map[string]any{}, nil)
	})
	return p
}

func TestCrossing_endsCirclesOfEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard atomic.Int64
		echo := func(name, hears, tells string) *plugin.Definition {
			p := plugin.Define(name)
			plugin.On(p, hears, func(ctx context.Context, in json.RawMessage) error {
				heard.Add(1)
				return plugin.From(ctx).Call(ctx, "event:"+tells, in, nil)
			})
			return p
		}
		h := startHostWith(t, Options{Limits: Limits{CallDepth: 7}}, echo("one", "a", "b"), echo("two", "b", "a"))
		startReady(t, h, manifestFor("one"))
		startReady(t, h, manifestFor("two"))
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "event:a"})
		require.NoError(t, err)
		settle()
		require.EqualValues(t, 7, heard.Load())
	})
}

func TestCrossing_isForTheTenantThatIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		var denied []Denial
		var mu sync.Mutex
		forAnother := func(c *protocol.Call) { c.Scope = "globex" }
		last := plugin.Define("last")
		plugin.Tool(last, "last", func(ctx context.Context, _ json.RawMessage) (plugin.Result, error) {
			return plugin.Text(plugin.Scope(ctx)), nil
		})
		scopes := plugin.Define("scopes")
		plugin.Tool(scopes, "scopes", func(ctx context.Context, _ json.RawMessage) (plugin.Result, error) {
			var of plugin.Result
			err := plugin.From(ctx).Call(ctx, "tool:last", map[string]any{}, &of)
			return of, err
		})
		h := startHostWith(t, Options{Denied: func(d Denial) { mu.Lock(); denied = append(denied, d); mu.Unlock() }},
			relaying("other", "tool:last", &runs, forAnother), scopes, last)
		for _, name := range []string{"other", "scopes", "last"} {
			startReady(t, h, manifestFor(name))
		}
		for scope, want := range map[string]string{"acme": `{"content":"acme"}`, "": `{}`} {
			got, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:scopes", Scope: scope})
			require.NoError(t, err)
			require.JSONEq(t, want, string(got))
		}
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:other", Scope: "acme"})
		require.EqualError(t, err, `plugin other may not call tool:last for "globex": it serves a call for "acme"`)
		require.Equal(t, protocol.CodeDenied, protocol.CodeOf(err))
		require.Len(t, denied, 1)
		require.Equal(t, []protocol.Link{{Key: "tool:other"}, {Caller: "other", Ecosystem: "go", Key: "tool:last"}}, denied[0].Chain)
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "tool:other"})
		require.NoError(t, err, "of its own accord it is for whom it likes")
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "tool:other", Scope: "globex"})
		require.NoError(t, err)
	})
}

// What is known where a wire never tells for the sake of which call it makes one.
func TestServes_guessTheCause(t *testing.T) {
	for name, c := range map[string]struct {
		serves []protocol.Call
		told   *protocol.Cause
		want   *protocol.Cause
	}{
		"nothing is served":          {nil, protocol.CauseUntold, nil},
		"nothing, by its own accord": {nil, nil, nil},
		"one call":                   {[]protocol.Call{{Scope: "acme"}}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Scope: "acme", Guessed: true}},
		"one, and it says of its own accord": {
			[]protocol.Call{{Scope: "acme"}}, nil, &protocol.Cause{Depth: 1, Guessed: true},
		},
		"several of one": {
			[]protocol.Call{{Scope: "acme"}, {Scope: "acme", Cause: &protocol.Cause{Depth: 4}}, {}}, protocol.CauseUntold,
			&protocol.Cause{Depth: 5, Scope: "acme", Guessed: true},
		},
		"several":        {[]protocol.Call{{Scope: "acme"}, {Scope: "globex"}}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Several: true, Guessed: true}},
		"what is told":   {[]protocol.Call{{Scope: "acme"}}, &protocol.Cause{Key: "k", Depth: 9}, &protocol.Cause{Key: "k", Depth: 9}},
		"a deeper chain": {[]protocol.Call{{Cause: &protocol.Cause{Depth: 900}}}, nil, &protocol.Cause{Depth: maxCallDepth, Guessed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var s serves
			for i := range c.serves {
				s.begin(&c.serves[i])
			}
			require.Equal(t, c.want, s.cause(c.told))
			for i := range c.serves {
				s.end(&c.serves[i])
			}
			require.Nil(t, s.cause(protocol.CauseUntold))
			require.Empty(t, s.scopes)
		})
	}
}
