// Package airi is the dialect of AIRI modules: what their Eventa frames mean, and what the
// reference host says on a module's channel. [Dialect] is for those that run behind the
// bridge, [Remote] for those on a websocket.
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
//	T-send                     {invokeId: I, content?}             the call
//	T-receive-I                {invokeId: I, content?}             its result
//	T-receive-error-I          {invokeId: I, content: {error}}     its failure
//	T-send-abort               {invokeId: I, content?}             the caller gave up
//	T-send                     {…, content?, isReqStream: true}    an item of a request stream
//	T-send-stream-end          {invokeId: I}                       its end
//	T-send-error               {invokeId: I, content: error}       its failure
//	T-receive-I                {invokeId: I, content?}             an item of a response stream
//	T-receive-stream-end-I     {invokeId: I}                       its end
//
// The driver speaks them both ways: the host's calls of the module (Invoke), and
// the module's calls of anything it does not handle itself (Serve). The host's
// own ids are "airi-host-" and a number; the module's are echoed as they came,
// whatever their type. A handler answers after an abort, too, and two handlers of
// one tag answer both: what nobody waits for is counted under [DroppedLate]. A call
// that was cancelled is not completed, since its caller has left.
//
// What a handler answers is the result of its capability. One whose tag begins with
// "tool:" may answer with any value, as Eventa has it: text becomes {content}, what is
// no object otherwise {data}.
//
// An event that is named like a step but has no invokeId is an ordinary event.
//
// # Streams
//
// A result and an item of a stream have one name; a result has the invokeType 4, an
// item none. The bridge sees to it where a handler is written by hand.
//
// The items of a call that is followed are Progress effects, and its result is null
// when the stream has ended. Where nobody follows, the driver collects them into a
// JSON array, [MaxCollected] items or [MaxCollectedBytes]; one more fails the call with
// [protocol.CodeOverloaded] and is told to the module as an abort. A handler that
// answers with one value gives a followed call that result and no item.
//
// On the wire a call that waits for one value looks like one that takes a stream. The
// bridge, which sees what the caller listens to, marks the first frame of each call of
// the module's ([Frame].Opens), and Serve.Follows is set for a stream only: a caller
// that waits for one value would take an item for it. Such a call is answered with the
// reports as items, then with the result as the last one, unless that is null, then
// with the end. A part of a request stream that neither bears the mark nor belongs to
// a call in flight is late, and is dropped.
//
// A request stream of the host's is opened by its first item, or its end. Until then the
// module has not heard of the call, and hears nothing of it if it is cancelled.
//
// An Eventa function that is an argument ({"__eventaInvoke": {"tag"}}) passes as the
// object that it is; a call of it by another module is refused.
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
// # Remote modules
//
// A module on a websocket has a link to the host, whose other end is with the websocket. A
// record of it is a frame of Eventa's, as it is on the websocket, or a [Note] of what the
// module says there besides: its announcement, the events of its life, what it says to
// others, and that its connection is lost or replaced. Back go what it and others are told.
//
//	{…                              a frame, in either outer form
//	VERB[ REST]\n[JSON]             a note; see [NoteAnnounced] and those behind it
//
// Frames are sent in the form of the peer's last one, and before it has sent any with the
// members of both forms: each reader takes its own. The ids of the host's calls have the
// session in them, since modules share a websocket: [RemoteTarget] says whose an answer is.
//
// Nobody marks what opens a call, nor what its caller listens to. Any part of a request
// stream opens one, unless it belongs to a call that was over before its stream was. An
// answer is a result and the end of a stream, so that callers of both sorts end. The items
// of a stream are passed on for keys that have none of the host's kinds; a stream without
// items ends with the item null. In the other direction a result is told from an item by
// its invokeType, as Eventa's own handlers set it. What a module calls of its own offers it
// has handled when it sends it: that is counted ([DroppedOwn]), and not done twice.
//
// The steps of a life are what the module says of itself. One that does not negotiate has
// passed through all of them when it is announced; another one is through init when it
// says module:prepared, and through setup when its module:status is ready, or, behind a
// configuration that the host gave, when it says module:configuration:configured. What it
// says early counts, until it goes back to announced. module:configuration:needed ends a
// setup, and sends the session to ask for a configuration; what comes before the setup
// waits for it. A module that says later that it is degraded or has failed is Absent until
// it says that it is ready.
//
// The events that an announcement lists are offers twice: E is invoked by Eventa, event:E
// is an event of others that is delivered. A capability that the module contributes is an
// offer while it is active. All of them are within [MaxOffers].
//
// While a module is away its calls fail at once with [protocol.CodeNotReady], and what was
// in flight, both ways, has [protocol.CodeOutcomeUnknown]; so it has when another connection
// takes its place. The configuration that the host gave is given again to who comes back.
//
// # Errors
//
// A failed step ends with a [*protocol.PeerError] that has the words of the module
// and its line ("main.mjs:12:5"). Where the module's words are none, they are the
// reference host's: init returned false, or something was thrown that is not an
// Error. Calls in flight when the connection ends have [protocol.CodeOutcomeUnknown];
// a call above Settings.MaxPending, in either direction, fails at once with
// [protocol.CodeOverloaded]; a call with a stream counts as one. So does a call of the
// module where all of its calls would carry more than [protocol.MaxAsked] bytes.
//
// An error that is thrown in a module arrives as a [*protocol.PeerError] with its name,
// message, code and data, and goes to a module as {name, message, code, data}. Data is
// the error's member data, else an object of what was added to it. A text that is
// thrown is the message; of a plain object, message, name, code and data are taken in
// the same way; anything else is the data.
package airi
