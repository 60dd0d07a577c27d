package paperclip

import (
	"crypto/rand"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// Dialect is the dialect of Paperclip workers. The zero value speaks the wire; it
// grants nothing, and no plugin has a company of its own.
type Dialect struct {
	// Plugin tells what a host has decided about the plugin that a driver is made
	// for; nil means nothing for all of them. It is called once a connection.
	Plugin func(protocol.Settings) Plugin
	// Shared is what the routes of a host's workers have in common; nil gives each worker
	// a ceiling of its own.
	Shared *Routes
	// NewID makes the ids that nobody else gives: of invocations, events, runs
	// and webhook requests. Nil makes random UUIDs, as the reference host does.
	NewID func() string
}

// Plugin is what a host has decided about one plugin.
type Plugin struct {
	// Grants are the permissions given, of those that the manifest asks for as
	// its "capabilities". A service whose grant is missing answers -32001.
	Grants []string
	// Company is the tenant of calls that name none. "" leaves them without, and
	// those that need one fail.
	Company string
	// Proactive tells whether the plugin may act for a company outside any
	// invocation, from a timer of its own for example; nil stands for none. It is
	// asked anew each time, so that the answer may change.
	Proactive func(company string) bool
	// Limits bound its routes.
	Limits Limits
	// Duplex is how its channels carry bytes.
	Duplex DuplexForm
	// ValidateConfig has a worker that can tell asked whether it takes the
	// configuration that it begins with; one that it refuses fails the setup step
	// with protocol.CodeConfiguration. The reference host asks when a configuration
	// is stored, and not when a worker begins. A configuration that changes is
	// always asked about first.
	ValidateConfig bool
	// Handles tells whether the host has a service for a worker's method. What it
	// has not is answered with -32601 before any grant is looked at. Nil asks
	// through Serve: then a Reply with protocol.CodeNotFound is that answer, and
	// grants are looked at first.
	Handles func(method string) bool
}

var (
	_ protocol.Dialect   = Dialect{}
	_ protocol.Untelling = Dialect{}
)

// Untold tells that a call for no company has no invocation, which a worker could name.
func (Dialect) Untold() {}

// Name is "paperclip".
func (Dialect) Name() string { return "paperclip" }

// Codec returns the codec of JSON-RPC frames, for either end. Its messages are
// [Request], [Notification], [Response], [Unreadable] and [Unclassified].
func (Dialect) Codec() protocol.Codec { return codec{} }

// NewDriver returns the host's end of the connection to one worker. What the
// worker reported as its supported methods can be asked of it: it has a method
// SupportedMethods() []string.
func (d Dialect) NewDriver(s protocol.Settings) protocol.Driver { return newDriver(d, s) }

// Narrate returns nothing: a Paperclip worker has no channel on which the moments
// of its life would be told.
func (Dialect) Narrate(protocol.Moment) []protocol.Event { return nil }

// newUUID makes a random UUID of version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
