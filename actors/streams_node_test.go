package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// Every form of a call between the host, plugins in Go, and modules in Node.

// broken is how the handlers fail that are to.
func broken() *protocol.PeerError {
	return &protocol.PeerError{
		Name: "RangeError", Message: "it broke",
		Code: json.RawMessage(`"E_BROKE"`), Data: json.RawMessage(`{"depth":3}`),
	}
}

// gopher is streams.mjs in Go: "model:GO-…" for "model:NODE-…".
func gopher() *plugin.Definition {
	type number struct {
		N int `json:"n"`
	}
	var mu sync.Mutex
	var seen []string
	more := make(chan struct{}, 100)
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, what)
		more <- struct{}{}
	}
	p := plugin.Define("gopher")
	plugin.Model(p, "GO-SEEN", func(ctx context.Context, in number) ([]string, error) {
		for range in.N {
			select {
			case <-more:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all := seen
		seen = nil
		return all, nil
	})
	plugin.Model(p, "GO-DOUBLE", func(_ context.Context, in number) (int, error) { return 2 * in.N, nil })
	plugin.Stream(p, "model:GO-COUNT", func(_ context.Context, in number, emit func(int) error) error {
		for i := range in.N {
			if err := emit(i + 1); err != nil {
				return err
			}
		}
		return nil
	})
	total := func(ctx context.Context, each func(sum int) error) error {
		sum := 0
		for n, err := range plugin.Feed[int](ctx) {
			if err != nil {
				return err
			}
			sum += n
			if err := each(sum); err != nil {
				return err
			}
		}
		return nil
	}
	plugin.Model(p, "GO-SUM", func(ctx context.Context, _ any) (sum int, err error) {
		err = total(ctx, func(s int) error { sum = s; return nil })
		return sum, err
	})
	plugin.Stream(p, "model:GO-TOTALS", func(ctx context.Context, _ any, emit func(int) error) error { return total(ctx, emit) })
	plugin.Model(p, "GO-FAIL", func(context.Context, any) (any, error) { return nil, broken() })
	plugin.Stream(p, "model:GO-FAIL-STREAM", func(_ context.Context, _ any, emit func(int) error) error {
		return errors.Join(emit(1), broken())
	})
	plugin.Model(p, "GO-HANG", func(ctx context.Context, _ any) (string, error) {
		note("hangs")
		<-ctx.Done()
		note("aborted: had enough")
		return "too late", nil
	})
	plugin.Stream(p, "model:GO-HANG-STREAM", func(ctx context.Context, _ any, emit func(int) error) error {
		err := emit(1) // who has it may give up before emit has returned
		<-ctx.Done()
		note("stream aborted")
		return err
	})
	plugin.Model(p, "GO-HANG-FED", func(ctx context.Context, _ any) (any, error) {
		for n, err := range plugin.Feed[int](ctx) {
			if err != nil {
				note("cut: AbortError")
				return nil, err
			}
			note(fmt.Sprint("read ", n))
		}
		return nil, nil
	})
	return p
}

// follows calls and takes the items as they come.
func (m *mixed) follows(c protocol.Call) (items []string, result string, err error) {
	c.Progress = func(item json.RawMessage) error {
		items = append(items, string(item))
		return nil
	}
	got, err := m.host.Invoke(m.t.Context(), c)
	return items, string(got), err
}

func feed(items ...string) func(func(json.RawMessage, error) bool) {
	return func(yield func(json.RawMessage, error) bool) {
		for _, item := range items {
			if !yield(json.RawMessage(item), nil) {
				return
			}
		}
	}
}

func wantBroken(t *testing.T, err error) {
	t.Helper()
	broke, ok := errors.AsType[*protocol.PeerError](err)
	require.True(t, ok, err)
	want := broken()
	require.Equal(t, []any{want.Name, want.Message}, []any{broke.Name, broke.Message})
	require.JSONEq(t, string(want.Code), string(broke.Code))
	require.JSONEq(t, string(want.Data), string(broke.Data))
}

// startStreams starts the module and its like in Go, and the module that calls either.
func startStreams(t *testing.T) *mixed {
	t.Helper()
	m := startMixed(t, func(o *actors.Options) { o.Programs["gopher"] = gopher() })
	_, err := m.host.Start(t.Context(), builtin("gopher"), actors.StartOptions{})
	require.NoError(t, err)
	m.startReady("streams")
	m.startReady("relays")
	return m
}

func TestStreams_theHostCallsAModule(t *testing.T) {
	t.Parallel()
	m := startStreams(t)
	m.wantCall("model:NODE-DOUBLE", `{"n":21}`, `42`)

	items, result, err := m.follows(protocol.Call{Key: "model:NODE-COUNT", Input: json.RawMessage(`{"n":3}`)})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3"}, items)
	require.Equal(t, "null", result)
	m.wantCall("model:NODE-COUNT", `{"n":3}`, `[1,2,3]`)
	m.wantCall("model:NODE-COUNT", `{"n":0}`, `[]`)
	const many = 20_000
	items, _, err = m.follows(protocol.Call{Key: "model:NODE-COUNT", Input: fmt.Appendf(nil, `{"n":%d}`, many)})
	require.NoError(t, err)
	require.Len(t, items, many)
	for i, item := range items {
		require.Equal(t, fmt.Sprint(i+1), item)
	}

	got, err := m.host.Invoke(t.Context(), protocol.Call{Key: "model:NODE-SUM", Feed: feed("1", "2", "3")})
	require.NoError(t, err)
	require.Equal(t, "6", string(got))
	items, _, err = m.follows(protocol.Call{Key: "model:NODE-TOTALS", Feed: feed("1", "2", "3")})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "3", "6"}, items)
	var sums sync.WaitGroup
	for range 50 { // many calls side by side
		sums.Go(func() {
			got, err := m.host.Invoke(t.Context(), protocol.Call{Key: "model:NODE-SUM", Feed: feed("1", "2", "3")})
			if err != nil || string(got) != "6" {
				t.Error(string(got), err)
			}
		})
	}
	sums.Wait()

	_, err = m.call("model:NODE-FAIL", `{}`)
	wantBroken(t, err)
	items, _, err = m.follows(protocol.Call{Key: "model:NODE-FAIL-STREAM"})
	wantBroken(t, err)
	require.Equal(t, []string{"1"}, items)
	require.Empty(t, m.inspect("streams").Dropped)
	m.wantUnharmed()
}

