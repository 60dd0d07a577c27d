package peers

import (
	"context"
	"encoding/json"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// gate is a host with the town's plugin in Go, and a gateway on loopback.
type gate struct {
	*town
	gateway *gateway.Gateway
	// address is where it listens, url where a peer connects.
	address, url string
}

func openGate(t *testing.T, o gateway.Options, more ...*plugin.Definition) *gate {
	t.Helper()
	here := &townsman{}
	programs, dirs := map[string]protocol.Program{}, []string{}
	for _, p := range append(more, here.plugin()) {
		programs[p.Name()] = p
		dirs = append(dirs, compiledIn(t, p.Name(), ``))
	}
	h, err := ecosystems.Open(dirs, ecosystems.Options{Host: actors.Options{Programs: programs}})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, h.Close(ctx))
	})
	for _, one := range h.StartAll(t.Context(), h.Found.Manifests, nil, nil) {
		require.NoError(t, one.Err)
	}
	return (&town{h, here}).opened(t, o)
}

// opened puts a gateway before a town, until the test's end.
func (h *town) opened(t *testing.T, o gateway.Options) *gate {
	t.Helper()
	o.Host = h.Host.Host
	g := &gate{town: h, gateway: gateway.New(o)}
	web := httptest.NewServer(g.gateway)
	g.address = web.Listener.Addr().String()
	g.url = "ws://" + g.address + "/ws"
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, g.gateway.Shutdown(ctx))
		web.Close()
	})
	return g
}

// wantPhase waits until a plugin's newest session is in a phase, and returns it.
func (g *gate) wantPhase(t *testing.T, plugin string, want lifecycle.State) (info actors.SessionInfo) {
	t.Helper()
	eventually(t, func() bool {
		is, err := g.Inspect(plugin)
		info = is.SessionInfo
		return err == nil && info.Phase == want
	}, &info)
	return info
}

// wantGone waits until a plugin has no session.
func (g *gate) wantGone(t *testing.T, plugin string) {
	t.Helper()
	eventually(t, func() bool {
		_, err := g.Inspect(plugin)
		return protocol.CodeOf(err) == protocol.CodeNotFound
	}, plugin)
}

// sessionsOf are those of a plugin, by instance.
func (g *gate) sessionsOf(plugin string) map[string]string {
	all := map[string]string{}
	for _, one := range g.Sessions() {
		if one.Plugin == plugin {
			all[one.Instance] = one.ID
		}
	}
	return all
}

// message is what a client was told.
type message struct {
	As   string          `json:"as"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// clients are AIRI's published clients, in one process.
type clients struct {
	t *testing.T
	*script
	// waiting is what was told and not asked for yet.
	waiting []message
}

func runClients(t *testing.T) *clients {
	t.Helper()
	const name = "clients.mjs"
	dir := written(t, map[string]string{name: readText(t, "testdata", "websocket", name)})
	return &clients{t: t, script: startScript(t, dir, []string{AIRISDK, EventaB14}, name)}
}

func (c *clients) order(as, order, what string) {
	c.t.Helper()
	line, err := json.Marshal(map[string]any{"as": as, "order": order, "what": json.RawMessage(what)})
	require.NoError(c.t, err)
	_, err = c.in.Write(append(line, '\n'))
	require.NoError(c.t, err)
}

// open makes a client that connects; its options are members of an object, beside name and url.
func (c *clients) open(as, url, options string) {
	c.t.Helper()
	if options != "" {
		options = "," + options
	}
	c.order(as, "open", `{"name":"`+as+`","url":"`+url+`"`+options+`}`)
}

// sends has a client send an event.
func (c *clients) sends(as, kind, data, route string) {
	c.t.Helper()
	if route != "" {
		route = `,"route":` + route
	}
	c.order(as, "send", `{"type":"`+kind+`","data":`+data+route+`}`)
}

// hears waits for the next that a client is told of some types, and passes over its others.
func (c *clients) hears(as string, types ...string) message {
	c.t.Helper()
	is := func(one message) bool { return one.As == as && slices.Contains(types, one.Type) }
	for !slices.ContainsFunc(c.waiting, is) {
		var one message
		require.NoError(c.t, json.Unmarshal([]byte(c.says(c.t)), &one))
		c.waiting = append(c.waiting, one)
	}
	at := slices.IndexFunc(c.waiting, is)
	found := c.waiting[at]
	others := slices.DeleteFunc(c.waiting[:at], func(one message) bool { return one.As == as })
	c.waiting = append(slices.Clone(others), c.waiting[at+1:]...)
	return found
}

func (c *clients) wantHears(as, kind, data string) {
	c.t.Helper()
	require.JSONEq(c.t, data, string(c.hears(as, kind).Data), "%s hears %s", as, kind)
}

// hearsOf waits until a client is told something that has a text in it.
func (c *clients) hearsOf(as, kind, part string) {
	c.t.Helper()
	for heard := ""; !strings.Contains(heard, part); {
		heard = string(c.hears(as, kind).Data)
	}
}

// joined waits until a client is listed.
func (c *clients) joined(as string) {
	c.t.Helper()
	c.hearsOf(as, "registry:modules:sync", `"name":"`+as+`"`)
}

// cable is TCP between clients and a gateway, that can be cut.
type cable struct {
	to, url string
	net.Listener
	mu    sync.Mutex
	isCut bool
	ends  []net.Conn
	all   sync.WaitGroup
}

func layCable(t *testing.T, g *gate) *cable {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cable{to: g.address, url: "ws://" + l.Addr().String() + "/ws", Listener: l}
	c.all.Go(c.serve)
	t.Cleanup(func() {
		_ = l.Close()
		c.cut()
		c.all.Wait()
	})
	return c
}

func (c *cable) serve() {
	for {
		near, err := c.Accept()
		if err != nil {
			return
		}
		c.all.Go(func() { c.join(near) })
	}
}

// join carries bytes both ways until an end is closed.
func (c *cable) join(near net.Conn) {
	far, err := new(net.Dialer).DialContext(context.Background(), "tcp", c.to)
	if err != nil || !c.holds(near, far) {
		closeAll(near, far)
		return
	}
	var half sync.WaitGroup
	half.Go(func() { carry(far, near) })
	carry(near, far)
	half.Wait()
}

func carry(to, from net.Conn) {
	_, _ = to.(*net.TCPConn).ReadFrom(from)
	closeAll(to, from)
}

func closeAll(ends ...net.Conn) {
	for _, end := range ends {
		if end != nil {
			_ = end.Close()
		}
	}
}

// holds keeps the ends of what it carries; false while it is cut.
func (c *cable) holds(ends ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isCut {
		c.ends = append(c.ends, ends...)
	}
	return !c.isCut
}

// cut breaks all connections without a goodbye, and lets nobody connect.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = true
	for _, end := range c.ends {
		_ = end.(*net.TCPConn).SetLinger(0)
		_ = end.Close()
	}
	c.ends = nil
}

func (c *cable) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = false
}
