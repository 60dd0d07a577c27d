package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/websocket"
)

// startWithPeers runs a host that AIRI's peers can connect to.
func startWithPeers(t *testing.T, o gateway.Options, opts Options, g Guard) *running {
	t.Helper()
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"talker": talker()}})
	require.NoError(t, err)
	o.Host = host
	peers := gateway.New(o)
	opts.Websockets, opts.Metrics = peers, NewMetrics()
	r := startFor(t, host, opts, g)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, peers.Shutdown(ctx))
	})
	return r
}

// peer connects, and announces a module where it has a name.
func (r *running) peer(t *testing.T, plugin, instance string) *websocket.Conn {
	t.Helper()
	c, err := websocket.Dial(t.Context(), "ws://"+r.address+pathWebsocket, websocket.DialOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		<-c.Done()
	})
	go func() {
		for {
			if _, err := c.Recv(); err != nil {
				return
			}
		}
	}()
	if plugin != "" {
		require.NoError(t, c.Send(fmt.Appendf(nil,
			`{"type":"module:announce","data":{"name":%q,"possibleEvents":["say"],"identity":{"kind":"plugin","plugin":{"id":%q},"id":%q}}}`, plugin, plugin, instance)))
		wantEventually(t, func() bool {
			one, err := r.Inspect(t.Context(), plugin+"/"+instance)
			return err == nil && one.Phase == lifecycle.Ready
		}, plugin+"/"+instance+" is ready")
	}
	return c
}

// Who asks for a websocket at a wrong path is told the right one.
func TestPeers_areToldWhereTheyConnect(t *testing.T) {
	with := startWithPeers(t, gateway.Options{}, Options{}, Guard{Loopback: true})
	without := startGuarded(t, Options{}, Guard{Loopback: true})
	for _, c := range []struct {
		r          *running
		path, want string
	}{
		{with, "/", "GET /: there is no websocket; AIRI's peers connect at /ws"},
		{with, "/ws/", "GET /ws/: there is no websocket; AIRI's peers connect at /ws"},
		{without, "/ws", "GET /ws: there is no websocket; this host serves none of AIRI's peers (websocket.enabled)"},
	} {
		_, err := websocket.Dial(t.Context(), "ws://"+c.r.address+c.path, websocket.DialOptions{})
		var refused *websocket.RefusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, http.StatusNotFound, refused.Status)
		require.Contains(t, refused.Text, c.want)
	}
}

func TestPeers_areGuestsByTheirInstances(t *testing.T) {
	r := startWithPeers(t, gateway.Options{}, Options{}, Guard{Loopback: true})
	one := r.peer(t, "bot", "1")
	r.peer(t, "bot", "2")
	r.peer(t, "", "")

	list, err := r.Plugins(t.Context())
	require.NoError(t, err)
	var names []string
	for _, p := range list {
		names = append(names, fullName(p.SessionInfo))
	}
	require.Equal(t, []string{"talker", "bot/1", "bot/2"}, names)

	_, err = r.Inspect(t.Context(), "bot")
	require.Equal(t, protocol.CodeAmbiguous, protocol.CodeOf(err))
	require.ErrorContains(t, err, "there are 2 instances of plugin bot: name one: bot/1, bot/2")
	_, err = r.Inspect(t.Context(), "bot/3")
	require.ErrorContains(t, err, "no plugin and no session is called bot/3; there are: talker, bot/1, bot/2")
	detail, err := r.Inspect(t.Context(), "bot/2")
	require.NoError(t, err)
	require.Equal(t, "2", detail.Instance)
	byID, err := r.Inspect(t.Context(), detail.ID)
	require.NoError(t, err)
	require.Equal(t, detail.ID, byID.ID)

	for name, want := range map[string]int{"bot": 4, "bot/1": 2} {
		offers, err := r.Capabilities(t.Context(), name, "")
		require.NoError(t, err)
		require.Len(t, offers, want, name)
	}

	peers, err := r.Peers(t.Context())
	require.NoError(t, err)
	require.Len(t, peers, 3)
	require.Equal(t, "1", peers[0].Modules[0].Instance)
	require.Empty(t, peers[2].Modules)

	for _, order := range []string{Start, Reload, Enable, Disable} {
		_, err := r.Command(t.Context(), order, "bot/1")
		require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err), order)
		require.ErrorContains(t, err, "plugin bot/1 has come by itself, over a websocket: there is nothing to "+order+" here: it has to connect anew by itself; stop ends it")
	}
	after, err := r.Command(t.Context(), Stop, "bot/1")
	require.NoError(t, err)
	require.Equal(t, "1", after.Instance)
	require.Equal(t, lifecycle.Stopped, after.Phase)
	<-one.Done()
	alone, err := r.Inspect(t.Context(), "bot")
	require.NoError(t, err, "one instance is meant by its name")
	require.Equal(t, "2", alone.Instance)
}

