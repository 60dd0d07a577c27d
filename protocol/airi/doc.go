// Package airi is the dialect of AIRI modules that run behind the bridge: what
// their Eventa frames mean, and what the reference host says on a module's channel.
//
// AIRI's own host, the reference, imports a module and hands it an Eventa context;
// both emit events on it and invoke each other's handlers. Here the module sits in
// a Node.js process behind package bridge, and its context reaches over a pipe.
// [Dialect] has the three parts of a [protocol.Dialect]:
//
//	bytes ──codec──▶ Frame ──driver──▶ Serve, Emitted, Offered, Ran, Complete …
//	      ◀─codec── Frame ◀─driver── Invoke, Reply, Emit, Run …
//	a moment ──Narrate──▶ the events of a module's life
//
// # Frames
//
// The codec reads both outer forms that Eventa has had and writes the older:
//
//	{"id", "type": ID, "payload": {"id": ID, "type": "event", "_flowDirection", "invokeType"?, "body"}}
//	{"deliveryId", "hopsRemaining", "eventa": {"id": ID, "type": "event", "invokeType"?, "body"}}
//
// A peer needs to send no more of the older one than type and payload.body. Keys
// are exact, a key that stands twice in an envelope makes the record no frame, and
// the body is handed on as the bytes that came.
//
// A record that is no frame is dropped and counted. One that must be a mistake of
// framing, [Misframed] (text before or behind a frame, a Content-Length header), ends
// the connection with that reason, since frames would be lost in silence.
//
// # Invokes
//
// Eventa's calls are events by convention. For the tag T and an id I of the
// caller's choice:
//
//	T-send                   {invokeId: I, content?}           the call
//	T-receive-I              {invokeId: I, content?}           its result
//	T-receive-error-I        {invokeId: I, content: {error}}   its failure
//	T-send-abort             {invokeId: I, content?}           the caller gave up
//	T-send-stream-end, T-send-error, T-receive-stream-end-I    parts of streams
//
// The driver speaks them both ways: the host's calls of the module (Invoke), and
// the module's calls of anything it does not handle itself (Serve). The host's
// own ids are "airi-host-" and a number; the module's are echoed as they came,
// whatever their type. A handler answers after an abort, too, and two handlers of
// one tag answer both: what nobody waits for is counted under [DroppedLate]. A call
// that was cancelled is not completed, since its caller has left. Streams
// are refused: a call with a request stream fails at once, and so does one that
// ends as a stream of answers.
//
// What a handler answers is the result of its capability. One whose tag begins with
// "tool:" may answer with any value, as Eventa has it: text becomes {content}, what is
// no object otherwise {data}.
//
// An event that is named like a step but has no invokeId is an ordinary event.
//
// # Control events
//
// Ids that start with [ControlPrefix] are between the host and the bridge. The
// steps of a life (load, init, setup, stop) are calls of it; none takes parameters,
// and what Run gives is passed on. Its own events are
//
//	hello            {protocol, bridge, node}      first of all; another protocol than
//	                                               [BridgeProtocol] fails the connection
//	handler-defined  {tag}                         becomes an Offered
//	handler-removed  {tag}                         becomes a Retracted
//	crashed          {origin, name, message, at}   last of all; becomes a Fail
//
// Handlers of the host's own services and of anything below [ReservedPrefix] are no
// offers; a module has at most [MaxOffers]. In the other direction, an Emit that
// the far end would take for a control event or for a step of an invoke is not
// sent: events come from other plugins as well, and none may call by them.
//
// # Errors
//
// A failed step ends with a [*protocol.PeerError] that has the words of the module
// and its line ("main.mjs:12:5"). Where the module's words are none, they are the
// reference host's: init returned false, or something was thrown that is not an
// Error. Calls in flight when the connection ends have [protocol.CodeOutcomeUnknown];
// a call above Settings.MaxPending, in either direction, fails at once with
// [protocol.CodeOverloaded].
package airi
