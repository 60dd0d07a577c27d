package websocket

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/transporttest"
)

func TestConn(t *testing.T) {
	limits := Options{MaxRecord: transporttest.MaxRecord, SlowPeer: RefuseSlow}
	for _, way := range []struct {
		name      string
		hostFirst bool
	}{{"accepted", true}, {"dialled", false}} {
		t.Run(way.name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T) (a, b transport.Conn) {
				t.Helper()
				host, peer := startHost(t, ServerOptions{Options: limits}).pair(t, DialOptions{Options: limits})
				if way.hostFirst {
					return host, peer
				}
				return peer, host
			})
		})
	}
}

// A server that shuts down says goodbye to a connection that is just being made.
func TestConn_mayEndBeforeItHasBegun(t *testing.T) {
	near, far := net.Pipe()
	c := newConn(near, nil, new(Options{}.resolved()), false, true)
	require.NoError(t, far.Close())
	require.NoError(t, c.Close())
	c.start()
	<-c.Done()
	require.ErrorIs(t, c.reason(), transport.ErrClosed)
	require.Nil(t, c.timer)
}

// hearsOut is a socket that can be closed by halves, and tells when it is read after that.
type hearsOut struct {
	net.Conn
	half    atomic.Bool
	hearing chan struct{}
}

func (h *hearsOut) CloseWrite() error {
	h.half.Store(true)
	return nil
}

func (h *hearsOut) Read(p []byte) (int, error) {
	if h.half.Load() {
		close(h.hearing)
	}
	return h.Conn.Read(p)
}

// While a peer that stays is heard out, its receiver is told of the end and goes on.
func TestRecv_waitsNotForAPeerThatIsHeardOut(t *testing.T) {
	const closeTime = 2 * time.Second
	near, far := net.Pipe()
	socket := &hearsOut{Conn: near, hearing: make(chan struct{})}
	c := newConn(socket, nil, new(Options{CloseTime: closeTime}.resolved()), false, true)
	c.start()
	began := time.Now()
	require.NoError(t, c.Close())
	f, err := readFrame(far)
	require.NoError(t, err)
	require.Equal(t, ws.OpClose, f.Header.OpCode)
	<-socket.hearing
	_, err = c.Recv()
	require.ErrorIs(t, err, transport.ErrClosed)
	require.Less(t, time.Since(began), closeTime)
	require.NoError(t, far.Close())
	<-c.Done()
}
