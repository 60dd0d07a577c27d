package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// Attaching: whoever asks for a pseudo-terminal or a channel of a plugin gets the
// connection itself, on which frames go both ways from then on.

// AttachRequest is the body of a request for a route.
type AttachRequest struct {
	// Params say what is to be opened, as the plugin's dialect documents it.
	Params json.RawMessage `json:"params,omitempty"`
	// Scope is the tenant; "" is the configured default.
	Scope string `json:"scope,omitempty"`
	// Trace is a W3C traceparent value.
	Trace string `json:"trace,omitempty"`
}

// attachProtocol is what a connection is upgraded to.
const attachProtocol = "airi-host-route"

// The kinds of frames. A frame is its kind, the length of what it carries in four bytes,
// the first one the highest, and that.
const (
	// frameData is bytes of the route, in both directions. The host sends one without any
	// every probeTime, to learn whether anybody is still attached.
	frameData = 'd'
	// frameStop asks for the program's end.
	frameStop = 's'
	// frameExit tells how the program ended, an AttachExit, and is the last one.
	frameExit = 'x'
	// frameError tells why the route has ended, a Failure, and is the last one.
	frameError = 'e'
)

// MaxAttachFrame is the longest that a frame carries, in bytes; a longer one ends the
// connection.
const MaxAttachFrame = 64 << 10

// probeTime is how long it takes to learn that nobody is attached any more while what they
// have sent waits for the program, and hides the end of the connection.
const probeTime = time.Second

// AttachExit is how a route's program ended.
type AttachExit struct {
	// Code is its status; absent where there is none.
	Code *int `json:"code,omitempty"`
	// Lost tells that the plugin lost the program, and how it ended is not known.
	Lost bool `json:"lost,omitempty"`
}

// route is what somebody is attached to, an actors.Route.
type route interface {
	io.ReadWriteCloser
	Stop()
	Wait(ctx context.Context) (protocol.Exit, error)
}

var _ route = (*actors.Route)(nil)

// opener is how the host opens a route of one kind.
type opener func(ctx context.Context, r actors.RouteRequest) (route, error)

func (s *Server) openPTY(ctx context.Context, r actors.RouteRequest) (route, error) {
	return s.host.OpenPTY(ctx, r)
}

func (s *Server) openDuplex(ctx context.Context, r actors.RouteRequest) (route, error) {
	return s.host.OpenDuplex(ctx, r)
}

// attach answers a request for a route: with an error as any other, or with the route.
func (s *Server) attach(kind protocol.RouteKind, open opener) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !strings.EqualFold(r.Header.Get("Upgrade"), attachProtocol) {
			return invalid("expected the headers \"Connection: Upgrade\" and \"Upgrade: %s\"", attachProtocol)
		}
		var asked AttachRequest
		if err := s.read(w, r, &asked); err != nil {
			return err
		}
		if !s.stays() {
			return actors.ErrShutdown
		}
		defer s.serving.Done()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(admitted(r), cancel)()
		plugin := r.PathValue("name")
		route, err := open(ctx, actors.RouteRequest{Plugin: plugin, Params: asked.Params, Scope: asked.Scope, Trace: asked.Trace})
		s.tellAttached(kind, plugin, asked.Scope, err)
		if err != nil {
			return s.unopened(kind, plugin, err)
		}
		defer func() { _ = route.Close() }() // it always succeeds
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return err
		}
		defer context.AfterFunc(s.attends, func() { _ = conn.Close() })() // whoever does not take what is left
		a := &attached{route: route, conn: conn, in: buffered.Reader, patience: s.limits.AnswerTime}
		a.run()
		return nil
	}
}

// unopened is why a route was not opened; of a plugin that does not run, what to do.
func (s *Server) unopened(kind protocol.RouteKind, plugin string, err error) error {
	if protocol.CodeOf(err) != protocol.CodeNotFound {
		return about(plugin, err)
	}
	one, unknown := s.find(plugin)
	is, remedy := "stopped", Start
	switch {
	case unknown != nil:
		return unknown
	case one.Plugin != plugin:
		return invalid("%s is a session: expected the name of its plugin, %s", plugin, one.Plugin)
	case one.Disabled:
		is, remedy = "disabled", Enable
	}
	return &protocol.Error{Code: protocol.CodeNotReady, Plugin: plugin, Message: fmt.Sprintf(
		"plugin %s is %s, and no %s is opened: %s it first", plugin, is, kind, remedy)}
}

// tellAttached tells that somebody was attached, or refused; of a plugin that does not run
// there is nothing to be told.
func (s *Server) tellAttached(kind protocol.RouteKind, plugin, scope string, err error) {
	if s.opts.Attached != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
		s.opts.Attached(kind, plugin, scope, err)
	}
}

