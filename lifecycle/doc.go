// Package lifecycle answers one question: what may happen next?
//
// Everything in the host that lives has its states and its moves written down
// here, as a table: state, then event, then next state. There are four:
//
//   - [Session]: the phases of one run of a plugin, from loading to stopped. The
//     table is the reference host's; a few edges are the host's own and marked.
//   - [Worker]: what a plugin's supervisor knows of the thing that it keeps alive.
//   - [Route]: a live stream between the host and one session.
//   - [Capability]: the standing of one offer in the registry.
//
// Beside them stands [Negotiate], which settles the versions that a host and a
// peer speak with each other.
//
// # Using a machine
//
// A [Machine] holds no state: whoever lives keeps its own [State], one string, and
// asks. The table decides whether, the caller decides what to do.
//
//	phase, err := lifecycle.Session.Fire("hello-0", phase, lifecycle.SessionLoaded)
//	if err != nil {
//		return err // an *IllegalError; phase is what it was
//	}
//	switch phase { … }
//
// Fire takes an event, Move takes the state to go to, as the reference host does,
// and Can only asks. A fact that may come late (an answer that crossed with a
// stop) is dropped where Can says no.
//
// # Promises
//
// Machines are immutable and safe for concurrent use; a hundred thousand sessions
// share one. The package starts no goroutine, reads no clock and does no I/O, but
// for what [Render] writes. A table with a mistake in it (a state that is not
// listed, a move out of a terminal state, an edge of ours over one of the
// reference's) panics when the program starts.
//
// # Pictures
//
// [Render] prints a machine from the table that the code runs: as a grid for a
// terminal, for Mermaid, for Graphviz, or as JSON.
package lifecycle
