package admin

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// atWork is what working does when a request is there.
func atWork(c net.Conn) { c.(*connection).work() }

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
	atWork(first)
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
	atWork(busy)
	follow(late, http.StateActive) // it has sent some of a request, which makes it no younger
	atWork(early)
	follow(early, http.StateIdle) // it has been asked since
	fourth := next()
	require.Equal(t, []bool{false, false, true}, []bool{isClosed(busy), isClosed(early), isClosed(late)})
	atWork(fourth)
	fifth := next()
	require.True(t, isClosed(early))
	require.EqualValues(t, 2, l.pushed.Load())
	follow(late, http.StateIdle) // it is closed: nobody is kept by it
	atWork(fifth)

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

// However slowly its body comes, a connection is as old as its request.
func TestLimited_whoseBodyIsAwaitedMakesRoom(t *testing.T) {
	l, dial := listenFor(t, 2)
	next := func() *connection {
		t.Helper()
		dial()
		c, err := l.Accept()
		require.NoError(t, err)
		return c.(*connection)
	}
	slow, idle := next(), next()
	slow.work()
	came, more := make(chan struct{}), make(chan int, 2)
	b := &body{io.NopCloser(readerFunc(func([]byte) (int, error) {
		came <- struct{}{}
		return <-more, nil
	})), slow, time.Now()}
	follow(idle, http.StateIdle) // after its request
	read := func() chan error {
		over := make(chan error, 1)
		go func() {
			_, err := b.Read(nil)
			over <- err
		}()
		<-came
		return over
	}
	over := read()
	more <- 1
	require.NoError(t, <-over)
	l.mu.Lock()
	require.Equal(t, 1, l.idle.Len(), "it is at work with what came")
	l.mu.Unlock()
	over = read()
	next() // takes its place
	more <- 1
	require.NoError(t, <-over)
	_, err := slow.Write([]byte("x"))
	require.Error(t, err)
	_, err = idle.Write([]byte("x"))
	require.NoError(t, err)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A connection that the server has given away is nobody's to close.
func TestLimited_whatWasTakenOverStays(t *testing.T) {
	l, dial := listenFor(t, 1)
	dial()
	c, err := l.Accept()
	require.NoError(t, err)
	follow(c, http.StateNew)
	follow(c, http.StateHijacked)
	c.(*connection).await(time.Now()) // its handler has ended
	_, longest := l.enter()
	require.Nil(t, longest)
	require.NoError(t, c.Close())
}

// Nobody is locked out by clients who begin a request and say no more, however many there
// are and however long they may take.
func TestServer_halfARequestLocksNobodyOut(t *testing.T) {
	const many, patient = 2000, time.Hour
	head := " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	for name, text := range map[string]string{
		"nothing":                       "",
		"half a head":                   "GET /healthz HT",
		"a head without its body":       "POST /api/v1/call" + head,
		"half a body":                   "POST /api/v1/call" + head + "{",
		"a body that nobody reads":      "GET /healthz" + head + "{",
		"a body of a plugin's":          "POST /plugins/web/form" + head + "{",
		"a body where there is no host": "POST /nowhere" + head + "{",
	} {
		t.Run(name, func(t *testing.T) {
			r := startGuarded(t, Options{
				Limits:    Limits{Connections: 64, HeaderTime: patient, BodyTime: patient, IdleTime: patient},
				Endpoints: Endpoints{Time: patient},
			}, Guard{})
			for range many {
				c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", r.address)
				require.NoError(t, err)
				defer func() { _ = c.Close() }()
				_, _ = io.WriteString(c, text) // it may have been closed already
			}
			for range 8 {
				got, body := r.full(t, http.MethodGet, "/healthz", "", "Connection", "close")
				require.Equal(t, 200, got.StatusCode, body)
			}
			require.GreaterOrEqual(t, r.server.pushed.Load(), uint64(many-64))
		})
	}
}
