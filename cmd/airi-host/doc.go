// Command airi-host runs the plugins of directories of manifests, and tells what
// they do.
//
//	airi-host run DIR…            bring the plugins to ready, then serve
//	airi-host validate PATH…      report every problem of every manifest
//	airi-host call KEY [JSON]     call a capability and print its result
//	airi-host ps, inspect, caps   ask the running host about plugins and what they offer
//	airi-host logs, events        what plugins say and what happens; -f follows
//	airi-host pty                 attach the terminal to a program at a plugin
//	airi-host start, stop, reload command single plugins of the running host
//	airi-host enable, disable     the same, for its next starts, too
//	airi-host config              look at plugins' configurations, and change them
//	airi-host approve, audit      what plugins are permitted, were denied, and what was done by hand
//	airi-host jobs                when plugins' jobs are due, and what became of their runs
//	airi-host forget              remove what is kept of a plugin, or for a company
//	airi-host lifecycle           print the state machines that the code runs
//
// Results go to standard output, logs and errors to standard error. With --output
// json standard output holds one JSON object a line, also for an error:
//
//	{"event":"error","code":"not-found","message":"nobody offers tool:gret"}
//
// Exit codes: 0 done, 1 it failed, 2 wrong usage.
//
// # How a run reads
//
//	openState ─ the state directory and its database; a second host there ends here
//	discover ─ what is wrong with a manifest is printed, the rest is run
//	openFront ─ the control socket, and HTTP
//	newHost  ─ log, dialects, compiled-in plugins, the bridge for Node
//	openView ─ on a terminal the live view, a screen
//	follow   ─ the journal: one goroutine prints every event, in order, or has the
//	           screen painted anew
//	start    ─ all plugins side by side, until each is ready or has failed, or the
//	           start limit
//	serve    ─ until SIGINT, SIGTERM or, where there is a terminal, SIGHUP, at which a
//	           service reads its settings again; with --once not at all
//	shutdown ─ dependents before what they require, within the drain time; a second
//	           signal kills what is left, a third one ends the host as it stands
//
// Nothing is decided here: a phase, a limit, an order of stopping come from package
// actors. This package has flags, signals, exit codes and sentences.
//
// # Asking a running host
//
// A host that serves has a control socket in its state directory, on which package
// admin answers; the commands are clients of it, and so is call without --dir.
//
// # The wire
//
// With AIRI_HOST_DEBUG=wire every frame of every worker is logged at the level
// debug, which is then the default one. Values of members that may be secrets are
// masked, and so is the content of configurations.
package main
