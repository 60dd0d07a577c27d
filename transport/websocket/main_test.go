package websocket

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is a server under test that hands out the connections it accepts.
type host struct {
	*Server
	url      string
	accepted chan *Conn
}

// startHost accepts on loopback until the test ends. A connection is served until it
// has ended.
func startHost(t *testing.T, o ServerOptions) *host {
	t.Helper()
	h := &host{accepted: make(chan *Conn, 10_000)}
	h.Server = NewServer(o, func(c *Conn) {
		h.accepted <- c
		<-c.Done()
	})
	web := httptest.NewServer(h.Server)
	h.url = "ws" + strings.TrimPrefix(web.URL, "http")
	t.Cleanup(func() {
		require.NoError(t, h.Shutdown(context.Background()))
		web.Close()
	})
	return h
}

// dial connects to the host.
func (h *host) dial(t *testing.T, o DialOptions) *Conn {
	t.Helper()
	c, err := Dial(t.Context(), h.url, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		<-c.Done()
	})
	return c
}

// pair is both ends of a new connection, the host's first.
func (h *host) pair(t *testing.T, o DialOptions) (host, peer *Conn) {
	t.Helper()
	peer = h.dial(t, o)
	return <-h.accepted, peer
}
