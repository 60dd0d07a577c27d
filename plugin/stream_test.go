package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// counting is a plugin whose model streams the numbers below its input.
func counting() *plugin.Definition {
	p := plugin.Define("counting")
	plugin.Stream(p, "model:COUNT", func(_ context.Context, n int, emit func(int) error) error {
		for i := range n {
			if err := emit(i); err != nil {
				return err
			}
		}
		return nil
	})
	return p
}

// invoke makes a call of a plugin that is opened for it.
func invoke(t *testing.T, p *plugin.Definition, c protocol.Call) (string, error) {
	t.Helper()
	result, err := p.Open(&home{}).Invoke(t.Context(), &c)
	return string(result), err
}

func TestReport_reachesWhoFollows(t *testing.T) {
	refused := errors.New("enough")
	p := plugin.Define("p")
	plugin.Data(p, "d", func(ctx context.Context, _ any) (string, error) {
		require.NoError(t, plugin.Report(ctx, person{"Ada"}))
		require.ErrorContains(t, plugin.Report(ctx, func() {}), "the item to report: json: ")
		require.NoError(t, plugin.Report(t.Context(), 1), "another context is nobody's")
		return "done", plugin.Report(ctx, 2)
	})
	var got []string
	_, err := invoke(t, p, protocol.Call{Key: "data:d", Progress: func(item json.RawMessage) error {
		if got = append(got, string(item)); len(got) == 2 {
			return refused
		}
		return nil
	}})
	require.Same(t, refused, err)
	require.Equal(t, []string{`{"name":"Ada"}`, `2`}, got)
}

func TestReport_isASignOfLifeWhereNobodyFollows(t *testing.T) {
	p := plugin.Define("p")
	plugin.Data(p, "d", func(ctx context.Context, _ any) (string, error) {
		return "done", errors.Join(plugin.Report(ctx, func() {}), plugin.Report(ctx, 2))
	})
	result, err := invoke(t, p, protocol.Call{Key: "data:d"})
	require.NoError(t, err)
	require.Equal(t, `"done"`, result)
	signs := 0
	_, err = invoke(t, p, protocol.Call{Key: "data:d", Alive: func() { signs++ }})
	require.NoError(t, err)
	require.Equal(t, 2, signs)
}

func TestStream_isCollectedForWhoDoesNotFollow(t *testing.T) {
	for input, want := range map[string]string{`0`: `[]`, `1`: `[0]`, `3`: `[0,1,2]`} {
		got, err := invoke(t, counting(), protocol.Call{Key: "model:COUNT", Input: []byte(input)})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	got, err := invoke(t, counting(), protocol.Call{Key: "model:COUNT", Input: []byte(`1024`)})
	require.NoError(t, err)
	require.Equal(t, 1023, strings.Count(got, ","))
	signs := 0
	_, err = invoke(t, counting(), protocol.Call{Key: "model:COUNT", Input: []byte(`4`), Alive: func() { signs++ }})
	require.NoError(t, err)
	require.Equal(t, 4, signs)
	_, err = invoke(t, counting(), protocol.Call{Key: "model:COUNT", Input: []byte(`"x"`)})
	require.EqualError(t, err, `the input's field "(the whole)": expected int, got string`)
}

func TestStream_isCollectedAsItsKindHasResults(t *testing.T) {
	for key, want := range map[string]string{
		"tool:T": `{"data":[1,2]}`, "provider:P": `{"data":[1,2]}`, "data:d": `[1,2]`, "some.event": `[1,2]`,
	} {
		p := plugin.Define("counting")
		plugin.Stream(p, key, func(_ context.Context, _ any, emit func(int) error) error { return errors.Join(emit(1), emit(2)) })
		got, err := invoke(t, p, protocol.Call{Key: key})
		require.NoError(t, err)
		require.Equal(t, want, got, key)
	}
}

func TestStream_isNotCollectedWithoutEnd(t *testing.T) {
	p := counting()
	var told []error
	plugin.Stream(p, "model:LONG", func(_ context.Context, n int, emit func(string) error) error {
		for range 3 {
			told = append(told, emit(strings.Repeat("x", n)))
		}
		return nil // it does not heed what it is told
	})
	for key, input := range map[string]int{"model:COUNT": 1025, "model:LONG": 3 << 20} {
		_, err := invoke(t, p, protocol.Call{Key: key, Input: fmt.Append(nil, input)})
		limit := map[string]string{"model:COUNT": "1024 items", "model:LONG": "8388608 bytes"}[key]
		require.EqualError(t, err, "the answer is a stream of more than "+limit+": follow the call, to get its items as they come")
		require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err))
	}
	require.NoError(t, told[1])
	require.Error(t, told[2])
}

