// Package paperclip is the dialect of Paperclip workers: what the JSON-RPC frames
// on a worker's standard input and output mean, for both ends.
//
// Paperclip's own host, the reference, starts a plugin as a child process and
// speaks JSON-RPC 2.0 with it, one JSON object a line; both call each other.
// [Dialect] is that host's end, [Worker] the end of the plugin:
//
//	bytes ──codec──▶ Request, Notification, Response ──driver──▶ Serve, Logged, Ran, Complete …
//	      ◀─codec──                                  ◀─driver── Invoke, Reply, Run …
//
// # Frames
//
// The codec reads an envelope once and hands its parts on as the bytes that came:
// ids of any type, numbers beyond a double, lone surrogates, any depth. Keys are
// exact, and one that stands twice makes the line no frame. What is no frame is a
// message too, [Unreadable]: a worker answers it with -32700, and a host takes it
// for what the plugin prints, a line of its log. Only what must be a mistake of
// framing (text glued to a frame, a Content-Length header) ends the connection.
//
// # Calls of a worker
//
// A worker passes through two steps: [protocol.StepSetup] is the method initialize,
// with the parameters that [Dialect.Initialize] makes, and [protocol.StepStop] is
// shutdown. A second setup step is a changed configuration: validateConfig, if the
// worker has it, then configChanged. The kinds of capabilities become methods:
//
//	tool:NAME                executeTool       input: its parameters; needs a company
//	action:KEY               performAction     {params?}
//	data:KEY                 getData           its params
//	job:KEY                  runJob            {trigger?}
//	webhook:KEY              handleWebhook     {headers?, rawBody?, parsedBody?, requestId?}
//	http:METHOD /path        handleApiRequest  {params?, query?, headers?, body?}; needs a company
//	event:NAME               onEvent           the payload; a notification, over at once
//	environment:DRIVER.hook  environmentHook   its params; needs a company, but for validateConfig
//	paperclip:METHOD         the method        its params, as they are; for the host alone
//
// The company is the call's scope, else [Plugin].Company; ids that the wire demands
// and nobody has are "airi-host". Ids of calls are 1, 2, 3 …; an answer under an id
// of another type fails its call at once. The wire has no word for a cancelled
// call, so the worker is not told, and its answer is counted under [DroppedLate].
//
// # Invocations and the gate
//
// A call for a company carries an invocation, and the worker gives its id back with
// whatever it asks meanwhile, so that the host knows for whom it asks. It lives
// until the call is over, that of an event for [EventInvocationTime]. Outside any,
// a worker acts for a company only where [Plugin].Proactive lets it.
//
// A worker's request becomes a Serve of its method, once it has passed the gate:
//
//	is there a service for it?       else -32601
//	is its grant given?              else -32001
//	is its company the one in scope? else -32005
//
// # Limits
//
// Settings.MaxPending calls may be in flight in each direction: the next one of the
// host fails with [protocol.CodeOverloaded], the next one of the worker is answered
// with -32000, and so is one beyond [MaxAsked] bytes. There are at most [MaxEventInvocations] invocations of events, and
// of a log line [MaxLog] bytes are shown. Of lines that are no frames the log shows
// four at once and another one every two seconds; all are counted. The length of a line is its transport's.
//
// # Live streams
//
// What environmentExecute logs while it runs is progress of the call, for a caller who
// follows it: {"stream", "chunk"} (protocol.LogChunk), before the answer. It is spare, as
// the answer has all of it. While commands of two companies run, none of it is passed on.
//
// Pseudo-terminals for a login and channels of bytes are routes (protocol.RouteID):
//
//	OpenRoute ──▶ loginPtyOpen     {hostRouteId, …}    RouteOpened ◀── {workerSessionId}
//	Chunk     ◀── loginPty.output  {hostRouteId, workerSessionId, chunk}
//	WriteRoute ─▶ loginPtyInput    {workerSessionId, data}, answered: RouteWritten
//	CloseRoute ─▶ loginPtyClose    {hostRouteId}, confirmed: RouteClosed
//
// and so setupTokenPty, of older workers, and duplexChannel. [Dialect.Routes] has what is
// to be given. What comes before the answer to an open is held, and passed on behind it. A
// worker that does not confirm a close, or speaks for a channel that is not its own, is
// retired (protocol.Retire). All workers of a host share a ceiling, [Routes]; each route
// has [Limits].
//
// An event stream (streams.open, emit, close) is protocol.Streamed, for the company that
// its invocation has. What is open at the end of a worker is closed for it.
package paperclip
