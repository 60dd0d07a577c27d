// Package gateway answers one question: how do AIRI's modules on websockets become sessions
// of the host?
//
// A [Gateway] is an http.Handler for the path at which AIRI's peers connect:
//
//	g := gateway.New(gateway.Options{Host: host, Verify: verify})
//	mux.Handle("/ws", g)
//	…
//	err := g.Shutdown(ctx)
//
// # Who lives here
//
//	websocket.Conn ─┐                        ┌─▶ websocket.Conn     what the server sends
//	websocket.Conn ─┼─▶ server.Server.Step ──┤
//	websocket.Conn ─┘   (one lock)           └─▶ member ─ link ─▶ a session of actors.Host
//
// All connections of a host meet in one server.Server, which says what AIRI's server runtime
// would say; its effects are carried out in order, under one lock, and none of them waits.
// What they write is written without the lock, for all records at once that a connection has
// read ahead.
// Each module that is announced is a member: a session of the host, served by the peer at the
// far end of its link. A link is a connection inside the process that speaks airi.Remote: frames
// of Eventa as they are, and notes about the module's life. It outlives the websocket, so
// that the session stays while its peer is away and when another connection takes its place.
//
// # Limits
//
// Those of connections are transport/websocket's, those of what the server keeps
// protocol/airi/server's, those of sessions the host's. A link holds [Options].LinkRecords
// and LinkBytes for its session; the connection whose module is behind is not read from
// meanwhile, and what others say about that module is dropped and counted.
package gateway
