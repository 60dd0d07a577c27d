// Package transport answers one question: how do records travel between a host
// and a peer, when nobody on the way may understand them?
//
// A record is a run of bytes without meaning: one line, one text frame. [Conn]
// moves records; what they say is the business of package protocol, which this
// package never imports. Three ways exist: package memory (inside one process),
// package process (a worker's own descriptors) and package websocket. All pass one
// suite, package transporttest, as will any other.
//
// # Limits
//
// Nothing is unbounded. A record above the limit ends the connection with a
// [*TooLongError] and nothing of it is kept. A queue that is full refuses the next
// record at once with [ErrFull]: a sender never blocks on a slow peer.
package transport