// An abort comes once to the call that is given up, and to no other.
func TestStreams_theHostGivesAModuleUp(t *testing.T) {
	t.Parallel()
	m := startStreams(t)
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() {
		_, err := m.host.Invoke(ctx, protocol.Call{Key: "model:NODE-HANG"})
		given <- err
	}()
	m.wantCall("model:NODE-SEEN", `{"n":1}`, `["hangs"]`)
	cancel()
	require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(<-given))
	m.wantCall("model:NODE-SEEN", `{"n":1}`, `["aborted: cancelled"]`)

	enough := errors.New("enough")
	_, err := m.host.Invoke(t.Context(), protocol.Call{Key: "model:NODE-HANG-STREAM", Progress: func(json.RawMessage) error { return enough }})
	require.ErrorIs(t, err, enough)
	m.wantCall("model:NODE-SEEN", `{"n":1}`, `["stream aborted"]`)

	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		_, err := m.host.Invoke(ctx, protocol.Call{Key: "model:NODE-HANG-FED", Feed: func(yield func(json.RawMessage, error) bool) {
			yield(json.RawMessage(`1`), nil)
			<-ctx.Done()
		}})
		given <- err
	}()
	m.wantCall("model:NODE-SEEN", `{"n":1}`, `["read 1"]`)
	cancel()
	require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(<-given))
	m.wantCall("model:NODE-SEEN", `{"n":1}`, `["cut: AbortError"]`)
	for range 10 {
		m.wantCall("model:NODE-SEEN", `{"n":0}`, `[]`)
	}
	require.EqualValues(t, 3, m.inspect("streams").Dropped["late-answer"], "each answered all the same")
	m.wantUnharmed()
}

func TestStreams_aModuleCallsOthers(t *testing.T) {
	t.Parallel()
	m := startStreams(t)
	// A handler in Go waits for its caller; a module does not, but for what may wait.
	for callee, many := range map[string]int{"GO": 20_000, "NODE": 1000} {
		on := func(key, rest string) string { return fmt.Sprintf(`{"key":"model:%s-%s",%s}`, callee, key, rest) }
		relay := func(key, input string, want ...string) {
			t.Helper()
			items, _, err := m.follows(protocol.Call{Key: key, Input: json.RawMessage(input)})
			require.NoError(t, err)
			require.Equal(t, want, items)
		}
		m.wantCall("model:RELAY-ASK", on("DOUBLE", `"input":{"n":4}`), `8`)
		m.wantCall("model:RELAY-ASK", on("COUNT", `"input":{"n":3}`), `[1,2,3]`)
		m.wantCall("model:RELAY-FEED", on("SUM", `"items":[1,2,3]`), `6`)
		m.wantCall("model:RELAY-FEED", on("SUM", `"items":[]`), `0`)
		relay("model:RELAY-STREAM", on("COUNT", `"input":{"n":3}`), "1", "2", "3")
		relay("model:RELAY-STREAM", on("DOUBLE", `"input":{"n":4}`), "8")
		relay("model:RELAY-BOTH", on("TOTALS", `"items":[1,2,3]`), "1", "3", "6")

		const described = `[true,{"name":"RangeError","message":"it broke","code":"E_BROKE","data":{"depth":3}}]`
		m.wantCall("model:RELAY-CATCH", on("FAIL", `"input":1`), described)
		m.wantCall("model:RELAY-CATCH-STREAM", on("FAIL-STREAM", `"input":1`), `[1,`+described+`]`)
		m.wantCall("model:RELAY-CATCH", on("NONE", `"input":1`),
			fmt.Sprintf(`[true,{"name":"Error","message":"nobody offers model:%s-NONE","code":"not-found"}]`, callee))

		items, _, err := m.follows(protocol.Call{Key: "model:RELAY-STREAM", Input: json.RawMessage(on("COUNT", fmt.Sprintf(`"input":{"n":%d}`, many)))})
		require.NoError(t, err)
		require.Len(t, items, many)
		require.Equal(t, fmt.Sprint(many), items[many-1])
	}
	require.Empty(t, m.inspect("relays").Dropped)
	require.Empty(t, m.inspect("streams").Dropped)
	m.wantUnharmed()
}

