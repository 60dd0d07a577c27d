package eliza

import (
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// Dialect is the dialect of elizaOS workers. The zero value speaks the wire; it signs
// nothing and allows everything.
type Dialect struct {
	// Plugin tells what a host has decided about the plugin that a driver is made for;
	// nil means nothing for all of them. It is called once a connection.
	Plugin func(protocol.Settings) Plugin
}

// Plugin is what a host has decided about one plugin.
type Plugin struct {
	// Granted are the permissions given, {host?, bun?, isolation?}; nil or one without an
	// entry allows everything. They gate what is called of the plugin, and what the
	// plugin calls of the runtime.
	Granted json.RawMessage
	// Key signs every call of the plugin; nil signs none. The worker has it from
	// elsewhere: it never crosses the wire.
	Key []byte
	// Denied is told what the grants did not allow, and which calls the worker refused
	// because of their signature; nil for nobody. It is called under the connection's lock,
	// so it must not block.
	Denied func(Denial)
	// Handles tells whether the host has a service for a method of the runtime. What it
	// has not is refused before any grant is looked at. Nil asks through Serve: then a
	// Reply with protocol.CodeNotFound is that answer, of a method that is none of Methods.
	Handles func(method string) bool
}

var (
	_ protocol.Dialect     = Dialect{}
	_ protocol.Initializer = Dialect{}
	_ protocol.Untelling   = Dialect{}
)

// Untold tells that the reference's workers do not say for whose sake they ask.
func (Dialect) Untold() {}

// Name is "eliza".
func (Dialect) Name() string { return "eliza" }

// Codec returns the codec, for either end. Its messages are [Announce], [InitComplete],
// [Init], [RPC], [HostRPC], [Result], [Callback], [Event], [StreamChunk], [StreamEnd],
// [Unreadable] and [Other].
func (Dialect) Codec() protocol.Codec { return codec{} }

// NewDriver returns the host's end of the connection to one worker.
func (d Dialect) NewDriver(s protocol.Settings) protocol.Driver { return newDriver(d, s) }

// Narrate returns nothing: a worker has no channel on which the moments of its life
// would be told.
func (Dialect) Narrate(protocol.Moment) []protocol.Event { return nil }

// Initialize returns {manifest, context: {config}}, which the worker is sent as init
// before anything else. Workers made by the reference's bootstrap pass over it.
func (Dialect) Initialize(b protocol.Birth) (json.RawMessage, error) {
	context := newObject().raw("config", or(b.Config.Full, json.RawMessage(`{}`))).done()
	return newObject().raw("manifest", or(b.Manifest, isNull)).raw("context", context).done(), nil
}
