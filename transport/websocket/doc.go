// Package websocket answers one question: how do records travel over a websocket?
//
// A record is one message, of text where it is UTF-8 and binary where it is not; what
// comes may be either, and in fragments. Compression is not negotiated. [Server] accepts
// connections and is an http.Handler; [Dial] makes one:
//
//	server := websocket.NewServer(websocket.ServerOptions{Token: token}, func(c *websocket.Conn) {
//		for {
//			record, err := c.Recv()
//			if err != nil {
//				return // the connection is closed when this function returns
//			}
//			…
//		}
//	})
//	mux.Handle("/ws", server)
//	…
//	err := server.Shutdown(ctx)
//
// # Before a connection
//
// A web page cannot read what a foreign host answers, but it may open a websocket to any.
// So a request that comes from a web page is refused before the upgrade, unless its
// origin is this machine's loopback or is listed; so is one whose Host is a name that is
// not known here, as a page uses that has let its own name point to 127.0.0.1. Connections
// are counted, all together, those of one address, and those that have not been
// authenticated; the one too many is refused. Whoever accepts calls [Conn.Authenticated]
// in time; until then records are limited to a fraction.
//
// # While it lasts
//
// A [Conn] keeps the contract of [transport.Conn]. A sender never waits: what the socket
// does not take at once waits in one queue, bounded in records and bytes, which one
// goroutine writes that exists while there is something to write. A peer whose queue is full
// is slow; it is closed, or the record refused, as [Options.SlowPeer] says. Both sides are
// asked for life: a peer that says nothing is pinged, and closed when it says nothing still.
// The texts "ping" and "pong" are signs of life, too, and are never seen by who receives
// ([Options.PassControl]).
//
// An idle connection owns one parked goroutine of its receiver and no buffer; buffers
// are shared by those that have something to read or write.
//
// # Its end
//
// Recv tells why: io.EOF when the peer closed in good order (codes 1000, 1001, or none),
// transport.ErrClosed when this side did, a *transport.TooLongError (code 1009), or a
// [*CloseError] otherwise, which is [ErrSlow], [ErrSilent], [ErrLate] or the peer's own
// code. A close frame is written, and what the peer still says is read over, for
// [Options.CloseTime] at most; nobody waits for that but [Server.Shutdown].
package websocket