// What a module gives up reaches who answers it, through the host, and once.
func TestStreams_aModuleGivesOthersUp(t *testing.T) {
	t.Parallel()
	m := startStreams(t)
	for callee, reason := range map[string]string{"GO": "had enough", "NODE": "cancelled"} {
		seen := func(want string) { t.Helper(); m.wantCall("model:"+callee+"-SEEN", `{"n":1}`, want) }
		on := func(key string) string { return fmt.Sprintf(`{"key":"model:%s-%s"}`, callee, key) }
		relayed := func(key string) <-chan string {
			done := make(chan string, 1)
			go func() {
				got, err := m.call("model:RELAY-"+key, on(key))
				done <- fmt.Sprint(got, err)
			}()
			return done
		}
		given := relayed("HANG")
		seen(`["hangs"]`)
		m.wantCall("model:RELAY-GIVE-UP", `{}`, `"given up"`)
		require.Contains(t, <-given, `Error`)
		seen(`["aborted: ` + reason + `"]`)

		require.Equal(t, `1<nil>`, <-relayed("HANG-STREAM"))
		seen(`["stream aborted"]`)

		given = relayed("HANG-FED")
		seen(`["read 1"]`)
		m.wantCall("model:RELAY-GIVE-UP", `{}`, `"given up"`)
		require.Contains(t, <-given, `Error`)
		seen(`["cut: AbortError"]`)
		m.wantCall("model:"+callee+"-SEEN", `{"n":0}`, map[string]string{"GO": "null", "NODE": "[]"}[callee])
	}
	require.Zero(t, m.inspect("relays").InFlight)
	m.wantUnharmed()
}

func TestStreams_aHandlerComesAndGoes(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	m.startReady("redefines")
	changed := func(to lifecycle.State) {
		t.Helper()
		await(m, func(e actors.CapabilityChanged) bool { return e.Key == "model:CHANGES" && e.To == to })
	}
	gone := func() {
		t.Helper()
		_, err := m.call("model:CHANGES", `{}`)
		require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err), err)
	}
	gone()
	for n := range 3 {
		m.wantCall("model:DEFINE", fmt.Sprintf(`{"answer":%d}`, n), `"defined"`)
		changed(lifecycle.CapReady)
		m.wantCall("model:CHANGES", `{}`, fmt.Sprint(n))
		m.wantCall("model:REMOVE", `{}`, `"removed"`)
		changed(lifecycle.CapWithdrawn)
		gone()
	}

	// Two of them: the first answer counts, and it is offered until both are gone.
	m.wantCall("model:DEFINE", `{"answer":"a"}`, `"defined"`)
	changed(lifecycle.CapReady)
	m.wantCall("model:DEFINE", `{"answer":"b"}`, `"defined"`)
	m.wantCall("model:CHANGES", `{}`, `"a"`)
	m.wantCall("model:REMOVE", `{}`, `"removed"`)
	m.wantCall("model:CHANGES", `{}`, `"b"`)
	require.EqualValues(t, 1, m.inspect("redefines").Dropped["late-answer"])
	m.wantCall("model:REMOVE", `{}`, `"removed"`)
	changed(lifecycle.CapWithdrawn)
	gone()
	m.wantUnharmed()
}

// Whoever waits for a capability gets it from a handler that is defined while its
// plugin runs.
func TestStreams_aHandlerThatComesLateIsAwaited(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	m.startReady("redefines")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	came := make(chan error, 1)
	go func() { came <- m.host.WaitAll(ctx, 0, "model:CHANGES") }()
	m.wantCall("model:DEFINE", `{"answer":1}`, `"defined"`)
	require.NoError(t, <-came)
	m.wantCall("model:CHANGES", `{}`, `1`)
}
