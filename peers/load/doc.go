// Package load answers one question: what does a call through a worker cost the
// process that hosts it?
//
// A [Subject] is a host that is measured. Each runs in a process of its own, so that
// what is counted is the host's CPU time alone: neither its workers', which are its
// children, nor that of whoever measures. The process is told what to do by one JSON
// object a line on its standard input, and answers on its standard output:
//
//	→ {"id":1,"op":"workers","workers":[{"dir":"/tmp/echo"}]}
//	← {"id":1,"result":null}
//	→ {"id":2,"op":"run","load":{"kind":"echo","size":100,"flight":128,"calls":20000}}
//	← {"id":2,"result":{"calls":20000,"p50Micros":900,"perSecond":111000,"cpuMicros":8.7}}
//
// A subject in Go is served by [Serve]; one in another language speaks the same lines
// (the worker manager of Paperclip does so by a script). [Client] is the other end.
//
// # The loads
//
// An echo sends {"text": …} of so many characters to the capability "data:echo", and
// gets it back, or calls another capability with what the load says. For an ask the
// worker's "action:fan" calls its host for a state so many times, and what counts is
// the cost of one of those; to cross, the second worker's "action:cross" does so with a
// capability of the first one. A log is a command of the worker's that writes so many
// chunks, and a duplex a channel whose worker gives back so many: a call is a chunk there,
// and its subject a [Streamer]. A subject that has a tighter way than one call at a
// time, as a bare loop has, implements [Looper].
//
// # Limits
//
// A line is at most 16 MiB. A subject answers within the deadline of the context, or
// is ended. Results are kept for each call, eight bytes each.
//
// # Concurrency
//
// A Client may be used by any number of goroutines.
package load
