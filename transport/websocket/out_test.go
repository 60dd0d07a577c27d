package websocket

import (
	"bytes"
	"net"
	"testing"

	"github.com/gobwas/ws"
	"github.com/stretchr/testify/require"
)

// full is a socket that takes nothing at once, and all of it in time.
func full(c *Conn) { c.try = &try{raw: takesNothing{}} }

type takesNothing struct{}

func (takesNothing) Control(func(uintptr)) error    { return nil }
func (takesNothing) Read(func(uintptr) bool) error  { return nil }
func (takesNothing) Write(func(uintptr) bool) error { return nil }

func TestClose_saysGoodbyeToWhoTakesNothingAtOnce(t *testing.T) {
	bubble(t, Options{}, true, func(t *testing.T, c *Conn, far net.Conn) {
		t.Helper()
		full(c)
		require.NoError(t, c.Close())
		f, err := readFrame(far)
		require.NoError(t, err)
		require.Equal(t, ws.OpClose, f.Header.OpCode)
	})
}

func TestEnd_keepsNothingOfWhatWaited(t *testing.T) {
	bubble(t, Options{}, true, func(t *testing.T, c *Conn, _ net.Conn) {
		t.Helper()
		for range 3 {
			require.NoError(t, c.Send(bytes.Repeat([]byte{'x'}, chunkSize)))
		}
		require.NoError(t, c.Close())
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, k := range c.out.chunks[:cap(c.out.chunks)] {
			require.Zero(t, cap(k.data))
		}
	})
}
