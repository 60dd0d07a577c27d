package admin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestAttach_refusesWithAnAnswer(t *testing.T) {
	upgrade := []string{"Content-Type", "application/json", "Connection", "Upgrade", "Upgrade", attachProtocol}
	var told []string
	r := startGuarded(t, Options{Plugins: []string{"talker", "absent", "asleep"}, Disabled: func(name string) bool { return name == "asleep" }, Attached: func(kind protocol.RouteKind, plugin, scope string, err error) {
		told = append(told, fmt.Sprint(kind, " ", plugin, " ", scope, " ", protocol.CodeOf(err)))
	}}, Guard{})
	for _, c := range []struct {
		path, body string
		header     []string
		status     int
		text       string
	}{
		{"nobody/pty", `{}`, []string{"Content-Type", "application/json"}, 400, `expected the headers \"Connection: Upgrade\" and \"Upgrade: airi-host-route\"`},
		{"nobody/pty", `{"command":1}`, upgrade, 400, `unknown field`},
		{"nobody/pty", `{}`, upgrade, 404, `no plugin and no session is called nobody; there are: talker, absent, asleep`},
		{"nobody/duplex", `{}`, upgrade, 404, `no plugin and no session is called nobody; there are: talker, absent, asleep`},
		{"absent/pty", `{}`, upgrade, 503, `plugin absent is stopped, and no pty is opened: start it first`},
		{"asleep/duplex", `{}`, upgrade, 503, `plugin asleep is disabled, and no duplex is opened: enable it first`},
		{"plugin-session-0/pty", `{}`, upgrade, 400, `plugin-session-0 is a session: expected the name of its plugin, talker`},
		{"talker/duplex", `{"scope":"acme"}`, upgrade, 400, `its wire has no routes`},
	} {
		status, body := r.send(t, http.MethodPost, pathAPI+"/plugins/"+c.path, c.body, c.header...)
		require.Equal(t, c.status, status, body)
		require.Contains(t, body, c.text)
	}
	require.Equal(t, []string{"duplex talker acme invalid"}, told, "of a plugin that does not run nothing is told")
}

func TestAttach_isNotForEveryUserOfTheMachine(t *testing.T) {
	for _, kind := range []string{"pty", "duplex"} {
		r := startGuarded(t, Options{}, Guard{Loopback: true})
		status, body := r.send(t, http.MethodPost, pathAPI+"/plugins/talker/"+kind, `{}`)
		require.Equal(t, 403, status)
		require.Contains(t, body, "use airi-host pty, which asks through the control socket")
		r = startGuarded(t, Options{}, Guard{Loopback: true, Token: "t"})
		status, _ = r.send(t, http.MethodPost, pathAPI+"/plugins/talker/"+kind, `{}`, "Authorization", "Bearer t", "Content-Type", "application/json")
		require.Equal(t, 400, status)
	}
}

// pipe is a connection in the hands of a test.
type pipe struct {
	in  io.Reader
	out bytes.Buffer
}

func (p *pipe) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p *pipe) Close() error                { return nil }

func attachmentTo(frames ...[]byte) (*Attachment, *pipe) {
	p := &pipe{in: bytes.NewReader(bytes.Join(frames, nil))}
	return &Attachment{conn: p, buffer: make([]byte, MaxAttachFrame)}, p
}

func TestAttachment_readsUntilTheExit(t *testing.T) {
	a, p := attachmentTo(frame(frameData, []byte("one ")), frame('?', []byte("of a newer host")), frame(frameData, []byte("two")), frame(frameExit, []byte(`{"code":3}`)))
	got, err := io.ReadAll(a)
	require.NoError(t, err)
	require.Equal(t, "one two", string(got))
	require.Equal(t, 3, *a.Exit().Code)
	_, err = a.Write([]byte(strings.Repeat("x", MaxAttachFrame+1)))
	require.NoError(t, err)
	require.NoError(t, a.Stop())
	var sent []string
	for {
		kind, data, err := readFrame(&p.out, make([]byte, MaxAttachFrame))
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		sent = append(sent, string(kind)+" "+string(data[:min(len(data), 3)]))
	}
	require.Equal(t, []string{"d xxx", "d x", "s "}, sent)
}

func TestAttachment_tellsWhyItHasEnded(t *testing.T) {
	for name, row := range map[string]struct {
		frame []byte
		text  string
	}{
		"the host's reason": {frame(frameError, []byte(`{"code":"overloaded","message":"too slow","plugin":"porter"}`)), "too slow"},
		"no reason":         {nil, "the host has ended without a word, or it has closed the connection, as it does where nobody takes what it sends for its api.answerTimeout: its log may tell"},
		"half a frame":      {[]byte{frameData, 0, 0, 0, 9, 'x'}, "the host has ended without a word"},
		"too long a frame":  {[]byte{frameData, 1, 0, 0, 0}, "the connection to the host: a frame is longer than a route's may be"},
		"no exit":           {frame(frameExit, []byte(`[]`)), "json: cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := attachmentTo(frame(frameData, []byte("last")), row.frame)
			got, err := io.ReadAll(a)
			require.Equal(t, "last", string(got))
			require.ErrorContains(t, err, row.text)
			if name == "the host's reason" {
				require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err))
			}
		})
	}
}

// deaf is a route whose program neither takes nor writes anything.
type deaf struct {
	once  sync.Once
	ended chan struct{}
}

func (s *deaf) Read([]byte) (int, error)  { <-s.ended; return 0, io.ErrClosedPipe }
func (s *deaf) Write([]byte) (int, error) { <-s.ended; return 0, io.ErrClosedPipe }
func (s *deaf) Stop()                     {}
func (s *deaf) Close() error              { s.once.Do(func() { close(s.ended) }); return nil }
func (s *deaf) Wait(context.Context) (protocol.Exit, error) {
	<-s.ended
	return protocol.Exit{}, io.ErrClosedPipe
}

// Whoever goes is missed although the program has not taken what they sent.
func TestAttached_endsWhenNobodyIsThere(t *testing.T) {
	for name, leave := range map[string]func(net.Conn){
		"the connection is closed": func(c net.Conn) { _ = c.Close() },
		"they read no more":        func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host, client := net.Pipe()
				route := &deaf{ended: make(chan struct{})}
				a := &attached{route: route, conn: host, in: bufio.NewReader(host), patience: 30 * time.Second}
				done := make(chan struct{})
				go func() {
					defer close(done)
					a.run()
				}()
				head, err := http.ReadResponse(bufio.NewReader(client), nil)
				require.NoError(t, err)
				require.NoError(t, head.Body.Close())
				_, err = client.Write(frame(frameData, []byte("never taken")))
				require.NoError(t, err)
				began := time.Now()
				leave(client)
				<-done
				require.LessOrEqual(t, time.Since(began), a.patience+probeTime)
				select {
				case <-route.ended:
				default:
					require.Fail(t, "the route is open")
				}
				require.NoError(t, client.Close())
			})
		})
	}
}

// A connection that is upgraded still ends with the context that it was asked for with.
func TestClient_attachesUntilTheContextEnds(t *testing.T) {
	host, client := net.Pipe()
	c := NewClient(func(context.Context) (net.Conn, error) { return client, nil })
	go func() {
		r, err := http.ReadRequest(bufio.NewReader(host))
		if err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(host, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+attachProtocol+"\r\n\r\n")
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	a, err := c.Attach(ctx, protocol.RoutePTY, "porter", AttachRequest{})
	require.NoError(t, err)
	cancel()
	_, err = a.Read(make([]byte, 1))
	require.ErrorContains(t, err, "the connection to the host")
	require.NoError(t, host.Close())
}
