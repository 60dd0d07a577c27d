package ws_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/plugin/ws"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.(*Guardians).getGuardianPid"))
}

// patience bounds a wait for what is to happen.
const patience = 20 * time.Second

// rig is a host with a gateway, plugins that are compiled in, and a cable to it that can be cut.
type rig struct {
	*testing.T
	host    *actors.Host
	gateway *gateway.Gateway
	cable   *cable
	url     string
}

func start(t *testing.T, o gateway.Options, plugins ...*plugin.Definition) *rig {
	t.Helper()
	programs := map[string]protocol.Program{}
	for _, p := range plugins {
		programs[p.Name()] = p
	}
	host, err := actors.New(actors.Options{ID: "gate", Programs: programs, Dialects: []protocol.Dialect{airi.Dialect{}}})
	require.NoError(t, err)
	o.Host = host
	r := &rig{T: t, host: host, gateway: gateway.New(o)}
	web := httptest.NewServer(r.gateway)
	r.cable = lay(t, strings.TrimPrefix(web.URL, "http://"))
	r.url = "ws://" + r.cable.Addr().String() + "/ws"
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, r.gateway.Shutdown(ctx))
		require.NoError(t, host.Shutdown(ctx))
		web.Close()
	})
	for _, p := range plugins {
		builtin := "builtin:" + p.Name()
		_, err := host.Start(t.Context(), &manifest.Manifest{
			Dialect: manifest.DialectAIRI, Name: p.Name(), File: p.Name() + "/plugin.json", Entrypoints: manifest.Entrypoints{Go: &builtin},
		}, actors.StartOptions{})
		require.NoError(t, err)
	}
	return r
}

// serve serves a plugin until the test ends, or stop is called, which returns what Serve did.
func (r *rig) serve(d *plugin.Definition, o ws.Options) (stop func() error) {
	r.Helper()
	o.URL = r.url
	if o.Log == nil {
		o.Log = slog.NewTextHandler(r.Output(), nil)
	}
	if o.FirstPause == 0 {
		o.FirstPause = time.Millisecond
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	done := make(chan error, 1)
	go func() { done <- ws.Serve(ctx, d, o) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	r.Cleanup(func() { _ = stop() })
	return stop
}

// wantPhase waits until a plugin's newest session is in a phase, and returns it.
func (r *rig) wantPhase(plugin string, want lifecycle.State) (info actors.SessionInfo) {
	r.Helper()
	require.Eventually(r, func() bool {
		is, err := r.host.Inspect(plugin)
		info = is.SessionInfo
		return err == nil && info.Phase == want
	}, patience, time.Millisecond, "%s is not %s: %+v", plugin, want, &info)
	return info
}

func (r *rig) call(key, input string) (string, error) {
	result, err := r.host.Invoke(r.Context(), protocol.Call{Key: key, Input: json.RawMessage(input), Deadline: time.Now().Add(patience)})
	return string(result), err
}

// wantCall waits until a call answers so.
func (r *rig) wantCall(key, input, want string) {
	r.Helper()
	var got string
	var err error
	require.Eventually(r, func() bool {
		got, err = r.call(key, input)
		return err == nil && got == want
	}, patience, 5*time.Millisecond, "want %s", want)
}

// cable is a TCP listener that passes everything on to another address, until it is cut.
type cable struct {
	net.Listener
	to string

	mu   sync.Mutex
	down bool
	ends []net.Conn
}

func lay(t *testing.T, to string) *cable {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cable{Listener: l, to: to}
	var carrying sync.WaitGroup
	carrying.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			carrying.Go(func() { c.carry(from) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.cut()
		carrying.Wait()
	})
	return c
}

func (c *cable) carry(from net.Conn) {
	to, err := new(net.Dialer).Dial("tcp", c.to)
	if err != nil {
		_ = from.Close()
		return
	}
	c.mu.Lock()
	c.ends = append(c.ends, from, to)
	if c.down {
		_, _ = from.Close(), to.Close()
	}
	c.mu.Unlock()
	var both sync.WaitGroup
	pipe := func(dst, src net.Conn) {
		_, _ = io.Copy(dst, src)
		_, _ = dst.Close(), src.Close()
	}
	both.Go(func() { pipe(to, from) })
	both.Go(func() { pipe(from, to) })
	both.Wait()
}

// cut ends all connections, and those that are made until mend.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = true
	for _, end := range c.ends {
		_ = end.Close()
	}
	c.ends = nil
}

func (c *cable) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = false
}
