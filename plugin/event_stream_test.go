package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

func TestEventStream_tellsTheCompanyItemByItem(t *testing.T) {
	p := plugin.Define("telling")
	plugin.Data(p, "tell", func(ctx context.Context, _ any) (string, error) {
		s := plugin.From(ctx)
		stream, err := s.OpenStream(ctx, "news")
		if err != nil {
			return "", err
		}
		_, again := s.OpenStream(ctx, "news")
		err = errors.Join(stream.Emit(ctx, map[string]int{"n": 1}), stream.Close(ctx))
		late := stream.Emit(ctx, 2)
		return errors.Join(again, late, stream.Emit(ctx, func() {})).Error(), err
	})
	h := newHost(t).serve(t.Context(), p, plugin.PaperclipOptions{})
	heard := make(chan protocol.Streamed, 8)
	h.heard = func(e protocol.Effect) {
		if s, ok := e.(protocol.Streamed); ok {
			heard <- s
		}
	}
	h.ready()
	said, failure := h.call("data:tell", `{}`)
	require.Empty(t, failure)
	require.Equal(t, `"plugin tested: the event stream \"news\" is open already: emit on that one, or choose another name\n`+
		`plugin tested: the event stream \"news\" is closed: open it first\n`+
		`the item for the event stream news: json: unsupported type: func()"`, said)
	for _, want := range []protocol.Streamed{
		{What: protocol.StreamOpen, Channel: "news", Scope: company},
		{What: protocol.StreamItem, Channel: "news", Scope: company, Item: []byte(`{"n":1}`)},
		{What: protocol.StreamClose, Channel: "news", Scope: company},
	} {
		require.Equal(t, want, <-heard)
	}
	require.NoError(t, h.stop())
}

// Whoever has no time left still closes what it has opened, and none of those that there
// may be is lost.
func TestEventStream_isClosedAlsoWhenTheContextHasEnded(t *testing.T) {
	h := newHost(t).serve(t.Context(), calling(func(ctx context.Context, s *plugin.Session) error {
		limited, cancel := context.WithCancel(ctx)
		stream, err := s.OpenStream(limited, "news")
		require.NoError(t, err)
		cancel()
		require.ErrorIs(t, stream.Emit(limited, 1), context.Canceled)
		require.NoError(t, stream.Close(limited))
		_, err = s.OpenStream(ctx, "news")
		return err
	}), plugin.PaperclipOptions{})
	heard := make(chan protocol.StreamPart, 8)
	h.heard = func(e protocol.Effect) {
		if s, ok := e.(protocol.Streamed); ok {
			heard <- s.What
		}
	}
	h.ready()
	h.want("data:call", `{}`, `null`)
	for _, want := range []protocol.StreamPart{protocol.StreamOpen, protocol.StreamClose, protocol.StreamOpen} {
		require.Equal(t, want, <-heard)
	}
	require.NoError(t, h.stop())
}

func TestEventStream_isBounded(t *testing.T) {
	h := newHost(t).serve(t.Context(), calling(func(ctx context.Context, s *plugin.Session) error {
		for _, name := range []string{"", strings.Repeat("x", 257)} {
			_, err := s.OpenStream(ctx, name)
			wantCode(t, err, protocol.CodeInvalid, "plugin tested: the name of an event stream: expected 1 to 256 bytes, got "+map[bool]string{true: "0", false: "257"}[name == ""])
		}
		for i := range 1024 {
			_, err := s.OpenStream(ctx, fmt.Sprint(i))
			require.NoError(t, err)
		}
		_, err := s.OpenStream(ctx, "one more")
		wantCode(t, err, protocol.CodeOverloaded, "plugin tested: 1024 event streams are open, the limit: close one first")
		return nil
	}), plugin.PaperclipOptions{})
	h.ready()
	h.want("data:call", `{}`, `null`)
	require.NoError(t, h.stop())
}

func TestEventStream_isNotOfferedInMemory(t *testing.T) {
	p := plugin.Define("telling").OnInit(func(ctx context.Context, s *plugin.Session) error {
		_, err := s.OpenStream(ctx, "news")
		return err
	})
	err := p.Open(&home{}).Run(t.Context(), protocol.StepInit)
	require.ErrorIs(t, err, plugin.ErrNotOffered)
	wantCode(t, err, protocol.CodeNotFound, "plugin tested: an event stream: not offered by this host")
}
