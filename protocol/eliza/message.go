package eliza

import "encoding/json"

// The messages of this wire. Ids and payloads are the bytes that came; nil stands for a
// member that is not there, which is not the same as null. Those of one message that was
// decoded share one copy of its record if that is short, and have memory of their own else.

// Announce is what a worker has: all of it, or what its init has added.
type Announce struct {
	// Dynamic tells that Descriptor has the additions only.
	Dynamic    bool
	Descriptor json.RawMessage
}

// InitComplete tells that the worker's init is over, and went well.
type InitComplete struct{}

// Init is what the desktop's host tells a worker first: {manifest, context}. Workers
// that are made by bootstrap pass over it.
type Init struct {
	Manifest, Context json.RawMessage
}

// RPC calls one of the worker's handlers. A [*RPC] is written as well: a driver sends its
// own, and writes it over for the next call.
type RPC struct {
	// RequestID is of any JSON type, also absent; the answer has it as it came.
	RequestID json.RawMessage
	// Surface and Target are strings, from an honest host.
	Surface, Target json.RawMessage
	Args            json.RawMessage
	// StreamReply tells that the caller takes chunks.
	StreamReply bool
	// MAC is the signature: see [Sign].
	MAC json.RawMessage
	// words are Surface and Target as members of a frame, where a driver has them; its
	// RequestID is a number.
	words []byte
	// isLine tells that Args were read already: JSON, in UTF-8, on one line.
	isLine bool
}

// HostRPC calls a method of the runtime that the host gives to the worker.
type HostRPC struct {
	RequestID json.RawMessage
	// API is "runtime"; no host looks at it.
	API json.RawMessage
	// Method is a string, from an honest worker.
	Method      json.RawMessage
	Args        json.RawMessage
	StreamReply bool
	// Within is the RequestID of the RPC for whose sake the worker asks, null for none of
	// them. The reference has no such member: nil where the worker does not tell.
	Within json.RawMessage
}

// Result answers an [RPC] or, from the host, a [HostRPC].
type Result struct {
	FromHost  bool
	RequestID json.RawMessage
	// OK is true or false, Payload the result, and Error an object with name, message,
	// stack?, cause? and code?.
	OK, Payload, Error json.RawMessage
	// StreamID names the stream that the answer comes in; see [StreamChunk].
	StreamID json.RawMessage
}

// Callback is what an action says while it runs.
type Callback struct {
	ID, Payload json.RawMessage
}

// Event is an event, in either direction.
type Event struct {
	Name, Payload json.RawMessage
}

// StreamChunk is one item of an answer that comes in parts. The reference has types
// for it and never sends it, so this is between both ends of ours: the caller sets
// streamReply, the answer is {ok: true, streamId}, chunks under that id follow, and
// then one [StreamEnd] with the value of the whole, or the error. Who does not stream
// answers as always.
type StreamChunk struct {
	StreamID, Chunk json.RawMessage
}

// StreamEnd ends a stream, and with it the call. From whoever takes the stream it says that
// no more is taken.
type StreamEnd struct {
	StreamID, Value, Error json.RawMessage
}

// Unreadable is a line that is no frame: stray text, or a mistake of framing.
type Unreadable struct {
	// Why says what is wrong with it as a frame.
	Why string
	// Text is the line, at most its first 4 KiB.
	Text string
	// Fault is what the line must be instead of stray text: a mistake in how frames
	// are written, such as text in front of one. "" for none.
	Fault string
}

// Other is a frame of a type that means nothing to either end here: those of the
// desktop's older channel (request, response, action, ready and so on), and any
// unknown one.
type Other struct {
	Type string
	// Text is the frame, at most its first 200 bytes.
	Text string
}
