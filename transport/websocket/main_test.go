package websocket

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gobwas/ws"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is a server under test that hands out the connections it accepts.
type host struct {
	*Server
	url      string
	accepted chan *Conn
	dialled  []*Conn
}

// startHost accepts on loopback until the test ends. A connection is served until it
// has ended; who receives from it is the test's to say.
func startHost(tb testing.TB, o ServerOptions) *host {
	tb.Helper()
	h := newHost(o)
	web := httptest.NewServer(h.Server)
	h.url = "ws" + strings.TrimPrefix(web.URL, "http")
	tb.Cleanup(func() {
		require.NoError(tb, h.Shutdown(context.Background()))
		web.Close()
		for _, c := range h.dialled {
			<-c.Done()
		}
	})
	return h
}

func newHost(o ServerOptions) *host {
	h := &host{accepted: make(chan *Conn, 10_000)}
	h.Server = NewServer(o, func(c *Conn) {
		h.accepted <- c
		<-c.Done()
	})
	return h
}

// dial connects to the host.
func (h *host) dial(tb testing.TB, o DialOptions) *Conn {
	tb.Helper()
	c, err := Dial(tb.Context(), h.url, o)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = c.Close() })
	h.dialled = append(h.dialled, c)
	return c
}

// pair is both ends of a new connection, the host's first.
func (h *host) pair(tb testing.TB, o DialOptions) (host, peer *Conn) {
	tb.Helper()
	peer = h.dial(tb, o)
	return <-h.accepted, peer
}

// raw is a peer that writes what the test says and reads nothing by itself.
func (h *host) raw(t *testing.T) net.Conn {
	t.Helper()
	socket, early, _, err := ws.Dial(t.Context(), h.url)
	require.NoError(t, err)
	require.Nil(t, early)
	t.Cleanup(func() { _ = socket.Close() })
	return socket
}

// text is a client's frame, final or not.
func text(payload string, fin bool) []byte { return frame(ws.OpText, payload, fin) }

func frame(op ws.OpCode, payload string, fin bool) []byte {
	return ws.MustCompileFrame(ws.MaskFrame(ws.NewFrame(op, fin, []byte(payload))))
}

// readFrame reads what a test has the other end send, which is short.
func readFrame(from io.Reader) (ws.Frame, error) {
	h, err := ws.ReadHeader(from)
	if err != nil {
		return ws.Frame{}, err
	}
	f := ws.Frame{Header: h, Payload: make([]byte, h.Length)}
	_, err = io.ReadFull(from, f.Payload)
	return f, err
}

// wantClose reads frames until the close frame, and what follows it: the end.
func wantClose(t *testing.T, socket net.Conn, code int) (reason string) {
	t.Helper()
	for {
		f, err := readFrame(socket)
		require.NoError(t, err, "expected a close frame with code %d", code)
		if f.Header.OpCode != ws.OpClose {
			continue
		}
		got, reason := ws.ParseCloseFrameData(f.Payload)
		require.Equal(t, code, int(got), reason)
		_, err = socket.Read(make([]byte, 1))
		require.Error(t, err, "the socket ends behind the close frame")
		return reason
	}
}
