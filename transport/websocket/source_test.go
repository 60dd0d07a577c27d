package websocket

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gobwas/ws"
	"github.com/stretchr/testify/require"
)

// reads counts how often a connection is read that is no bare socket, such as TLS.
type reads struct {
	net.Conn
	n int
}

func (r *reads) Read(p []byte) (int, error) {
	r.n++
	return r.Conn.Read(p)
}

func TestSource_readsFewTimesAndKeepsNoBufferWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		counted := &reads{Conn: near}
		c := newConn(counted, nil, new(Options{}.resolved()), false, true)
		c.start()
		said := strings.Repeat("x", 1000)
		got := make(chan string)
		go func() {
			for {
				record, err := c.Recv()
				if err != nil {
					close(got)
					return
				}
				got <- string(record)
			}
		}()
		for i := range 3 {
			go func() { _, _ = far.Write(text(said, true)) }()
			require.Equal(t, said, <-got)
			synctest.Wait()
			require.Nil(t, c.in.source.shared)
			require.LessOrEqual(t, counted.n, 2*(i+1)+1)
		}
		require.NoError(t, c.Close())
		require.NoError(t, far.Close())
		<-got
		<-c.Done()
	})
}

// A byte may come alone wherever it stands: nothing is waited for that is not due.
func TestSource_waitsForNothingBehindAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := newConn(near, nil, new(Options{}.resolved()), false, true)
		c.start()
		for range 2 {
			go func() {
				for _, b := range text(strings.Repeat("x", 200), true) {
					_, _ = far.Write([]byte{b})
				}
			}()
			record, err := c.Recv()
			require.NoError(t, err)
			require.Len(t, record, 200)
		}
		require.NoError(t, c.Close())
		require.NoError(t, far.Close())
		<-c.Done()
	})
}

// lastWords is a connection that tells of its end with the last that came, as TLS does
// where both came together.
type lastWords struct {
	net.Conn
	rest []byte
}

func (l *lastWords) Read(p []byte) (int, error) {
	n := copy(p, l.rest)
	if l.rest = l.rest[n:]; len(l.rest) == 0 {
		return n, io.EOF
	}
	return n, nil
}

func TestSource_losesNothingThatCameWithTheEnd(t *testing.T) {
	for _, said := range [][]byte{text("Hello", true), text(strings.Repeat("x", 1<<15), true), frame(ws.OpBinary, "", true)} {
		near, far := net.Pipe()
		c := newConn(&lastWords{near, said}, nil, new(Options{}.resolved()), false, true)
		c.start()
		_, err := c.Recv()
		require.NoError(t, err)
		_, err = c.Recv()
		require.EqualError(t, err, "the connection ended without a close frame: unexpected EOF")
		require.NoError(t, far.Close())
		<-c.Done()
	}
	one := source{socket: &lastWords{nil, []byte{0x81}}, idle: true}
	n, err := one.Read(make([]byte, 2))
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