func TestStream_goesToWhoFollows(t *testing.T) {
	var got []string
	follow := func(item json.RawMessage) error { got = append(got, string(item)); return nil }
	result, err := invoke(t, counting(), protocol.Call{Key: "model:COUNT", Input: []byte(`2000`), Progress: follow})
	require.NoError(t, err)
	require.Equal(t, "null", result)
	require.Len(t, got, 2000, "nothing is collected, and nothing bounds it")
	require.Equal(t, []string{"0", "1"}, got[:2])
}

func TestStream_endsWithItsHandlersError(t *testing.T) {
	p := plugin.Define("p")
	plugin.Stream(p, "model:M", func(_ context.Context, _ any, emit func(any) error) error {
		return errors.Join(emit(1), emit(func() {}))
	})
	_, err := invoke(t, p, protocol.Call{Key: "model:M"})
	require.ErrorContains(t, err, "the item to emit: json: ")
}

// feedOf is a request stream with these items, raw, and an error at its end.
func feedOf(end error, items ...string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, item := range items {
			if !yield(json.RawMessage(item), nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

func TestFeed_isDecodedItemByItem(t *testing.T) {
	torn := errors.New("torn")
	p := plugin.Define("p")
	plugin.Data(p, "sum", func(ctx context.Context, _ any) (sum int, err error) {
		for n, err := range plugin.Feed[int](ctx) {
			if err != nil {
				return sum, err
			}
			sum += n
		}
		return sum, nil
	})
	for _, test := range []struct {
		feed iter.Seq2[json.RawMessage, error]
		want string
		err  string
	}{
		{nil, "0", ""},
		{feedOf(nil), "0", ""},
		{feedOf(nil, "1", "2"), "3", ""},
		{feedOf(torn, "1"), "", "torn"},
		{feedOf(nil, "1", `"x"`, "2"), "", `the input's field "(the whole)": expected int, got string`},
	} {
		got, err := invoke(t, p, protocol.Call{Key: "data:sum", Feed: test.feed})
		require.Equal(t, test.want, got)
		if test.err == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, test.err)
		}
	}
}

// callM opens a plugin whose init calls a key with options.
func callM(t *testing.T, h protocol.Home, in any, opts ...plugin.CallOption) error {
	t.Helper()
	return plugin.Define("caller").OnInit(func(ctx context.Context, s *plugin.Session) error {
		return s.Call(ctx, "model:M", in, nil, opts...)
	}).Open(h).Run(t.Context(), protocol.StepInit)
}

func TestCall_followsAndFeeds(t *testing.T) {
	h, torn := &home{}, errors.New("torn")
	var got []person
	items := func(yield func(person, error) bool) { _ = yield(person{"Ada"}, nil) && yield(person{}, torn) }
	require.NoError(t, callM(t, h, nil,
		plugin.Follow(func(p person) error { got = append(got, p); return nil }), plugin.Idle(time.Second), plugin.Feeding(items)))
	made := h.served[0]
	require.Equal(t, time.Second, made.Idle)
	require.NoError(t, made.Progress([]byte(`{"name":"Bob"}`)))
	require.ErrorContains(t, made.Progress([]byte(`7`)), "an item of model:M: json: ")
	require.Equal(t, []person{{"Bob"}}, got)
	require.Nil(t, made.Input, "the stream is in its place")
	var fed []string
	for item, err := range made.Feed {
		fed = append(fed, fmt.Sprintf("%s %v", item, err))
	}
	require.Equal(t, []string{`{"name":"Ada"} <nil>`, ` torn`}, fed)

	require.NoError(t, callM(t, h, 7, plugin.Feeding(func(yield func(func(), error) bool) { yield(func() {}, nil) })))
	require.Equal(t, "7", string(h.served[1].Input), "the host says that this is one too many")
	for _, err := range h.served[1].Feed {
		require.ErrorContains(t, err, "json: unsupported type")
	}
}

func TestPaperclip_knowsNoStreams(t *testing.T) {
	p := counting()
	plugin.Data(p, "fed", func(ctx context.Context, _ any) (string, error) {
		err := plugin.From(ctx).Call(ctx, "model:M", nil, nil, plugin.Feeding(func(func(int, error) bool) {}))
		return fmt.Sprint(err, plugin.Report(ctx, 1), len(slices.Collect(firsts(plugin.Feed[int](ctx))))), nil
	})
	plugin.Stream(p, "data:numbers", func(_ context.Context, _ any, emit func(int) error) error {
		return errors.Join(emit(1), emit(2))
	})
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{}).ready()
	h.want("data:numbers", `{}`, `[1,2]`)
	h.want("data:fed", `{}`, `"plugin tested: model:M was not called: a Paperclip host takes no request stream: give the call an input <nil> 0"`)
	require.NoError(t, h.stdin.Close())
	require.NoError(t, <-h.served)
}

func firsts[T any](items iter.Seq2[T, error]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for item, err := range items {
			if err != nil || !yield(item) {
				return
			}
		}
	}
}
