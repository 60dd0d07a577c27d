// Package store answers one question: how does what the host keeps for its plugins
// outlive the host?
//
// [Open] opens the one database of a state directory, which one host at a time may use
// (see [Acquire]):
//
//	db, err := store.Open(ctx, dir, store.Options{})
//	…
//	defer db.Close()
//	offered := services.Paperclip(plugins, services.Options{Store: db.State()})
//
// It holds what plugins keep as their state ([State]), and of each plugin the
// configurations with their history, whether it is disabled, how it crashed, its grants
// and subscriptions ([Plugin], [Configuration], [Subscription]), the runs of its jobs
// ([Run]), its entities ([Entity]), and what was done ([Record]).
//
// # Writes
//
// One goroutine writes. What waits while a commit runs shares the next one, so that many
// writers pay for one sync of the disk. A write that has returned without an error is on
// the disk: it outlives a kill of the process, and with Options.Unsynced false a power
// failure. One that has failed has failed alone: what was committed with it is written
// again without it. A full disk or one that cannot be written makes writes fail, with an
// *[Error] that says what to do, and nothing else: reads go on. A database that was
// removed or replaced meanwhile is neither written nor read until it is back: nobody would
// find what was written, and what is in its place may be another's. The cache goes on.
//
// # Reads
//
// State is read from a cache, through which all writes go. Everything else is read from
// the database, beside the writer, and is as it was after some commit.
//
// # Files
//
//	airi-host.db                the database, to be copied while no host runs
//	airi-host.db-wal, -shm      its log and the log's index, while a host runs or was killed
//	airi-host.lock              held by the host that runs; who that is, as JSON
//
// The schema is in schema/, one file for each version. An older database is brought up to
// date when it is opened, a newer one is refused, and a damaged one too. What is removed
// leaves room for what comes: the file does not shrink, and bytes of what was removed may
// stand in it until they are written over.
//
// # Concurrency and limits
//
// All methods may run concurrently. Every limit is a field of [Options]; what is dropped
// at one is counted in [Stats]. A write beyond a limit fails with a *[protocol.Error].
package store
