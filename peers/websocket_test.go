package peers

import (
	"bufio"
	"context"
	"io"
	"math/big"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol/airi/superjson"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/websocket"
)

// script is a program of testdata/websocket that runs.
type script struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

// runScript starts one within reach of the published client. It ends with the test.
func runScript(t *testing.T, name string, args ...string) *script {
	t.Helper()
	return runScriptOf(t, AIRISDK, name, args...)
}

// runScriptOf starts one within reach of a set's packages.
func runScriptOf(t *testing.T, set, name string, args ...string) *script {
	t.Helper()
	return startScript(t, written(t, map[string]string{name: readText(t, "testdata", "websocket", name)}), []string{set}, name, args...)
}

// scriptTime is how long a program of testdata/websocket may run.
const scriptTime = 2 * time.Minute

// startScript starts a program of a directory, within reach of the packages of some sets. It
// ends with the test, or with scriptTime.
func startScript(t *testing.T, dir string, sets []string, name string, args ...string) *script {
	t.Helper()
	modules := filepath.Join(dir, "node_modules")
	require.NoError(t, os.Mkdir(modules, 0o700))
	for _, set := range sets {
		from := Install(t, set)
		packages, err := filepath.Glob(filepath.Join(from, "[^.]*"))
		require.NoError(t, err)
		for _, one := range packages {
			require.NoError(t, os.Symlink(one, filepath.Join(modules, filepath.Base(one))))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), scriptTime)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "node", append([]string{"--experimental-websocket", filepath.Join(dir, name)}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s := &script{in: in, out: bufio.NewScanner(out)}
	s.out.Buffer(nil, 1<<20)
	return s
}

// says waits for the next line.
func (s *script) says(t *testing.T) string {
	t.Helper()
	require.True(t, s.out.Scan(), "the script has ended: %v", s.out.Err())
	return s.out.Text()
}

// acceptSockets hands out the connections of a server on loopback, and where it is.
func acceptSockets(t *testing.T, o websocket.ServerOptions) (address string, accepted <-chan *websocket.Conn) {
	t.Helper()
	conns := make(chan *websocket.Conn, 16)
	server := websocket.NewServer(o, func(c *websocket.Conn) {
		conns <- c
		<-c.Done()
	})
	web := httptest.NewServer(server)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(t, server.Shutdown(ctx))
		web.Close()
	})
	return "ws" + strings.TrimPrefix(web.URL, "http") + "/ws", conns
}

func wantText(t *testing.T, c *websocket.Conn, want string) {
	t.Helper()
	record, err := c.Recv()
	require.NoError(t, err)
	require.Equal(t, want, string(record))
}

func TestWebsocket_talksWithThePublishedClient(t *testing.T) {
	address, accepted := acceptSockets(t, websocket.ServerOptions{})
	bot := runScript(t, "client.mjs", address)
	c := <-accepted

	event := receiveEvent(t, c, "module:announce")
	data, _ := event.Get("data")
	identity, _ := data.(*superjson.Object).Get("identity")
	metadata, _ := event.Get("metadata")
	source, _ := metadata.(*superjson.Object).Get("source")
	require.Same(t, identity, source, "the client says that they are one object")

	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	notify := &superjson.Object{Members: []superjson.Member{
		{Name: "type", Value: "spark:notify"},
		{Name: "data", Value: &superjson.Object{Members: []superjson.Member{{Name: "at", Value: at}, {Name: "nothing", Value: superjson.Undefined{}}}}},
	}}
	text, err := superjson.Encode(notify, 1<<10)
	require.NoError(t, err)
	require.NoError(t, c.Send(text))
	require.Equal(t, "true 2026-11-30T09:00:00.000Z true", bot.says(t))

	event = receiveEvent(t, c, "spark:emit")
	data, _ = event.Get("data")
	require.Equal(t, []superjson.Member{
		{Name: "at", Value: at},
		{Name: "seen", Value: &superjson.Map{Entries: [][2]any{{"id", &superjson.Set{Items: []any{big.NewInt(1)}}}}}},
		{Name: "nothing", Value: superjson.Undefined{}},
	}, data.(*superjson.Object).Members)
	require.NoError(t, c.Close())
	require.Equal(t, "closed", bot.says(t))
}

