package plugin_test

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
)

func TestServePaperclip_containsPanics(t *testing.T) {
	p := plugin.Define("careless")
	plugin.Data(p, "panic", func(context.Context, any) (any, error) { panic("boom") })
	plugin.Data(p, "exit", func(context.Context, any) (any, error) {
		runtime.Goexit()
		return nil, nil
	})
	plugin.Handle(p, "data:garbage", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{`), nil
	})
	p.OnSetup(func(context.Context, *plugin.Session) error { panic("not today") })
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{})
	require.ErrorContains(t, h.start(`{"manifest":`+manifest+`}`), "plugin tested: the handler of initialize panicked: not today")
	h.wantFailure("data:panic", `{}`, "plugin tested: the handler of getData panicked: boom", "-32002")
	require.Contains(t, string(h.wantLog("a handler panicked").Meta), "worker_lane_test.go", "the stack is in the log")
	h.wantFailure("data:exit", `{}`, "plugin tested: the handler of getData ended its goroutine without an answer", "-32002")
	h.wantFailure("data:garbage", `{}`, "tested: the answer: result: expected JSON, got: {", "-32002")
	require.NoError(t, h.stop())
}

func TestServePaperclip_refusesMoreCallsThanItsLimit(t *testing.T) {
	p := newHeld()
	h := newHost(t).serve(t.Context(), p.Definition, plugin.PaperclipOptions{MaxPending: 2}).ready()
	first, second := h.begin("data:hold", `{}`), h.begin("data:hold", `{}`)
	<-p.entered
	<-p.entered
	h.wantFailure("data:hold", `{}`, "2 calls are in flight, the limit: call getData again later", "-32000")
	close(p.leave)
	require.NoError(t, (<-first).Err)
	require.NoError(t, (<-second).Err)
}

// An event handler that hangs keeps later events back, and nothing else; one that
// ends its goroutine keeps nothing back.
func TestServePaperclip_tellsOneEventAtATime(t *testing.T) {
	p := newHeld()
	heard := make(chan int, 8)
	plugin.On(p.Definition, "e", func(_ context.Context, n int) error {
		heard <- n
		switch n {
		case 1:
			<-p.leave
		case 2:
			runtime.Goexit()
		}
		return nil
	})
	plugin.Data(p.Definition, "ping", func(context.Context, any) (string, error) { return "pong", nil })
	h := newHost(t).serve(t.Context(), p.Definition, plugin.PaperclipOptions{}).ready()
	for _, n := range []string{`1`, `2`, `3`} {
		require.NoError(t, (<-h.begin("event:e", n)).Err)
	}
	require.Equal(t, 1, <-heard)
	h.want("data:ping", `{}`, `"pong"`)
	require.Empty(t, heard)
	close(p.leave)
	require.Equal(t, 2, <-heard)
	require.Equal(t, 3, <-heard)
}
