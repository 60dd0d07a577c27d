// Plugins is a host and a worker made with hashicorp/go-plugin, to be compared with
// this host's Go workers by peers/bench:
//
//	go build -C tools/bench -o /tmp/plugins .
//	go run ./peers/bench -plugins /tmp/plugins
//
// It is told by lines on its standard input what to measure (package peers/load says
// how), and takes the protocol as its argument, netrpc or grpc. The worker is the same
// program, started by go-plugin. Nothing of it is linked into the host: go-plugin is
// under the Mozilla Public License 2.0.
package main
