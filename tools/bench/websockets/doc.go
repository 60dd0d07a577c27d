// Package main compares websocket libraries as the host would use them: what a peer that
// says nothing costs in memory, and what a message that goes to many costs in time of the
// processor.
//
//	go -C tools/bench run ./websockets                       all libraries, one after the other
//	go -C tools/bench run ./websockets -lib host,gws -idle 1000
//
// The server is a process of its own and so are its clients, which are the same whatever
// the library. Every library but the host's own transport has the same structure around
// it: one bounded queue a peer, written by a goroutine that exists while it is not empty.
// "window 1" waits for all deliveries of a message before the next is sent, "window 64"
// has so many on the way. docs/decisions/0014 says what came of it.
package main
