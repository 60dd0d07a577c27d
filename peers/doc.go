// Package peers answers one question: what do those with whom this host has to agree
// really do?
//
// It brings the published SDK of Paperclip and the worker manager of its server, to
// run real workers under the real host and under this one, in tests and benchmarks,
// the Eventa that AIRI's modules bring, and the Bun in which elizaOS runs workers.
// Nothing of theirs is in this tree: [Install] fetches what a set's package.json and
// package-lock.json name, once a machine.
//
//	modules := peers.Install(t, peers.Paperclip)
//	dir := peers.Fixture(t, modules, "kitchen", peers.Changes{})
//	m := peers.StartManager(t, modules, nil)
//	m.Do(t, "start", map[string]any{"dir": dir}, nil)
//	m.Do(t, "call", map[string]any{"plugin": "kitchen", "method": "health"}, &health)
//
// # Sets
//
// A set is a folder below sets: exact versions and the integrity of every package. Of
// packages that are large for what is needed of them, a few files are taken as they
// are, from the published archive ("archives" in package.json). What the worker
// manager imports besides (its server's logger, and in one release a constant of an
// adapter) is a file below stand-ins. [Paperclip] is release 2026.824.1, against which
// this host was written, [Paperclip916] is 2026.916.1; [EventaA14], [EventaB11] and
// [EventaB14] are releases of Eventa. [AIRISDK] is AIRI's published websocket client. [BunRuntime] is a program; [Bun] is the folder that it
// is in, to be put on PATH.
//
// # Where it is kept
//
// In the user's cache directory, below airi-host/peers, by a hash of the set: what is
// there is complete and is never written to again. Test packages that run at the same
// time wait for the one that installs. Nobody cleans up: the folder may be removed at
// any time at which no test runs.
//
// # Without Node or the network
//
// [Install] skips the test, saying what is missing; where AIRI_HOST_NO_SKIP is set it
// fails instead. It takes at most [InstallTime].
//
// # Fixtures
//
// [Fixture] makes a copy of a plugin of testdata/paperclip with the set's packages
// within its reach: "kitchen" has handlers of every kind, "waiter" serves several
// companies at once and hears what others say, "echo" is what benchmarks call, "rogue"
// misbehaves on demand. [Changes].Record makes a copy keep every byte that passes its
// standard streams, whichever host runs it.
package peers