// receiveEvent waits for an event of one type; the client's heartbeats come between.
func receiveEvent(t *testing.T, c *websocket.Conn, kind string) *superjson.Object {
	t.Helper()
	for {
		record, err := c.Recv()
		require.NoError(t, err)
		frame, err := superjson.Read(record)
		require.NoError(t, err)
		require.True(t, frame.Wrapped)
		value, err := frame.Value()
		require.NoError(t, err)
		event := value.(*superjson.Object)
		if is, _ := event.Get("type"); is == kind {
			return event
		}
	}
}

func TestWebsocket_acceptsWS(t *testing.T) {
	address, accepted := acceptSockets(t, websocket.ServerOptions{Options: websocket.Options{MaxRecord: 1 << 16}})
	client := runScript(t, "ws.mjs", "flood", address)
	c := <-accepted
	wantText(t, c, "Hello")
	require.Equal(t, "pong amid", client.says(t))
	require.NoError(t, c.Send([]byte("go on")))
	require.Equal(t, "message go on", client.says(t))
	_, err := c.Recv()
	var long *transport.TooLongError
	require.ErrorAs(t, err, &long)
	require.Equal(t, "closed 1009 a message is longer than the limit of 65536 bytes", client.says(t))
}

func TestWebsocket_knowsPagesByTheirOrigin(t *testing.T) {
	address, accepted := acceptSockets(t, websocket.ServerOptions{})
	require.Equal(t, "refused 403", runScript(t, "ws.mjs", "client", address, "https://evil.example").says(t))
	page := runScript(t, "ws.mjs", "client", address, "http://localhost:5173")
	c := <-accepted
	wantText(t, c, "Hello")
	c.CloseWith(4001, "enough")
	require.Equal(t, "pong amid", page.says(t))
	require.Equal(t, "closed 4001 enough", page.says(t))
}

func TestWebsocket_acceptsTheSocketOfBrowsers(t *testing.T) {
	address, accepted := acceptSockets(t, websocket.ServerOptions{})
	page := runScript(t, "browser.mjs", address)
	c := <-accepted
	wantText(t, c, "Hello")
	require.NoError(t, c.Send([]byte("Hello too")))
	require.Equal(t, "message Hello too", page.says(t))
	_, err := c.Recv()
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "closed 1000 true", page.says(t))
}

func TestWebsocket_dialsWS(t *testing.T) {
	server := runScript(t, "ws.mjs", "server")
	c, err := websocket.Dial(t.Context(), "ws://127.0.0.1:"+server.says(t)+"/", websocket.DialOptions{})
	require.NoError(t, err)
	wantText(t, c, "pong alive?")
	long := strings.Repeat("é", 100_000)
	for _, said := range []string{"Hello", "", "\xff", long} {
		require.NoError(t, c.Send([]byte(said)))
		wantText(t, c, said)
	}
	require.NoError(t, c.Send([]byte("close")))
	_, err = c.Recv()
	var closed *websocket.CloseError
	require.ErrorAs(t, err, &closed)
	require.Equal(t, websocket.CloseError{Code: 4000, Reason: "as asked"}, *closed)
	require.Equal(t, "closed 4000 ", server.says(t))
	<-c.Done()
}

// What superjson writes is read, and written to the byte as it does.
func TestSuperJSON_isThatOfTheNpmPackage(t *testing.T) {
	node := runScript(t, "superjson.mjs")
	const last = `{"json":{"type":"self"`
	for more := true; more; {
		text := node.says(t)
		more = !strings.HasPrefix(text, last)
		frame, err := superjson.Read([]byte(text))
		require.NoError(t, err)
		value, err := frame.Value()
		require.NoError(t, err, text)
		written, err := superjson.Encode(value, 1<<16)
		require.NoError(t, err, text)
		require.Equal(t, text, strings.ReplaceAll(string(written), `\u2028`, "\u2028"))
		_, err = node.in.Write(append(written, '\n'))
		require.NoError(t, err)
	}
	require.Equal(t, "over", node.says(t))
}
