package websocket

import (
	"net"
	"testing"

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
