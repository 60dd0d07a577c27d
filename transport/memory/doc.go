// Package memory answers one question: how do two ends in one process exchange
// records as if there were a wire between them?
//
//	host, peer := memory.Pipe(memory.Options{})
//	_ = host.Send([]byte("hello"))
//	record, _ := peer.Recv() // "hello"
//	_ = host.Close()
//	_, err := peer.Recv() // io.EOF
//
// [Pipe] starts no goroutine, holds no descriptor and reads no clock, and a
// blocked Recv counts as idle in a testing/synctest bubble. Use it to test what
// lives above a [transport.Conn], and for a peer that is compiled in but wants a
// wire all the same.
//
// A record may hold any bytes, newlines too. Each direction has a queue of its
// own, bounded in records and bytes; there is no other buffer, so that a sender
// meets [transport.ErrFull] exactly at the limit.
package memory
