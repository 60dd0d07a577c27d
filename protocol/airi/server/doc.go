// Package server answers one question: what does AIRI's server runtime say to its peers
// on a websocket, and to whom?
//
// AIRI's remote modules (bots, bridges, games, stages) do not run behind a bridge: they
// connect to a server, authenticate, announce themselves, and send each other events. A
// [Server] is that server for all connections of one host, without any connection: it is
// told what happened, and returns what has to be done, in order.
//
//	a connection opened, ended ─┐                  ┌─▶ Send      one frame to connections
//	a frame arrived            ─┼──▶ Server.Step ──┼─▶ Close, SetTimer, StopTimer
//	a timer fired              ─┤                  ├─▶ Announced, Away, Gone, Life …  facts
//	the host says something    ─┘                  └─▶ Routed, Dropped               counts
//
// It starts no goroutine, reads no clock and does no I/O; it is not safe for use by several
// goroutines at once. A use:
//
//	s := server.New(server.Options{Verify: verify})
//	for _, e := range s.Step(now, server.Receive(7, record)) {
//		switch e := e.(type) {
//		case server.Send:
//			for _, c := range e.To {
//				queues[c].push(e.Frame)
//			}
//		case server.Announced:
//			…
//		}
//	}
//
// A connection that is too slow to take a frame is closed by whoever carries out the
// effects, and [Ended] is told; Send has no answer. Package gateway does so for a host.
//
// # Frames
//
// A frame is one event, as it is or in SuperJSON's wrapper:
//
//	{"type", "data": {…}, "metadata"?: {"source"?, "event": {"id", "parentId"?}}, "route"?: {…}}
//	{"json": EVENT, "meta"?: {"values"?, "referentialEqualities"?, "v": 1}}
//
// [Decode] reads both. What is passed on keeps the bytes that came; a plain event is put
// into a wrapper, since published clients read nothing else. What the server acts on
// itself is read by package superjson, without what annotations call undefined. A path of
// meta that leads through __proto__, constructor or prototype makes the frame none. The texts "ping" and "pong"
// are signs of life and no more. A frame of Eventa's adapter becomes an [EventaFrame].
//
// No frame of any shape ends a connection, let alone the process: its sender is told what
// is wrong, in the reference server's words.
//
// # Two generations
//
// One server serves the peers of both: who sends module:announce is served as by AIRI
// 0.10.2, who sends extension:* or peer:* as by 0.11.3, and all are in one list. The
// published client, whose identity no server of either release takes, is taken. What is
// different from those servers stands in docs/differences.md, and a test compares.
//
// # Who may what
//
// Without tokens everybody is authenticated when the connection opens. With them, nothing
// is acted on before one of module:authenticate, peer:authenticate and
// extension:authenticate brings a token; heartbeats are answered, everything else is
// refused. Whoever has not authenticated in time is closed.
//
// # Sessions
//
// A connection is a peer; each module that it announces is a [Session]. An identity (a
// plugin's id, and the instance's) has one session: announced by another connection with
// the same credential, it moves there ([Swapped]), and what the old one still says or how
// it ends changes nothing. A session whose connection ends is [Away] for the grace time,
// and [Gone] if nobody comes back as it. Without an instance's id nobody can.
//
// A module that asked for compatibility on its connection goes on to say when it is
// prepared, configured and ready, in [Life] facts; one that did not is ready when it is
// announced. Configurators are peers like others: their requests about a session are
// passed on and are Life facts that are not its Own.
//
// # Who gets what
//
// An event goes to all other authenticated peers, unless it says otherwise:
//
//	route.destinations, data.destinations   texts and expressions, any of which has to hold
//	route.delivery                          to one consumer: see below
//	route.bypass                            to all, from peers that are devtools
//
// A text is "*", "plugin:ID", "instance:ID", "label:KEY=VALUE", "peer:ID", "module:NAME",
// "source:NAME", or a glob over names and ids. An expression is one of {type: "glob", glob},
// ids, plugin, instance, label, module, source with their list and inverted, or and, or.
// With a [Policy], that decides in the place of destinations.
//
// Delivery of mode consumer or consumer-group goes to one of those who have registered by
// module:consumer:register: the first by priority, round-robin, or sticky by a key. That is
// what input:text, input:text:voice and input:voice do unless they say otherwise.
//
// # Lists of modules
//
// Whoever joins or announces is sent registry:modules:sync at once. The others get it when
// it changes, at most each [Options].SyncEvery: one that has not been sent is replaced by
// the newer one, and the last is never lost. Of a long list and many peers not more is sent
// at a time than 16 MB: they get it in turn.
//
// # Limits
//
// Everything that is kept has a limit in [Limits], and each has an answer there.
package server
