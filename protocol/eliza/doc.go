// Package eliza is the dialect of elizaOS's remote plugins: what the typed messages on a
// worker's standard input and output mean, for both ends.
//
// elizaOS starts a plugin as a process of its own and speaks JSON with it, one object
// with a "type" a line; both call each other. [Dialect] is the host's end, [Worker] the
// end of the plugin:
//
//	bytes ──codec──▶ Announce, Result, HostRPC … ──driver──▶ Offered, Complete, Serve, Ran …
//	      ◀─codec──                               ◀─driver── Invoke, Reply, Run …
//
// # Frames
//
// The codec reads an envelope once and hands its parts on as the bytes that came: ids of
// any type, numbers beyond a double, lone surrogates, any depth. A key that stands twice
// makes the line no frame. What is no frame is a message too, [Unreadable]: a line of the
// plugin's log. Only what must be a mistake of framing (text glued to a frame, two values
// on a line, a Content-Length header) ends the connection.
//
// # A start
//
// [protocol.StepSetup] sends init, with the manifest and the configuration, for workers
// that read it, and waits for init-complete. Before that the worker announces what it
// has, and perhaps what its init has added; each becomes an Offered, and nothing is
// called before init-complete. A failed init ends the step with its own message and
// withdraws what was announced. So does a wrong announcement, or one that gives the id of
// one handler to another. The other steps mean nothing on this wire and are over at once,
// as is a changed configuration: a worker asks for its settings.
//
//	action:NAME              {params?, message?, state?, options?, responses?}   null, or {success, …}
//	action:NAME.validate     {message?, state?}                                  true or false
//	provider:NAME            {message?, state?}                                  an object
//	evaluator:NAME           {message?, state?}, and .validate as an action's    any
//	model:TYPE               the params                                          any
//	service:TYPE.method      the arguments; of methods that the plugin lists     any
//	event:NAME               the payload, to each of its handlers                null
//	http:METHOD /path        {params, query, headers, body}                      {status, headers, body}
//	eliza:SURFACE ID         the args, as they are; for the host alone           any
//
// An action gets a message with the text of params.text where the caller gives none, an
// empty state, and the params as its options. Who speaks, and in which room, is
// "airi-host" then. What an action says while it runs is a Progress; later it is counted
// under [DroppedCallback]. Handlers' ids are never taken apart.
//
// # Streams
//
// The reference has types for streams and never sends them. Here a caller who follows a
// model sets streamReply, and a worker may answer {ok: true, streamId}, then send
// [StreamChunk] frames under that id, and end with a [StreamEnd]; so may the host where a
// worker asks for a model in that way. Who does not know of it answers as always. Whoever
// takes a stream may leave it, by a StreamEnd of that id in the other direction: the sender
// gets a protocol.Abandon, and its call counts until it is over.
//
// # The runtime
//
// A worker's host-rpc becomes a Serve with the method as its key and the args as its
// input; [Methods] are those that plugins know. An actionCallback of an action that runs
// is none: it says what the action has to say, as its callback does. A method that the host has not is answered
// with an UnsupportedMethodError.
//
// # Signatures and grants
//
// With a [Plugin].Key every call is signed: see [Sign] and [Canonical]. A [Worker] with a
// key refuses what is not rightly signed, and what it had before: a host numbers its
// calls upwards, so a window of [DefaultReplayWindow] numbers tells. The window is empty
// again in a new process, and so are a host's numbers: a key should be made for one.
//
// [Grants] say which surfaces of a plugin may be called, and which methods of the runtime
// it may call; each denial is told to [Plugin].Denied. The init tells them to the worker, as
// the reference's does (grantedPermissions of its context), and a [Worker] keeps to them, too.
//
// # Failures
//
// A [RemoteError] is what the other end reported: it prints one line, keeps the remote
// stack with a line that names the boundary, and unwraps to the message, name and code
// and to its cause. Error texts of the host's own are those of package protocol; on the
// wire their codes are those of [protocol.Code].
//
// # Limits
//
// Settings.MaxPending calls may be in flight in each direction: the next one of the host
// fails with [protocol.CodeOverloaded], the next one of the worker is answered so, and so
// is one beyond [MaxAsked] bytes. A worker may announce [MaxHandlers] handlers, in
// [MaxAnnounced] bytes, over its whole life. Of args that are signed 1000 levels may nest,
// and of a failure eight causes are looked at. Of lines that are no frames the log shows
// [protocol.StrayBurst] at once and another one every [protocol.StrayPause]; all are
// counted. The length of a line is its transport's.
//
// But for streams the wire has no word for a call that is given up, so the worker is not
// told, and its answer is counted under [DroppedLate].
package eliza