// stays tells whether the server takes one who stays, for whom serving.Done is to follow.
func (s *Server) stays() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.down {
		s.serving.Add(1)
	}
	return !s.down
}

// attached is a route at one end and a connection at the other.
type attached struct {
	route route
	conn  net.Conn
	in    *bufio.Reader
	// patience is how long whoever is attached may take to take a frame.
	patience time.Duration

	// sending is held by whoever sends; isTold tells that the last frame was sent, and
	// broken why none is any more.
	sending sync.Mutex
	isTold  bool
	broken  error
}

// run passes on what comes until either end is over.
func (a *attached) run() {
	_ = a.conn.SetDeadline(time.Time{})
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		a.take()
		_ = a.route.Close() // it always succeeds
	}()
	if err := a.give(); err == nil {
		_ = a.close()
	}
	_ = a.conn.Close()  // so that take ends, where it reads
	_ = a.route.Close() // and where it writes to a program that takes nothing
	<-taken
}

// watch closes the route when nobody is attached any more, until over.
func (a *attached) watch(over <-chan struct{}) {
	ticks := time.NewTicker(probeTime)
	defer ticks.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticks.C:
			if a.send(frame(frameData, nil)) != nil {
				_ = a.route.Close() // it always succeeds
				return
			}
		}
	}
}

// close tells whoever is attached that nothing more comes, and gives them a moment to go.
func (a *attached) close() error {
	half, ok := a.conn.(interface{ CloseWrite() error })
	if !ok {
		return nil
	}
	return half.CloseWrite()
}

// take passes on what whoever is attached sends.
func (a *attached) take() {
	buffer := make([]byte, MaxAttachFrame)
	for {
		kind, data, err := readFrame(a.in, buffer)
		switch {
		case err != nil:
			return
		case kind == frameStop:
			a.route.Stop()
		case kind == frameData:
			if _, err := a.route.Write(data); err != nil {
				continue // the reading end tells why
			}
		}
	}
}

// give passes on what the plugin sends, and how it ended.
func (a *attached) give() error {
	const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + attachProtocol + "\r\n\r\n"
	if err := a.send([]byte(head)); err != nil {
		return err
	}
	over := make(chan struct{})
	defer close(over)
	go a.watch(over)
	buffer := make([]byte, MaxAttachFrame)
	for {
		n, err := a.route.Read(buffer)
		if n > 0 {
			if err := a.send(frame(frameData, buffer[:n])); err != nil {
				return err
			}
		}
		if err != nil {
			return a.sendLast(a.lastFrame(err))
		}
	}
}

// sendLast sends a frame behind which none is sent.
func (a *attached) sendLast(b []byte) error {
	a.sending.Lock()
	defer a.sending.Unlock()
	a.isTold = true
	return a.put(b)
}

func (a *attached) send(b []byte) error {
	a.sending.Lock()
	defer a.sending.Unlock()
	if a.isTold {
		return nil
	}
	return a.put(b)
}

// put sends with sending held.
func (a *attached) put(b []byte) error {
	if a.broken != nil {
		return a.broken
	}
	_ = a.conn.SetWriteDeadline(time.Now().Add(a.patience))
	_, a.broken = a.conn.Write(b)
	return a.broken
}

// lastFrame tells how the route ended, of which reading told an error.
func (a *attached) lastFrame(err error) []byte {
	if errors.Is(err, io.EOF) {
		var exit protocol.Exit
		if exit, err = a.route.Wait(context.Background()); err == nil {
			told := AttachExit{Lost: exit.Lost}
			if exit.HasCode {
				told.Code = &exit.Code
			}
			text, _ := json.Marshal(told) // numbers and truths
			return frame(frameExit, text)
		}
	}
	text, _ := json.Marshal(failureOf(err)) // strings, and valid JSON
	if len(text) > MaxAttachFrame {
		text, _ = json.Marshal(Failure{Code: codeInternal, Message: "the route has ended"})
	}
	return frame(frameError, text)
}

// frame makes a frame.
func frame(kind byte, data []byte) []byte {
	n := len(data)
	return append([]byte{kind, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, data...)
}

// readFrame reads a frame; what it carries is in the buffer.
func readFrame(from io.Reader, buffer []byte) (kind byte, data []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, nil, err
	}
	n := int(head[1])<<24 | int(head[2])<<16 | int(head[3])<<8 | int(head[4])
	if n > len(buffer) {
		return 0, nil, errLongFrame
	}
	_, err = io.ReadFull(from, buffer[:n])
	return head[0], buffer[:n], err
}

var errLongFrame = errors.New("a frame is longer than a route's may be")

// isRoute tells whether a path is that of a plugin's terminals or channels.
func isRoute(path string) bool {
	rest, ok := strings.CutPrefix(path, pathAPI+"/plugins/")
	return ok && (strings.HasSuffix(rest, "/pty") || strings.HasSuffix(rest, "/duplex"))
}
