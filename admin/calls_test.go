package admin

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// Calls are told to who follows them, and kept for nobody.
func TestEvents_ofCallsAreFollowed(t *testing.T) {
	r := start(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	events, line := collect(t)
	ended := make(chan error, 1)
	go func() { ended <- r.Events(ctx, "call", 0, true, line) }()
	wantEventually(t, func() bool {
		_, err := r.host.Invoke(t.Context(), protocol.Call{Key: "model:TALKS", Input: []byte("1")})
		require.NoError(t, err)
		return len(events) > 0
	}, "a call is told")
	got := next(t, events)
	require.Equal(t, "call model:TALKS", got.Event+" "+got.Key)
	leave()
	require.Error(t, <-ended)
	require.NoError(t, r.Events(t.Context(), "call", 0, false, func([]byte) error {
		require.Fail(t, "it was kept")
		return nil
	}))
	require.NoError(t, r.Events(t.Context(), "", 0, false, func(text []byte) error {
		require.NotContains(t, string(text), `"event":"call"`)
		return nil
	}))
}
