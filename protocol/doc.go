// Package protocol answers one question: in which words do a host and a plugin
// speak, whatever wire lies between them?
//
// It holds the host's own message model and the contract that every ecosystem's
// dialect keeps. It knows no ecosystem, starts no goroutine, reads no clock and
// does no I/O, so that everything in it can be tested as a table.
//
// # Two parts of a dialect
//
// A [Dialect] comes in two parts. Its [Codec] is stateless: a record of bytes in,
// wire messages out, and back. Its [Driver] is a state machine for one connection:
// what happened goes in as an [Input], what has to be done comes out, in order, as
// a list of [Effect]:
//
//	bytes ──Codec.Decode──▶ Received ─┐                 ┌─▶ Send ──Codec.Encode──▶ bytes
//	a hook to run     ──▶ Run        ─┤                 ├─▶ Complete   (a caller gets its answer)
//	a call to make    ──▶ Invoke     ─┼─▶ Driver.Step ──┼─▶ Serve      (the peer calls the host)
//	a host's answer   ──▶ Reply      ─┤                 ├─▶ Ran, Offered, Retracted (facts)
//	an item, a report ──▶ Feed, …    ─┤                 ├─▶ Progress, Fed (what streams)
//	a route's bytes   ──▶ WriteRoute ─┤                 ├─▶ Chunk, RouteOpened … (see RouteID)
//	the end           ──▶ Closed     ─┘                 └─▶ Dropped, Fail, SetTimer, …
//
// A plugin compiled into the host needs neither: it is a [Program], and a [Port]
// exchanges the same words with it by direct calls.
//
// # What crosses
//
// Whatever crosses a session's boundary is JSON. Payloads stay raw
// ([encoding/json.RawMessage]) and are owned by whoever receives them: nobody
// writes into a payload after handing it on.
//
// What goes in and comes out of a capability is fixed by its kind: [ActionInput],
// [ToolResult] and the others are the Go types, [InputOf] and [ResultOf] hold a value to
// them, and [KindsSchema] has them as JSON Schemas.
//
// # Errors
//
// A failure of the host's own making is an [*Error] with a [Code] to branch on; a
// failure that the plugin reported is a [*PeerError] and keeps the plugin's words.
package protocol
