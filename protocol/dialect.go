package protocol

import (
	"context"
	"encoding/json"
	"time"
)

// Dialect is what the frames of one ecosystem mean. Implementations are values
// without state and may be used by any number of goroutines.
type Dialect interface {
	// Name is the dialect's name as it stands in manifests, logs and errors:
	// "airi", "paperclip", "eliza".
	Name() string

	// Codec returns the stateless half. It may be used concurrently.
	Codec() Codec

	// NewDriver returns the state machine of the host's end of one connection.
	// A driver is not safe for concurrent use: whoever owns the connection runs
	// it under one lock.
	NewDriver(Settings) Driver

	// Narrate returns the events that this ecosystem's host puts on a plugin's
	// own channel at a moment of its session, in order; nil where the ecosystem
	// has no such channel. It must not keep or change the moment.
	Narrate(Moment) []Event
}

// Codec turns records into wire messages and back.
type Codec interface {
	// Decode reads one record (one line, one text frame, without its line end).
	// The messages keep no reference to record. An error means that the record
	// is no frame of this dialect; the connection may go on.
	Decode(record []byte) ([]Message, error)

	// Encode appends the record for m to dst, without a line end. It fails on a
	// message that this dialect cannot write.
	Encode(dst []byte, m Message) ([]byte, error)
}

// Appender is a Codec that appends what it reads, so that no list has to be made for each
// record.
type Appender interface {
	Codec
	// AppendDecode is Decode, with dst in front.
	AppendDecode(dst []Message, record []byte) ([]Message, error)
}

// Message is one frame of a wire, in its own dialect's type.
type Message any

// Driver is the state machine of one end of one connection.
type Driver interface {
	// Step takes what happened and appends to out what has to be done, in order.
	// now is the time of the input; a driver reads no clock of its own.
	Step(now time.Time, in Input, out []Effect) []Effect
}

// Borrower is a Driver whose Step takes a *Invoke as well as an Invoke, and a *Received as
// well as a Received. What it points to is the driver's until the step is over and its
// effects are carried out; so no copy of each call and of each message has to be made on
// the heap. After a *Received it may answer with a *Complete, which whoever carries it out
// empties: it is the driver's again at the next step.
type Borrower interface {
	Driver
	// Borrows does nothing; to have it is the promise.
	Borrows()
}

// Settings are what a driver is born with. The zero value works.
type Settings struct {
	// Plugin and Session name the far end in errors.
	Plugin, Session string

	// MaxPending is how many calls may be in flight in each direction; the next
	// one fails with CodeOverloaded. Zero means DefaultMaxPending.
	MaxPending int
}

// DefaultMaxPending is how many calls may be in flight in one direction of one
// connection when Settings say nothing.
const DefaultMaxPending = 4096

// Pending returns the limit in force.
func (s Settings) Pending() int {
	if s.MaxPending <= 0 {
		return DefaultMaxPending
	}
	return s.MaxPending
}

// Serving is a Dialect that brings host services of its own: what its ecosystem's
// modules expect to be able to call.
type Serving interface {
	// Services returns the services, working on the host's registry.
	Services(Registry) []ServiceOffer
}

// Streaming is a Dialect whose wire knows request streams. The host refuses a call with
// a Feed for any other.
type Streaming interface {
	// Streams does nothing; to have it is the promise.
	Streams()
}

// Untelling is a Dialect whose wire may not tell for the sake of which of the host's calls
// the plugin makes one of its own: see [CauseUntold].
type Untelling interface {
	// Untold does nothing; to have it is the confession.
	Untold()
}

// Finishing is a Dialect whose plugins end steps by an event of theirs, which whoever is late
// is told.
type Finishing interface {
	// Finishes names that event, e.g. "module:prepared"; "" where there is none.
	Finishes(Step) string
}

// ServiceOffer is one service that a dialect brings.
type ServiceOffer struct {
	Key     string
	Service Service
	// Listed tells that the key is announced as a ready capability of the host,
	// with the metadata.
	Listed   bool
	Metadata json.RawMessage
}

// Registry is what a dialect's services may ask of the host's capabilities.
type Registry interface {
	// WaitCapability returns the capability's descriptor as JSON once it is
	// ready. A timeout of 0 or less means the host's default.
	WaitCapability(ctx context.Context, key string, timeout time.Duration) (json.RawMessage, error)
	// CapabilitySnapshot returns all descriptors as a JSON array.
	CapabilitySnapshot() (json.RawMessage, error)
}
