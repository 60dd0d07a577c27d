// Package main measures what AIRI's websocket peers cost a host, beside the least that a
// relay of websockets can cost:
//
//	go -C tools/bench run ./gateway                  every row, three rounds
//	go -C tools/bench run ./gateway -only idle -rounds 1
//	go -C tools/bench run ./gateway -only fan -pprof /tmp/fan
//
// The server is a process of its own: "host" is package gateway with a host behind it,
// "bare" takes a frame by gobwas/ws and writes it to those whom it is for, through one
// bounded queue a peer, and looks at nothing. The clients are this process, the same for
// both. Each row has a server of its own in each round; what is printed is the median, and
// the time is that of the server's processor unless it says otherwise.
//
//	join      connect, authenticate, announce, until the session is ready; one after the other
//	crowd     200 do that at once
//	idle      the resident memory for one of 5,000 that are authenticated
//	announced the same for one of 2,000, each with a session of the host's
//	fan       200 bytes from one to 100, one event at a time and with 64 on the way
//	single    200 bytes from one to one, which is heard before the next is sent
//	among     the same among 98 who say nothing
package main
