// Bench compares what a call through a worker costs this host with what it costs
// Paperclip's own, and with the least that is possible:
//
//	go run ./peers/bench                    # every table, medians of 5 rounds
//	go run ./peers/bench -rounds 3 -only 64 # the loads whose name has "64" in it
//	go run ./peers/bench -json              # the medians, one JSON object a line
//
// All hosts run the same worker, written with Paperclip's published SDK, each in a
// process of its own; see package load for what is counted. In every round each load
// is put on one host after the other, in an order that turns from round to round, so
// that whatever else the machine does meets all of them. What is printed are medians,
// and how each compares with Paperclip's.
//
//	paperclip   the worker manager of @paperclipai/server, in Node
//	airi-host   this host, through its Go API, with its store on disk
//	bare loop   write a line, read a line, look at the id: nothing of a host
//
// Another table has routes of such a worker, by the release of Paperclip that has all of
// them: what a command logs in chunks of 16 KiB, and a channel that gives back chunks of
// 64 KiB. A call there is a chunk.
//
// A third table has a worker written in Go, for this host, the bare loop and, where
// the program of tools/bench is given with -plugins, hashicorp/go-plugin by net/rpc
// and by gRPC:
//
//	go build -C tools/bench -o /tmp/plugins . && go run ./peers/bench -plugins /tmp/plugins
//
// The last is the memory of each host with 20 workers that do nothing, its workers
// not counted.
//
// With -airi another table is made instead, for which nothing comes from the network: an
// AIRI module in Node, which calls a tool of a plugin in Go, and is called by the host,
// beside a bare loop between Go and Node over the same descriptors, and the same loop with
// calls by Eventa, which is what a module cannot do without. Ratios are to the bare loop.
//
//	go run ./peers/bench -airi
//
// With -eliza it is a remote plugin of elizaOS in Node, whose worker reads and writes as
// elizaOS's bootstrap has it do, beside the bare loop; once more with every call signed;
// and called by a worker on Paperclip's SDK, through the host.
//
//	go run ./peers/bench -eliza
//
// It exits with 0 when it is done, 1 when it could not measure, 2 for wrong usage.
package main
