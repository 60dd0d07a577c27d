package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// running is a host with a plugin, a server on a TCP port, and a client of it.
type running struct {
	*Client
	host   *actors.Host
	server *Server
	// address is where the server listens, as host:port.
	address string
}

// manifestFor describes a plugin that is compiled in.
func manifestFor(name string) *manifest.Manifest {
	builtin := "builtin:" + name
	return &manifest.Manifest{
		Dialect: manifest.DialectAIRI, Name: name, File: name + "/plugin.json", Entrypoints: manifest.Entrypoints{Go: &builtin},
	}
}

// talker offers what the tests call.
func talker() *plugin.Definition {
	p := plugin.Define("talker")
	handle := func(key string, h plugin.Handler) { plugin.Handle(p, key, h) }
	handle("model:ECHO", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	handle("model:FAILS", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("no luck") })
	handle("model:CRACKS", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return nil, &protocol.PeerError{Message: "broken", Stack: "Error: broken\n    at x"}
	})
	handle("tool:SORRY", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"error":"sorry"}`), nil
	})
	handle("model:WAITS", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	handle("model:COUNTS", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		for _, n := range []int{1, 2} {
			if err := plugin.Report(ctx, n); err != nil {
				return nil, err
			}
		}
		return json.RawMessage("{\n\"all\": 2}"), nil
	})
	handle("model:BREAKS", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		return nil, errors.Join(plugin.Report(ctx, 1), errors.New("broke"))
	})
	handle("model:TALKS", func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
		var many int
		if err := json.Unmarshal(in, &many); err != nil {
			return nil, err
		}
		for i := range many {
			plugin.From(ctx).Log().Info("blah", "i", i, "more", strings.Repeat("blah ", 50))
		}
		return nil, nil
	})
	return p
}

// start runs a host with the talker, and asks it.
func start(t *testing.T, opts Options) *running {
	t.Helper()
	return startGuarded(t, opts, Guard{})
}

// current is a guard as a host's own is, which may change: it goes by the one that it asks
// for. One that asks for none is given as it is.
func current(g Guard) Guard {
	if g.Current != nil || !g.Loopback && !g.Open && g.Token == "" {
		return g
	}
	return Guard{Current: func() Guard { return g }}
}

func startGuarded(t testing.TB, opts Options, g Guard) *running {
	t.Helper()
	metrics := NewMetrics()
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"talker": talker(), "web": web(), "@acme/web": web()}, Observe: metrics.Observe})
	require.NoError(t, err)
	opts.Metrics = metrics
	return startFor(t, host, opts, g)
}

// startFor runs a server for a host.
func startFor(t testing.TB, host *actors.Host, opts Options, g Guard) *running {
	t.Helper()
	if opts.Plugins == nil {
		opts.Plugins = []string{"talker"}
	}
	opts.Start = func(ctx context.Context, plugin string) (actors.SessionInfo, error) {
		return host.Start(ctx, manifestFor(plugin), actors.StartOptions{})
	}
	opts.Reload = func(ctx context.Context, _, session string) (actors.SessionInfo, error) {
		return host.Reload(ctx, session, actors.StartOptions{})
	}
	r := &running{host: host, server: New(host, opts)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r.address = l.Addr().String()
	r.server.Serve(l, current(g))
	r.Client = NewClient(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", r.address)
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, host.Shutdown(ctx))
		require.NoError(t, r.server.Shutdown(ctx))
		http.DefaultClient.CloseIdleConnections()
	})
	_, err = host.Start(t.Context(), manifestFor("talker"), actors.StartOptions{})
	require.NoError(t, err)
	return r
}

// get asks as a stranger would, and returns the answer's body.
func (r *running) get(t *testing.T, path string, header ...string) (status int, body string) {
	t.Helper()
	return r.send(t, http.MethodGet, path, "", header...)
}

func (r *running) send(t *testing.T, method, path, body string, header ...string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.address+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	got, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return got.StatusCode, string(text)
}

// wantEventually waits until something is so.
func wantEventually(t testing.TB, is func() bool, what string) {
	t.Helper()
	require.Eventually(t, is, patience, time.Millisecond, what)
}
