package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/gateway"
	"github.com/airi-host/airi-host/transport/websocket"
)

// AIRI's peers connect where the host listens for HTTP, and go by what the guard there says
// at the moment: a token, web pages and names may change.

// openGateway lets peers come, where the host listens and the settings do not say otherwise.
func (f *front) openGateway(c *cli, h *house, configs *configuration.Configurator) *gateway.Gateway {
	if f.http == nil || c.settings.Websocket.Disabled {
		return nil
	}
	o := c.settings.gateway()
	o.Host, o.Log, o.Verify, o.Prepare = h.Host, h.log, f.verify, h.prepare
	o.Keep = h.keeps(configs)
	o.Socket.Access = f.access
	o.Server.Version = version()
	return gateway.New(o)
}

// access is who may make a connection.
func (f *front) access() websocket.Access {
	g := f.guards.Load()
	return websocket.Access{Token: g.Token, Origins: g.Origins, Hosts: g.Hosts}
}

// credential is that of all who have shown the host's token, or need none: each of them may
// come in the place of another.
const credential = "host"

// verify compares tokens in a time that says nothing of them. Where none is configured
// every one will do.
func (f *front) verify(token string) (string, bool) {
	want := f.guards.Load().Token
	given, right := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(want))
	return credential, want == "" || subtle.ConstantTimeCompare(given[:], right[:]) == 1
}

// closeGateway ends all peers, and with them their modules' sessions.
func (h *house) closeGateway(ctx context.Context) error {
	if h.gateway == nil {
		return nil
	}
	if err := h.gateway.Shutdown(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil // whoever waits tells of what did not end in time
}
