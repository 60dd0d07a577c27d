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

// Plugins that call each other in a circle come to an end.
func TestCrossing_endsCircles(t *testing.T) {
	for name, c := range map[string]struct {
		limit, want int64
	}{
		"by default": {0, 32}, "as told": {5, 5}, "at most": {1000, 64},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int64
				var denied []Denial
				h := startHostWith(t, Options{Limits: Limits{CallDepth: int(c.limit)}, Denied: func(d Denial) { denied = append(denied, d) }},
					relaying("one", "tool:two", &runs), relaying("two", "tool:one", &runs))
				startReady(t, h, manifestFor("one"))
				startReady(t, h, manifestFor("two"))
				_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:one"})
				require.ErrorContains(t, err, "(limits.callDepth): do plugins call each other in a circle?")
				require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
				require.EqualValues(t, c.want, runs.Load())
				require.Len(t, denied, 1)
				require.LessOrEqual(t, len(denied[0].Chain), protocol.MaxLinks+1)
				require.Equal(t, protocol.Link{Key: "tool:one"}, denied[0].Chain[0])
			})
		})
	}
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

// What is known where a wire does not tell for the sake of which call it makes one.
func TestServes_guessTheCause(t *testing.T) {
	deep := func(root uint64, scope string, depth int) protocol.Call {
		return protocol.Call{Key: "tool:x", Root: root, Scope: scope, Cause: &protocol.Cause{Depth: depth - 1}}
	}
	lone := func(root uint64, scope string) protocol.Call {
		return protocol.Call{Key: "tool:x", Root: root, Scope: scope}
	}
	event := deep(1, "acme", 9)
	event.Key = "event:x"
	own := &protocol.Cause{Key: "k", Depth: 9}
	for name, c := range map[string]struct {
		serves     []protocol.Call
		told, want *protocol.Cause
	}{
		"nothing is served":          {nil, protocol.CauseUntold, nil},
		"its own accord":             {[]protocol.Call{deep(1, "acme", 1)}, nil, nil},
		"what is told":               {[]protocol.Call{deep(1, "acme", 1)}, own, own},
		"one call":                   {[]protocol.Call{deep(1, "acme", 3)}, protocol.CauseUntold, &protocol.Cause{Depth: 3, Root: 1, Scope: "acme", Guessed: true}},
		"several of one circle":      {[]protocol.Call{deep(1, "acme", 3), deep(1, "acme", 5)}, protocol.CauseUntold, &protocol.Cause{Depth: 5, Root: 1, Scope: "acme", Guessed: true}},
		"several that are unrelated": {[]protocol.Call{deep(1, "acme", 3), deep(2, "acme", 5)}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Scope: "acme", Guessed: true}},
		"several tenants":            {[]protocol.Call{deep(1, "acme", 1), deep(2, "globex", 1)}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Several: true, Guessed: true}},
		"one for none":               {[]protocol.Call{deep(1, "acme", 1), deep(2, "", 1)}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Several: true, Guessed: true}},
		"an outermost one":           {[]protocol.Call{lone(1, "acme")}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Root: 1, Scope: "acme", Guessed: true}},
		"outermost ones":             {[]protocol.Call{lone(1, "acme"), lone(2, "acme")}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Scope: "acme", Guessed: true}},
		"a circle with its own":      {[]protocol.Call{lone(1, ""), deep(1, "", 3)}, protocol.CauseUntold, &protocol.Cause{Depth: 3, Root: 1, Guessed: true}},
		"a circle with another":      {[]protocol.Call{lone(1, "acme"), deep(2, "acme", 3)}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Scope: "acme", Guessed: true}},
		"outermost ones for none":    {[]protocol.Call{lone(1, "acme"), lone(2, "")}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Several: true, Guessed: true}},
		"an event":                   {[]protocol.Call{event}, protocol.CauseUntold, &protocol.Cause{Depth: 1, Root: 1, Scope: "acme", Guessed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var s serves
			of := func(c protocol.Call) tally { return tally{root: c.Root, isLone: c.Cause == nil} }
			for _, one := range c.serves {
				s.begin(&one, of(one))
			}
			require.Equal(t, c.want, s.cause(c.told))
			for _, one := range c.serves {
				s.end(&one, of(one))
			}
			require.Nil(t, s.cause(protocol.CauseUntold))
			require.Empty(t, s.scopes)
			require.Zero(t, s.unscoped)
			require.Zero(t, s.sum)
		})
	}
}
