package websocket

import (
	"testing"

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
