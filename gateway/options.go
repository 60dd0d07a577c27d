package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/server"
	"github.com/airi-host/airi-host/transport/websocket"
)

// Options are what a gateway is made with. Host is needed, all else has defaults.
type Options struct {
	// Host gets the sessions. It has to be shut down after the gateway.
	Host *actors.Host
	// Log is for what is no event of the host's; nil discards.
	Log *slog.Logger

	// Verify tells whether a token is one of the host's, and whose, in constant time; nil
	// knows the Token of Socket. Without either everybody is authenticated, and all are equal.
	Verify func(token string) (credential string, ok bool)
	// Socket bounds the connections, and says who may make one. Its Token is checked at the
	// upgrade; a peer that has shown it there has the credential that Verify has for it.
	Socket websocket.ServerOptions
	// Server bounds what is kept of peers, and says how they are served. Instance, Version,
	// Verify and Negotiate are the gateway's to fill where they are empty.
	Server server.Options
	// Collecting bounds what is collected of streams; nil means the defaults.
	Collecting func() airi.Collecting
	// Prepare says what the host lays down for a guest of a plugin's name: what it may call,
	// its limits, its configuration. Its error refuses the guest. nil lays down nothing.
	Prepare func(*actors.Guest) error

	// Keep is told what a module has been configured with by a Configurator, so that it is
	// kept: the one that holds at last, one at a time for each plugin. It may take a minute,
	// until ctx ends; an error is logged. nil keeps nothing.
	Keep func(ctx context.Context, plugin string, c protocol.Config) error

	// LinkRecords and LinkBytes bound what waits for one session: 1024 records, 8 MiB
	// beside one record.
	LinkRecords, LinkBytes int
}

const (
	defaultLinkRecords = 1024
	defaultLinkBytes   = 8 << 20
)

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.LinkRecords <= 0 {
		o.LinkRecords = defaultLinkRecords
	}
	if o.LinkBytes <= 0 {
		o.LinkBytes = defaultLinkBytes
	}
	o.guard()
	if o.Server.Instance == "" && o.Host != nil {
		o.Server.Instance = o.Host.ID()
	}
	if o.Server.Negotiate == nil && o.Host != nil {
		o.Server.Negotiate = negotiate(o.Host)
	}
	return o
}

// guard sees to it that a token which only the connections know is no open door.
func (o *Options) guard() {
	o.Socket.PassControl = true // the texts "ping" and "pong" are signs of life to the server
	if o.Server.Verify == nil {
		o.Server.Verify = o.Verify
	}
	if socket := o.Socket; o.Server.Verify == nil && (socket.Token != "" || socket.Access != nil) {
		o.Server.Verify = func(given string) (string, bool) { return "", same(given, socket.Now().Token) }
	}
}

// same compares tokens in constant time.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// queueBytes is how much may wait for a websocket.
func (o Options) queueBytes() int {
	if o.Socket.QueueBytes > 0 {
		return o.Socket.QueueBytes
	}
	return websocket.DefaultQueueBytes
}

// maxRecord is the longest frame of a websocket, in bytes.
func (o Options) maxRecord() int {
	if o.Socket.MaxRecord > 0 {
		return o.Socket.MaxRecord
	}
	return websocket.DefaultMaxRecord
}
