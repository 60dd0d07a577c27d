// Package client answers one question: what does a module of AIRI's say on a websocket of
// its own, and when?
//
// A [Client] is the module's end of the protocol whose other end is package server's, over
// all connections that the module ever has. It is told what happened, and returns what has
// to be done, in order. It starts no goroutine, reads no clock and does no I/O; it is not
// safe for use by several goroutines at once.
//
//	a connection opened, was lost ─┐                  ┌─▶ Send, Hangup, Fail
//	a record arrived              ─┼──▶ Client.Step ──┼─▶ Run, Validate    what the plugin is to do
//	a timer fired                 ─┤                  ├─▶ Serve, Heard …   what others want of it
//	the plugin did, or wants      ─┘                  └─▶ Complete …       what came of its calls
//
// # A connection
//
// A connection goes through these phases, and each of them that waits has a limit:
//
//	authenticating   module:authenticate, with or without a token; without a word of the
//	                 server's the connection is given up. A wrong token is final.
//	negotiating      module:compatibility:request. A server that does not answer in time is
//	                 AIRI's own, and the module is announced without. A rejection is final.
//	announcing       module:announce, or extension:announce and extension:module:announce.
//	                 A server that neither lists the module nor refuses it in time is one of
//	                 those that say nothing.
//	announced        everything else.
//
// Meanwhile a heartbeat is sent each [Options].BeatEvery, and a connection on which nothing
// at all comes for three of them is given up.
//
// # The life of a module
//
// It begins when the module is announced for the first time: Run of init, module:prepared,
// module:configuration:needed where [Options].NeedsConfig says so, Run of setup, what is
// offered, module:status with ready. A configuration (module:configuration:commit,
// module:configure) has setup run again; module:configuration:validate:request and
// plan:request are questions to the plugin. What a later connection has not heard is said
// again there: prepared, the offers, the status. The module's identity stays the same, so
// that a host which still has its session gives it that one.
//
// # Calls
//
// Calls go by Eventa's invokes. A host that has answered the question for compatibility
// gets frames of Eventa's, and decides whom they are for. AIRI's own server knows no such
// frames; there a step of a call is an event like any other, of the step's name and with
// its body as data, which all peers get and those answer that offer the key.
//
// A connection that is lost fails the calls that are in flight, as outcome unknown, and
// abandons those that are being served.
package client
