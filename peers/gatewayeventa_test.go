package peers

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// module is a module with Eventa's own websocket adapter.
type module struct {
	*script
	*gate
	t *testing.T
	// hung is told of calls of lab:hang, and of their end.
	hung chan string
}

// moduleEvents are what it declares.
const moduleEvents = `["greet","quiet","fail","throw","hang","sum","count","echo"]`

// withEachModule runs a test with a module of each release of Eventa.
func withEachModule(t *testing.T, test func(*module)) {
	t.Helper()
	for _, set := range []string{EventaA14, EventaB11, EventaB14} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			m := &module{t: t, hung: make(chan string, 2)}
			m.gate = openGate(t, gateway.Options{}, m.lab())
			m.script = runScriptOf(t, set, "module.mjs", m.url, "mod", moduleEvents)
			m.wantPhase(t, "mod", lifecycle.Ready)
			test(m)
		})
	}
}

// lab is a plugin in Go with keys of no kind.
func (m *module) lab() *plugin.Definition {
	p := plugin.Define("lab")
	plugin.Handle(p, "lab:hang", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		m.hung <- "called"
		<-ctx.Done()
		m.hung <- "told"
		return nil, ctx.Err()
	})
	plugin.Handle(p, "lab:sum", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		sum := 0
		for n, err := range plugin.Feed[int](ctx) {
			if err != nil {
				return nil, err
			}
			sum += n
		}
		return json.Marshal(sum)
	})
	plugin.Stream(p, "lab:count", func(_ context.Context, to int, emit func(int) error) error {
		for n := 1; n <= to; n++ {
			if err := emit(n); err != nil {
				return err
			}
		}
		return nil
	})
	plugin.Stream(p, "lab:echo", func(ctx context.Context, _ any, emit func(int) error) error {
		for n, err := range plugin.Feed[int](ctx) {
			if err == nil {
				err = emit(n)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return p
}

// tells has the module make a call, of which it tells later.
func (m *module) tells(how, key, input string) {
	m.t.Helper()
	_, err := m.in.Write([]byte(`{"how":"` + how + `","key":"` + key + `","input":` + input + "}\n"))
	require.NoError(m.t, err)
}

// does has the module make a call, and returns what it tells of it.
func (m *module) does(how, key, input string) string {
	m.t.Helper()
	m.tells(how, key, input)
	return m.says(m.t)
}

func TestGateway_eventaCallsPlugins(t *testing.T) {
	t.Parallel()
	withEachModule(t, func(m *module) {
		for _, one := range []struct{ how, key, input, want string }{
			{"value", "tool:go-say", `{"text":"hi"}`, `{"result":{"content":"go: hi"}}`},
			{"value", "model:go-say", `{"text":"hi"}`, `{"result":"go: hi"}`},
			{"value", "service:go.say", `["hi"]`, `{"result":"go: hi"}`},
			{"value", "action:go-say", `{"params":{"text":"hi"}}`, `{"result":{"success":true,"text":"go: hi"}}`},
			{"value", "provider:go-say", `{"message":{"content":{"text":"hi"}}}`, `{"result":{"text":"go: hi"}}`},
			{"value", "town:go", `{"text":"hi"}`, `{"result":"go: hi"}`},
			{"value", "event:go-say", `{"text":"hi"}`, `{"result":null}`},
			{"value", "tool:go-fail", `{}`, `{"failed":{"name":"RangeError","message":"burnt","code":7,"data":{"tray":3}}}`},
			{"value", "model:go-count", `{"to":3}`, `{"result":[1,2,3]}`},
			{"stream", "model:go-count", `{"to":3}`, `{"result":[[1,2,3]]}`}, // nothing tells the two apart, and a value has to be whole
			{"stream", "lab:count", `3`, `{"result":[1,2,3]}`},
			{"value", "lab:count", `3`, `{"result":1}`},
			{"stream", "tool:go-say", `{"text":"hi"}`, `{"result":[{"content":"go: hi"}]}`},
			{"feed", "lab:sum", `[1,2,3]`, `{"result":6}`},
			{"both", "lab:echo", `[1,2,3]`, `{"result":[1,2,3]}`},
			{"feed", "lab:sum", `[]`, `{"result":0}`},
		} {
			require.JSONEq(m.t, one.want, m.does(one.how, one.key, one.input), "%s of %s", one.how, one.key)
		}
		got := m.does("value", "tool:nobody", `{}`)
		require.Contains(m.t, got, `"code":"not-found"`)
		require.Contains(m.t, got, "tool:nobody")

		m.tells("hold", "lab:hang", `{}`)
		require.Equal(m.t, "called", <-m.hung)
		require.Contains(m.t, m.does("giveUp", "lab:hang", `{}`), `"name":"AbortError"`)
		require.Equal(m.t, "told", <-m.hung)
	})
}

func (m *module) tries(call protocol.Call) (string, error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	result, err := m.Invoke(ctx, call)
	return string(result), err
}

func TestGateway_eventaIsCalledByPlugins(t *testing.T) {
	t.Parallel()
	withEachModule(t, func(m *module) {
		got, err := m.tries(protocol.Call{Key: "greet", Input: json.RawMessage(`{"name":"Ada"}`)})
		require.NoError(m.t, err)
		require.JSONEq(m.t, `{"hello":"Ada"}`, got)
		got, err = m.tries(protocol.Call{Key: "quiet"})
		require.NoError(m.t, err)
		require.Contains(m.t, []string{"", "null"}, got)

		_, err = m.tries(protocol.Call{Key: "fail"})
		require.Equal(m.t, &protocol.PeerError{Message: "plain", Code: json.RawMessage(`7`), Data: json.RawMessage(`{"tray":3}`)}, peerError(err))
		_, err = m.tries(protocol.Call{Key: "throw"})
		require.Error(m.t, err)
		require.NotEmpty(m.t, peerError(err).Message, "of an Error, JSON leaves nothing: that it failed is told")

		var items []string
		take := func(item json.RawMessage) error {
			items = append(items, string(item))
			return nil
		}
		got, err = m.tries(protocol.Call{Key: "count", Input: json.RawMessage(`{"to":3}`), Progress: take})
		require.NoError(m.t, err)
		require.Equal(m.t, []string{"1", "2", "3"}, items, got)
		got, err = m.tries(protocol.Call{Key: "count", Input: json.RawMessage(`{"to":3}`)})
		require.NoError(m.t, err)
		require.JSONEq(m.t, `[1,2,3]`, got)

		got, err = m.tries(protocol.Call{Key: "sum", Feed: feedOf(`1`, `2`, `3`)})
		require.NoError(m.t, err)
		require.Equal(m.t, "6", got)
		got, err = m.tries(protocol.Call{Key: "echo", Feed: feedOf(`1`, `"b"`)})
		require.NoError(m.t, err)
		require.JSONEq(m.t, `[1,"b"]`, got)

		failed := make(chan error, 1)
		ctx, cancel := context.WithCancel(m.t.Context())
		go func() {
			_, err := m.Invoke(ctx, protocol.Call{Key: "hang"})
			failed <- err
		}()
		require.JSONEq(m.t, `{"saw":"hang"}`, m.says(m.t))
		cancel()
		require.JSONEq(m.t, `{"saw":"aborted"}`, m.says(m.t))
		require.Error(m.t, <-failed)
	})
}

func feedOf(items ...string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, item := range items {
			if !yield(json.RawMessage(item), nil) {
				return
			}
		}
	}
}

func peerError(err error) *protocol.PeerError {
	theirs, _ := errors.AsType[*protocol.PeerError](err)
	if theirs == nil {
		return &protocol.PeerError{}
	}
	return theirs
}

// A call that is in flight when the module goes has an unknown outcome, and that of one
// which it made is nobody's any more.
func TestGateway_eventaGoesInTheMiddle(t *testing.T) {
	t.Parallel()
	withEachModule(t, func(m *module) {
		failed := make(chan error, 1)
		go func() {
			_, err := m.Invoke(m.t.Context(), protocol.Call{Key: "hang", Deadline: time.Now().Add(patience)})
			failed <- err
		}()
		require.JSONEq(m.t, `{"saw":"hang"}`, m.says(m.t))
		for _, how := range []string{"value", "close"} {
			m.tells(how, "lab:hang", `{}`)
			require.Equal(m.t, map[string]string{"value": "called", "close": "told"}[how], <-m.hung)
		}
		require.Equal(m.t, protocol.CodeOutcomeUnknown, protocol.CodeOf(<-failed))
		m.wantPhase(m.t, "mod", lifecycle.Degraded)
	})
}

// What is declared anew is offered, and what is declared no more is withdrawn.
func TestGateway_eventaDeclaresAnew(t *testing.T) {
	t.Parallel()
	withEachModule(t, func(m *module) {
		session := m.wantPhase(m.t, "mod", lifecycle.Ready).ID
		require.JSONEq(m.t, `{"result":null}`, m.does("announce", "x", `["greet","later"]`))
		eventually(m.t, func() bool {
			keys := []string{}
			for _, offer := range m.Capabilities() {
				keys = append(keys, string(offer.Key))
			}
			return slices.Contains(keys, "later") && slices.Contains(keys, "greet") && !slices.Contains(keys, "count")
		}, "what it offers")
		require.Equal(m.t, session, m.wantPhase(m.t, "mod", lifecycle.Ready).ID)
	})
}

// Two modules on one websocket are two sessions, and each answers its own calls.
func TestGateway_eventaServesTwoModules(t *testing.T) {
	t.Parallel()
	for _, set := range []string{EventaA14, EventaB11, EventaB14} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			m := &module{t: t, gate: openGate(t, gateway.Options{})}
			m.script = runScriptOf(t, set, "module.mjs", m.url, "mod")
			require.Equal(t, `"open"`, m.says(t))
			for name, event := range map[string]string{"alpha": "greet", "beta": "count"} {
				require.JSONEq(t, `{"result":null}`, m.does("send", "x", `{"type":"extension:module:announce","data":{`+
					`"name":"`+name+`","identity":{"id":"`+name+`","extension":{"id":"`+name+`"}},"possibleEvents":["`+event+`"]}}`))
				m.wantPhase(t, name, lifecycle.Ready)
			}
			require.Len(t, m.gateway.Peers(), 1)
			for range 3 {
				got, err := m.tries(protocol.Call{Key: "greet", Plugin: "alpha", Input: json.RawMessage(`{"name":"Ada"}`)})
				require.NoError(t, err)
				require.JSONEq(t, `{"hello":"Ada"}`, got)
				got, err = m.tries(protocol.Call{Key: "count", Plugin: "beta", Input: json.RawMessage(`{"to":2}`)})
				require.NoError(t, err)
				require.JSONEq(t, `[1,2]`, got)
			}
			_, err := m.tries(protocol.Call{Key: "greet", Plugin: "beta"})
			require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
			require.JSONEq(t, `{"result":{"content":"go: hi"}}`, m.does("value", "tool:go-say", `{"text":"hi"}`))

			session := m.wantPhase(t, "beta", lifecycle.Ready).ID
			_, err = m.Stop(t.Context(), session)
			require.NoError(t, err)
			m.wantGone(t, "beta")
			got, err := m.tries(protocol.Call{Key: "greet", Input: json.RawMessage(`{"name":"Ada"}`)})
			require.NoError(t, err, "the other one stays")
			require.JSONEq(t, `{"hello":"Ada"}`, got)
		})
	}
}
