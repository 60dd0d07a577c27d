package gateway

import (
	"encoding/json"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/server"
)

// Which versions a peer is spoken with, and what is said where there are none.

// negotiate settles versions as the host does with its own plugins.
func negotiate(h *actors.Host) func(server.Proposal) server.Agreement {
	return func(p server.Proposal) server.Agreement {
		got := h.Negotiate(protocol.VersionRequest{
			Protocol: p.Protocol, API: p.API, SupportedProtocol: p.SupportedProtocol, SupportedAPI: p.SupportedAPI,
		})
		return server.Agreement{Protocol: got.Protocol, API: got.API, Mode: got.Mode, Reason: got.Reason}
	}
}

// negotiated notes what a request for versions came to. All are told of a rejected one, by
// the modules that it has announced, else by the name that the peer gives itself; of one
// without either, when it announces a module.
func (g *Gateway) negotiated(e server.Negotiated) {
	c := g.conns[e.Conn]
	c.compatibility = &e
	if !isRejected(&e) {
		return
	}
	for _, m := range c.members {
		g.reject(m)
	}
	if e.Source == nil || len(c.members) > 0 {
		return
	}
	data := append([]byte(`{"identity":`), e.Source.Raw...)
	data = append(append(data, ','), incompatible(&e)[1:]...)
	g.also(server.Emit{Type: statusEvent, Data: data})
}

const statusEvent = "module:status"

// reject leaves a module without a session, and tells all why. What session it has was its
// former connection's, which spoke otherwise.
func (g *Gateway) reject(m *member) {
	e := m.conn.compatibility
	if m.link != nil {
		m.link.end(leaving(e.Agreement.Reason))
		g.part(m)
	}
	m.reason = e.Agreement.Reason
	g.also(server.Tell{Session: m.id, Type: statusEvent, Data: incompatible(e), Everyone: true})
}

func isRejected(e *server.Negotiated) bool {
	return e != nil && e.Agreement.Mode == lifecycle.ModeRejected
}

// incompatible is the status of a module whose versions the host does not speak.
func incompatible(e *server.Negotiated) json.RawMessage {
	p := e.Proposal
	data, _ := json.Marshal(map[string]any{ // of texts
		"phase": lifecycle.Failed, "reason": e.Agreement.Reason,
		"details": map[string]any{
			"compatibility": e.Agreement.Mode, "protocolVersion": p.Protocol, "apiVersion": p.API,
			"supportedProtocolVersions": append([]string{}, p.SupportedProtocol...),
			"supportedApiVersions":      append([]string{}, p.SupportedAPI...),
		},
	})
	return data
}

// Compatibility is what a peer's request for versions has come to.
type Compatibility struct {
	// Protocol and API are the versions that are spoken; of a request that was rejected,
	// those that were asked for.
	Protocol string `json:"protocol"`
	API      string `json:"api"`
	// Mode is "exact", "downgraded" or "rejected", Reason why it was rejected.
	Mode   string `json:"mode"`
	Reason string `json:"reason,omitempty"`
}

func compatibilityOf(e *server.Negotiated) *Compatibility {
	if e == nil {
		return nil
	}
	return &Compatibility{e.Agreement.Protocol, e.Agreement.API, e.Agreement.Mode, e.Agreement.Reason}
}
