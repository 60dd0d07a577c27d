package websocket

import (
	"bytes"
	"net"
	"testing"
	"testing/synctest"

	"github.com/gobwas/ws"
	"github.com/stretchr/testify/require"
)

// takesNothing is a socket that takes nothing at once.
type takesNothing struct{}

func (takesNothing) Control(func(uintptr)) error    { return nil }
func (takesNothing) Read(func(uintptr) bool) error  { return nil }
func (takesNothing) Write(func(uintptr) bool) error { return nil }

func TestClose_saysGoodbyeToWhoTakesNothingAtOnce(t *testing.T) {
	bubble(t, Options{}, true, func(t *testing.T, c *Conn, far net.Conn) {
		t.Helper()
		c.try = &try{raw: takesNothing{}}
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

// Others who send at the same time do not keep a sender from returning.
func TestSend_writesNotForOthersForEver(t *testing.T) {
	bubble(t, Options{}, true, func(t *testing.T, c *Conn, _ net.Conn) {
		t.Helper()
		c.try = &try{}
		busy := &busySocket{conn: c}
		c.try.raw = busy
		require.NoError(t, c.Send([]byte("mine")))
		require.Less(t, busy.writes, 100)
		synctest.Wait()
	})
}

// busySocket takes all that it is given, and whenever it does another record comes.
type busySocket struct {
	takesNothing
	conn   *Conn
	writes int
}

func (b *busySocket) Write(func(uintptr) bool) error {
	b.writes++
	b.conn.try.n = len(b.conn.try.data)
	if b.writes < 1000 {
		return b.conn.Gather([]byte("another's"))
	}
	return nil
}
