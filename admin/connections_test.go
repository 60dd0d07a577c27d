package admin

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLimited_acceptsWhenThereIsRoom(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := limit(inner, 1)
	dial := func() {
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
	}
	dial()
	dial()
	first, err := l.Accept()
	require.NoError(t, err)
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	require.Empty(t, accepted)
	require.NoError(t, first.Close())
	require.Error(t, first.Close(), "twice is once")
	second := <-accepted
	require.NotNil(t, second)

	ended := make(chan error, 1)
	go func() {
		_, err := l.Accept() // there is no room, and will be none
		ended <- err
	}()
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
	require.ErrorIs(t, l.Close(), net.ErrClosed)
	require.NoError(t, second.Close())
}
