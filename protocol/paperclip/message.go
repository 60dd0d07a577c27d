package paperclip

import "encoding/json"

// The messages of this wire. Ids and payloads are the bytes that came; nil stands
// for a member that is not there, which is not the same as null. All payloads of
// one message that was decoded share one copy of its record, so whoever keeps one
// of them keeps all; of a record with much that is no payload each has its own.

// Request asks for an answer.
type Request struct {
	// ID is of any JSON type but null. The peers count 1, 2, 3 …, each for itself.
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	// Invocation is the host's "paperclipInvocation", InvocationID the worker's
	// "paperclipInvocationId".
	Invocation, InvocationID json.RawMessage
}

// Notification asks for none.
type Notification struct {
	Method string
	Params json.RawMessage
	// Invocation and InvocationID are as in a Request.
	Invocation, InvocationID json.RawMessage
}

// Response answers a request. It succeeded if there is a Result and no Error: with
// an Error of null it did neither.
type Response struct {
	ID            json.RawMessage
	Result, Error json.RawMessage
}

// Unreadable is a line that is no frame. A worker answers it with -32700 and a null
// id; to a host it is a line of a log, or the end of the connection.
type Unreadable struct {
	// Why is the SDK's own reason, e.g. "Message must be a JSON object".
	Why string
	// Text is the line, at most its first 4 KiB.
	Text string
	// Fault is what the line must be instead of stray text: a mistake in how
	// frames are written, such as text in front of one. "" for none.
	Fault string
}

// Unclassified is a frame that is neither request, notification nor response, such
// as a method with a null id. Both ends pass over it.
type Unclassified struct {
	// Text is the frame, at most its first 200 bytes.
	Text string
}
