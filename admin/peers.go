package admin

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/transport/websocket"
)

// PeerList has AIRI's peers on websockets, the oldest first, and behind them the modules
// that wait for theirs.
type PeerList struct {
	Peers []gateway.Peer `json:"peers"`
}

// Websockets are AIRI's peers, for Options.Websockets: a *gateway.Gateway is one. Its
// methods may be called from any goroutine.
type Websockets interface {
	// Handler makes a request a peer, or says why not.
	http.Handler
	// Peers lists them.
	Peers() []gateway.Peer
	// Counts are what is counted of them.
	Counts() gateway.Counts
}

var _ Websockets = (*gateway.Gateway)(nil)

func (s *Server) getPeers(w http.ResponseWriter, _ *http.Request) error {
	if s.opts.Websockets == nil {
		return invalid("this host serves no websockets: it does not listen, or its settings have websocket.enabled: false")
	}
	return answer(w, http.StatusOK, PeerList{s.opts.Websockets.Peers()})
}

// Peers lists AIRI's peers on websockets, and the modules that wait for theirs.
func (c *Client) Peers(ctx context.Context) ([]gateway.Peer, error) {
	var list PeerList
	err := c.get(ctx, "/peers", &list)
	return list.Peers, err
}

var (
	descPeers        = describe("websocket_peers", "Connections of AIRI's peers: open ones, and those of them that are early, that is not authenticated.", "state")
	descPeersTaken   = describe("websocket_accepted_total", "Requests that became a websocket.")
	descPeersRefused = describe("websocket_refused_total", "Requests that did not become a websocket, by why.", "reason")
	descPeersEnded   = describe("websocket_ended_total", "Websockets that the host ended, by why.", "reason")
	descPeerModules  = describe("websocket_modules", "Modules of AIRI's peers: announced ones, and those of them that are away, waiting for their connection.", "state")
	descPeersDropped = describe("websocket_dropped_total", "What was not used of AIRI's peers, or not sent to them, by kind.", "what")
)

var peerDescs = []*prometheus.Desc{descPeers, descPeersTaken, descPeersRefused, descPeersEnded, descPeerModules, descPeersDropped}

// refusals are why a request did not become a websocket.
var refusals = []websocket.Refusal{
	websocket.ForeignHost, websocket.ForeignPage, websocket.WrongToken, websocket.TooMany, websocket.TooManyOfAddress, websocket.TooManyEarly,
	websocket.NotUpgraded, websocket.WithBody, websocket.ShuttingDown,
}

func (s *Server) peerMetrics(put func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string)) {
	if s.opts.Websockets == nil {
		return
	}
	n := s.opts.Websockets.Counts()
	put(descPeers, prometheus.GaugeValue, float64(n.Open), "open")
	put(descPeers, prometheus.GaugeValue, float64(n.Early), "early")
	put(descPeersTaken, prometheus.CounterValue, float64(n.Accepted))
	for _, why := range refusals {
		put(descPeersRefused, prometheus.CounterValue, float64(n.Refused[why]), string(why))
	}
	for why, count := range map[string]uint64{"slow": n.Slow, "silent": n.Silent, "late": n.Late, "too long": n.TooLong, "invalid": n.Invalid} {
		put(descPeersEnded, prometheus.CounterValue, float64(count), why)
	}
	put(descPeerModules, prometheus.GaugeValue, float64(n.Modules), "announced")
	put(descPeerModules, prometheus.GaugeValue, float64(n.Away), "away")
	for what, count := range n.Dropped {
		put(descPeersDropped, prometheus.CounterValue, float64(count), what)
	}
}
