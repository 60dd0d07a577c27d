package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// flood is a route whose program writes without end, and takes nothing: reading gives more
// and more, and writing waits until the route is over.
type flood struct {
	once sync.Once
	over chan struct{}
	err  error
}

func newFlood() *flood { return &flood{over: make(chan struct{})} }

func (f *flood) end(why error) {
	f.once.Do(func() {
		f.err = why
		close(f.over)
	})
}

func (f *flood) Read(b []byte) (int, error) {
	select {
	case <-f.over:
		return 0, f.err
	default:
		return len(b), nil
	}
}

func (f *flood) Write([]byte) (int, error) {
	<-f.over
	return 0, f.err
}

func (f *flood) Stop() {}

func (f *flood) Close() error {
	f.end(io.ErrClosedPipe)
	return nil
}

func (f *flood) Wait(context.Context) (protocol.Exit, error) {
	<-f.over
	return protocol.Exit{}, f.err
}

// Whoever is attached and takes nothing is left after a while, also where the program takes
// nothing of theirs either.
func TestAttached_whoeverReadsNothingIsLeft(t *testing.T) {
	for name, typed := range map[string][]byte{"silent": nil, "typing": frame(frameData, []byte("ls\n"))} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				defer func() { _ = far.Close() }()
				f, began := newFlood(), time.Now()
				over := make(chan struct{})
				go func() {
					defer close(over)
					a := &attached{route: f, conn: near, in: bufio.NewReader(near), patience: 30 * time.Second}
					a.run()
				}()
				_, err := bufio.NewReaderSize(far, 16).ReadString('\n') // the beginning of the answer, and no more
				require.NoError(t, err)
				if typed != nil {
					_, err = far.Write(typed)
					require.NoError(t, err)
				}
				<-over
				require.Equal(t, 30*time.Second, time.Since(began))
				<-f.over
			})
		})
	}
}

// oneConn is a listener to which one has connected.
type oneConn struct {
	conns chan net.Conn
	once  sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	if conn := <-l.conns; conn != nil {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.conns) })
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// attachTo serves a route of a test, and returns a connection that is attached to it.
func attachTo(t *testing.T, r *running, f *flood, g Guard) (*Server, net.Conn) {
	t.Helper()
	s := New(r.host, Options{})
	s.mux = s.answering(s.attach(protocol.RoutePTY, func(ctx context.Context, _ actors.RouteRequest) (route, error) {
		stop := context.AfterFunc(ctx, func() {
			f.end(&protocol.Error{Code: protocol.CodeCancelled, Message: "its context has ended"})
		})
		t.Cleanup(func() { stop() })
		return f, nil
	}))
	near, conn := net.Pipe() // it holds nothing of what is not read
	l := &oneConn{conns: make(chan net.Conn, 1)}
	l.conns <- near
	s.Serve(l, current(g))
	t.Cleanup(func() { _ = conn.Close() })
	_, err := io.WriteString(conn, strings.Join([]string{
		"POST /api/v1/plugins/porter/pty HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Connection: Upgrade",
		"Upgrade: " + attachProtocol, "Content-Length: 2", "", "{}",
	}, "\r\n"))
	require.NoError(t, err)
	return s, conn
}

func TestServer_shutdownTellsWhoeverIsAttached(t *testing.T) {
	s, conn := attachTo(t, start(t, Options{}), newFlood(), Guard{})
	from := bufio.NewReader(conn)
	answer, err := http.ReadResponse(from, nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusSwitchingProtocols, answer.StatusCode)
	told := make(chan error, 1)
	go func() {
		buffer := make([]byte, MaxAttachFrame)
		for {
			kind, data, err := readFrame(from, buffer)
			if kind == frameError {
				var f Failure
				_ = json.Unmarshal(data, &f)
				err = f.Err()
			}
			if err != nil {
				told <- err
				return
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, s.Shutdown(ctx))
	require.ErrorContains(t, <-told, "its context has ended")
	require.NoError(t, ctx.Err())
}

// A shutdown waits for nobody longer than it may.
func TestServer_shutdownBreaksOffWhoeverIsAttachedAndReadsNothing(t *testing.T) {
	f := newFlood()
	s, conn := attachTo(t, start(t, Options{}), f, Guard{})
	_, err := io.ReadFull(conn, make([]byte, 32)) // it is attached
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_ = s.Shutdown(ctx)
	require.Less(t, time.Since(began), 10*time.Second, "whoever is attached may be silent for 30 s else")
	<-f.over
}