// Nobody awaits a peer, and what it calls itself is no label.
func TestPeers_areNeitherAwaitedNorNamedInMetrics(t *testing.T) {
	r := startWithPeers(t, gateway.Options{}, Options{}, Guard{Loopback: true})
	c := r.peer(t, "bot", "1")
	require.NoError(t, c.Send([]byte(`{"type":"module:status:change","data":{"phase":"configuration-needed","identity":{"kind":"plugin","plugin":{"id":"bot"},"id":"1"}}}`)))
	wantEventually(t, func() bool {
		one, err := r.Inspect(t.Context(), "bot")
		return err == nil && one.Phase == lifecycle.ConfigurationNeeded
	}, "it needs its configuration")
	status, body := r.get(t, pathReady)
	require.Equal(t, http.StatusOK, status, body)

	_, shown := r.get(t, pathMetrics)
	for _, line := range []string{
		`airi_host_websocket_peers{state="open"} 1`, `airi_host_websocket_peers{state="early"} 0`, `airi_host_websocket_accepted_total 1`,
		`airi_host_websocket_refused_total{reason="token"} 0`, `airi_host_websocket_ended_total{reason="slow"} 0`,
		`airi_host_websocket_modules{state="announced"} 1`, `airi_host_websocket_modules{state="away"} 0`,
		`airi_host_sessions{phase="configuration-needed"} 1`, `airi_host_calls_in_flight{plugin="talker"} 0`,
	} {
		require.Contains(t, shown, line+"\n")
	}
	require.NotContains(t, shown, "bot")
}

func TestPeers_ofAHostThatServesNone(t *testing.T) {
	r := start(t, Options{})
	_, err := r.Peers(t.Context())
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
	require.ErrorContains(t, err, "this host serves no websockets: it does not listen, or its settings have websocket.enabled: false")
	status, _ := r.get(t, pathWebsocket)
	require.Equal(t, http.StatusNotFound, status)
}

// A peer holds no place of who asks the API, and needs no token for it to connect.
func TestWebsocket_makesRoomForOthers(t *testing.T) {
	r := startWithPeers(t, gateway.Options{Socket: websocket.ServerOptions{Token: "a token of the host"}, Verify: func(string) (string, bool) { return "", false }},
		Options{Limits: Limits{Connections: 2, Requests: 1}}, Guard{Loopback: true, Token: "a token of the host"})
	for range 5 {
		r.peer(t, "", "")
	}
	var list PeerList
	wantEventually(t, func() bool {
		status, body := r.get(t, pathAPI+"/peers", "Authorization", "Bearer a token of the host")
		return status == http.StatusOK && json.Unmarshal([]byte(body), &list) == nil && len(list.Peers) == 5
	}, "there are five peers")
	for _, one := range list.Peers {
		require.False(t, one.Authenticated)
	}
	require.Zero(t, r.server.pushed.Load())
	_, err := websocket.Dial(t.Context(), "ws://"+r.address+pathWebsocket, websocket.DialOptions{Token: "another"})
	require.ErrorContains(t, err, "401")
}

func TestWebsocket_isNotForTheControlSocket(t *testing.T) {
	r := startWithPeers(t, gateway.Options{}, Options{}, Guard{})
	_, err := websocket.Dial(t.Context(), "ws://"+r.address+pathWebsocket, websocket.DialOptions{})
	require.ErrorContains(t, err, "404")
}
