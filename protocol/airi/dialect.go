package airi

import (
	"context"

	"github.com/airi-host/airi-host/protocol"
)

// Dialect is the dialect of AIRI modules that run behind the bridge. The zero
// value is ready for use.
type Dialect struct {
	// Providers lists the model providers that modules are told of; nil means
	// none. A host can be given another list later: see ProvidersService.
	Providers func(context.Context) ([]Provider, error)
	// Collecting bounds what is collected of streams at a connection that begins; nil means
	// the defaults.
	Collecting func() Collecting
}

var (
	_ protocol.Dialect   = Dialect{}
	_ protocol.Streaming = Dialect{}
)

// Name is "airi".
func (Dialect) Name() string { return "airi" }

// Streams says that Eventa knows request streams.
func (Dialect) Streams() {}

// Codec returns the codec of Eventa frames. Its messages are of type [Frame].
func (Dialect) Codec() protocol.Codec { return codec{} }

// NewDriver returns the host's end of one connection to one module.
func (d Dialect) NewDriver(s protocol.Settings) protocol.Driver {
	var c Collecting
	if d.Collecting != nil {
		c = d.Collecting()
	}
	return newDriver(s, c)
}

// Narrate returns what the reference host emits on a plugin's channel at a
// moment: the same events, in the same order, with the same members.
func (Dialect) Narrate(m protocol.Moment) []protocol.Event { return narrate(m) }
