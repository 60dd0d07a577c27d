package gateway

import (
	"maps"
	"slices"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/transport/websocket"
)

// Peer is a connection as it was at one moment.
type Peer struct {
	// ID is the peer's own, by which it is reached as "peer:ID".
	ID string `json:"id"`
	// Address is where it comes from.
	Address string `json:"address"`
	// Since is when it connected, Heard when it said something last.
	Since time.Time `json:"since"`
	Heard time.Time `json:"heard"`
	// Authenticated tells whether it may be listened to.
	Authenticated bool `json:"authenticated"`
	// Compatibility is what its request for versions has come to; nil without one.
	Compatibility *Compatibility `json:"compatibility,omitempty"`
	// Modules are those that it has announced.
	Modules []Module `json:"modules"`
	// QueuedRecords and QueuedBytes wait to be sent to it.
	QueuedRecords int `json:"queuedRecords"`
	QueuedBytes   int `json:"queuedBytes"`
	// Sent and Received count records, SentBytes and ReceivedBytes their bytes.
	Sent          uint64 `json:"sent"`
	SentBytes     uint64 `json:"sentBytes"`
	Received      uint64 `json:"received"`
	ReceivedBytes uint64 `json:"receivedBytes"`
	// Dropped counts what was not used of what it sent, and what was not sent to it, by kind.
	Dropped map[string]uint64 `json:"dropped,omitempty"`
}

// Module is a module of a peer's.
type Module struct {
	// Name is what it announced itself as.
	Name string `json:"name"`
	// Plugin is of its identity; Instance is, too, or what the host calls it that has none.
	Plugin   string `json:"plugin"`
	Instance string `json:"instance"`
	// Generation is which of AIRI's servers it was written for: "modules" or "extensions".
	Generation string `json:"generation"`
	// Session is the host's, "" where it has none; Phase is that one's, Reason says why
	// there is none, or why it is in that phase.
	Session string `json:"session,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Away tells that its connection is gone, and that it is waited for.
	Away bool `json:"away,omitempty"`
}

// Peers lists the connections, the oldest first, and then the modules that wait for theirs,
// each as a peer without an id.
func (g *Gateway) Peers() []Peer {
	sessions := map[string]actors.SessionInfo{}
	for _, one := range g.o.Host.Sessions() {
		sessions[one.ID] = one
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	peers := make([]Peer, 0, len(g.conns))
	for _, id := range slices.Sorted(maps.Keys(g.conns)) {
		peers = append(peers, g.conns[id].info(sessions))
	}
	for _, id := range slices.Sorted(maps.Keys(g.members)) {
		if m := g.members[id]; m.conn == nil {
			peers = append(peers, Peer{Modules: []Module{m.info(sessions)}})
		}
	}
	return peers
}

func (c *conn) info(sessions map[string]actors.SessionInfo) Peer {
	s := c.socket.Stats()
	p := Peer{
		ID: c.peer, Address: s.Remote, Since: s.Since, Heard: s.Heard, Authenticated: s.Authenticated, Modules: []Module{},
		Compatibility: compatibilityOf(c.compatibility),
		QueuedRecords: s.QueuedRecords, QueuedBytes: s.QueuedBytes,
		Sent: s.Sent, SentBytes: s.SentBytes, Received: s.Received, ReceivedBytes: s.ReceivedBytes,
		Dropped: maps.Clone(c.dropped),
	}
	for _, m := range c.members {
		p.Modules = append(p.Modules, m.info(sessions))
	}
	return p
}

func (m *member) info(sessions map[string]actors.SessionInfo) Module {
	out := Module{
		Name: m.module.Name, Plugin: m.module.Identity.Plugin, Instance: m.instance(),
		Generation: m.module.Generation.String(), Session: m.session, Reason: m.reason, Away: m.conn == nil,
	}
	if one, ok := sessions[m.session]; ok {
		out.Phase, out.Reason = string(one.Phase), one.Reason
	}
	return out
}

// Counts are the counters of a gateway.
type Counts struct {
	websocket.Counts
	// Modules are those that are announced, Away those of them whose peers are waited for.
	Modules, Away int
	// Dropped counts what was not used, or not sent, by kind, of all connections.
	Dropped map[string]uint64
}

// Counts returns the counters.
func (g *Gateway) Counts() Counts {
	n := Counts{Counts: g.sockets.Counts()}
	g.tally.count(&n)
	return n
}
