// Package actors answers one question: how do plugins live side by side in one
// process without hurting it or each other?
//
// It is the heart of airi-host and the package to embed. A [Host] starts plugins
// from manifests, takes each through one lifecycle to ready, and makes what they
// offer callable:
//
//	host, err := actors.New(actors.Options{
//		Dialects: []protocol.Dialect{airi.Dialect{}},
//		Programs: map[string]protocol.Program{"greeter": greeter.Plugin()},
//		Launch:   actors.CommandLauncher(node.Command),
//	})
//	if err != nil {
//		return err
//	}
//	defer host.Shutdown(ctx)
//	found := manifest.Discover([]string{"plugins"}, manifest.Options{})
//	host.StartAll(ctx, found.Manifests, nil, nil)
//	result, err := host.Invoke(ctx, protocol.Call{Key: "tool:greet", Input: input})
//
// # Who lives here
//
//	host ─┬─ router                  hands events to subscribers
//	      ├─ registry                changes what is offered, tells who waits
//	      └─ supervisor ─ session    one a plugin; one a run of it
//	                        └─ link  a port (compiled in) or a peer (a connection)
//
// Each is an actor: one mailbox, handled by one goroutine at a time, which never
// blocks. What takes time runs elsewhere and comes back as a message with the
// generation that it belongs to; what belongs to an older one is ignored, so that
// nothing that was stopped comes back to life. A session's phases are the table
// lifecycle.Session: the table decides whether, the actor decides what to do.
//
// # What can be relied on
//
// All methods of [Host] may be called from any goroutine. An offer is in the
// registry's snapshot before anybody is told of it, and a session's offers are
// ready before the session says that it is. They are withdrawn before its end is
// told, and its callers are freed at once. A panic, a hang or a lie of one plugin ends that
// plugin's session with a reason that names it, and nothing else.
//
// A plugin that crashes is started again, as a new session with what it was started
// with and a new id, after a pause that doubles ([RestartPolicy]). Meanwhile its
// offers are degraded, not withdrawn, and calls of them say when the next try is.
//
// # Streams
//
// A call may have more than an input and a result: its Progress is given what its
// callee has so far, its Feed is a stream of inputs, its Idle bounds the time without
// progress.
//
//	result, err := host.Invoke(ctx, protocol.Call{
//		Key: "model:TEXT_SMALL", Input: prompt, Idle: 10 * time.Second,
//		Progress: func(word json.RawMessage) error { return show(word) },
//	})
//
// The items are given to Progress on the caller's own goroutine, in order, before
// Invoke returns. A handler that is compiled in waits until its item is taken. A peer
// does not: while its caller is busy its items wait, within Limits, and its other calls
// go on. An error of Progress is the answer to a handler's report; the call of a peer
// ends with it.
//
// # Routes
//
// A [Route] is a live stream of bytes: a pseudo-terminal ([Host.OpenPTY]) or a channel
// ([Host.OpenDuplex]) at a plugin whose wire has such things. It is read and written as any
// io.ReadWriteCloser, and over before its session is. [Host.Execute] runs a command and
// gives its log to a sink as it comes. What a plugin puts on streams of its own is told as
// [Streamed].
//
// # Events
//
// Each subscriber hears what one emitter publishes in the order in which it was
// published, each event at most once, and never again after a crash. A compiled-in
// handler is at one event at a time; a peer is told the next while it is still at the
// one before. Who publishes waits until all have heard, for the event's time at most
// (its Deadline, or Timeouts.Call of the slowest); one that has no room for it is not
// waited for. What a handler publishes that it hears itself comes behind, and is not
// waited for either.
//
// # Configurations
//
// A session is started with one, held to the manifest's JSON Schemas; then the plugin is
// asked about it, where its wire has a word for that. Package configuration below this one
// changes it while the plugin runs, in steps of which [ConfigurationStatus] tells. A plugin
// may ask to be configured or prepared anew itself (protocol.Heeding).
//
// # Limits
//
// Every wait has a limit ([Timeouts]) and every queue a bound ([Limits]); the zero
// value of each is its default and there is no "unlimited". What is dropped is
// counted and shown ([Dropped], [SessionInfo]).
package actors
