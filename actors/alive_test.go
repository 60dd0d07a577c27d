package actors

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProbe_tellsWhetherTheHostLives(t *testing.T) {
	h, err := New(Options{})
	require.NoError(t, err)
	require.NoError(t, h.Probe(t.Context()))

	release, held := make(chan struct{}), make(chan struct{})
	h.news.add(holding{release: release, held: held})
	<-held
	require.ErrorContains(t, briefly(t, h.Probe), "the event router does not answer")
	close(release)

	h.mu.Lock()
	require.ErrorContains(t, briefly(t, h.Probe), "the host's state is held")
	h.mu.Unlock()

	require.NoError(t, h.Probe(t.Context()))
	require.NoError(t, h.Shutdown(t.Context()))
	require.ErrorIs(t, h.Probe(t.Context()), ErrShutdown)
}

// briefly does something for a moment.
func briefly(t *testing.T, do func(context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	return do(ctx)
}

// holding is an event that the router is stuck with until it is released.
type holding struct {
	Event
	release <-chan struct{}
	held    chan<- struct{}
}

func (h holding) Kind() Kind {
	close(h.held)
	<-h.release
	return KindDropped
}
