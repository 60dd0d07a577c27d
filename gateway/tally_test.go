package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
)

// Who asks for the counts does not wait for the connections, which may be many.
func TestCounts_waitForNobody(t *testing.T) {
	r := start(t, Options{})
	r.dial().announce("bot", "1")
	r.wantPhase("bot", lifecycle.Ready)
	r.gateway.mu.Lock()
	defer r.gateway.mu.Unlock()
	counts := make(chan Counts, 1)
	go func() { counts <- r.gateway.Counts() }()
	select {
	case n := <-counts:
		require.Equal(t, 1, n.Modules)
		require.Zero(t, n.Away)
	case <-time.After(patience):
		require.Fail(t, "it waits for whoever is at it")
	}
}

// A module counts as long as it is there, and as away as long as it is that.
func TestCounts_ofModules(t *testing.T) {
	r := start(t, Options{})
	want := func(modules, away int) {
		t.Helper()
		require.Eventually(t, func() bool {
			n := r.gateway.Counts()
			return n.Modules == modules && n.Away == away
		}, patience, time.Millisecond)
	}
	p := r.dial()
	p.announce("bot", "1")
	want(1, 0)
	require.NoError(t, p.Close())
	want(1, 1)
	p = r.dial()
	p.announce("bot", "1")
	want(1, 0)
	q := r.dial()
	q.announce("bot", "1")
	want(1, 0)
	q.announce("cat", "1")
	want(1, 0)
	s := r.dial()
	s.say("module:announce", `{"name":"owl","identity":{"kind":"plugin","plugin":{"id":"owl"},"id":""}}`)
	want(2, 0)
	require.NoError(t, s.Close())
	want(1, 0)
	require.NoError(t, q.Close())
	want(1, 1)
}
