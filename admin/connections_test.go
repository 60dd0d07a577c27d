package admin

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// listenFor opens a limited listener, and returns how to connect to it.
func listenFor(t *testing.T, n int) (l *limited, dial func() net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l = limit(inner, n, new(atomic.Uint64))
	t.Cleanup(func() { _ = l.Close() })
	return l, func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

func TestLimited_acceptsWhenThereIsRoom(t *testing.T) {
	l, dial := listenFor(t, 1)
	dial()
	dial()
	first, err := l.Accept()
	require.NoError(t, err)
	follow(first, http.StateActive)
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
	require.Zero(t, l.pushed.Load())

	dial()
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

func TestLimited_theLongestIdleMakesRoom(t *testing.T) {
	l, dial := listenFor(t, 3)
	next := func() net.Conn {
		t.Helper()
		dial()
		c, err := l.Accept()
		require.NoError(t, err)
		return c
	}
	isClosed := func(c net.Conn) bool { _, err := c.Write([]byte("x")); return err != nil }
	busy, early, late := next(), next(), next()
	for _, c := range []net.Conn{busy, late, early} {
		follow(c, http.StateNew)
	}
	follow(busy, http.StateActive)
	follow(early, http.StateActive)
	follow(early, http.StateIdle) // it has been asked since
	fourth := next()
	require.Equal(t, []bool{false, false, true}, []bool{isClosed(busy), isClosed(early), isClosed(late)})
	follow(fourth, http.StateActive)
	fifth := next()
	require.True(t, isClosed(early))
	require.EqualValues(t, 2, l.pushed.Load())
	follow(late, http.StateIdle) // it is closed: nobody is kept by it
	follow(fifth, http.StateActive)

	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	dial()
	require.Empty(t, accepted, "all are at work")
	follow(busy, http.StateIdle)
	require.NotNil(t, <-accepted)
	require.True(t, isClosed(busy))
	follow(&net.TCPConn{}, http.StateIdle) // one of another listener is none of ours
}

// Clients that hold all connections, some of which never asked, lock nobody out.
func TestServer_idleClientsLockNobodyOut(t *testing.T) {
	const most = 8
	r := startGuarded(t, Options{Limits: Limits{Connections: most}}, Guard{})
	held := make([]net.Conn, most)
	for i := range held {
		c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", r.address)
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		held[i] = c
		if i%2 == 0 {
			continue
		}
		_, err = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		got, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, 200, got.StatusCode)
		require.NoError(t, got.Body.Close())
	}
	for range 2 * most { // each on a connection of its own
		got, body := r.full(t, http.MethodGet, "/api/v1/host", "", "Connection", "close")
		require.Equal(t, 200, got.StatusCode, body)
	}
	_, metrics := r.get(t, "/metrics")
	require.Regexp(t, `airi_host_connections_pushed_total [1-9]`, metrics)
}
