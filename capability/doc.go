// Package capability answers one question: who offers what, and whose turn is it?
//
// A capability is a named thing that the host or a plugin offers. Its [Key] says what
// it is, e.g. "tool:greet"; an [Offer] is one capability as one [Owner] offers it; and
// the [Registry] holds all offers. One key may have several owners, and one of them is
// chosen for each call.
//
// # Offering
//
// A plugin's offer passes through the states of [lifecycle.Capability]: it begins
// announced, becomes ready when its owner can serve it, degraded while its owner is in
// trouble, and withdrawn when it is given up.
//
//	registry := capability.New(capability.Options{})
//	changes, err := registry.Offer(now, capability.Offer{
//		Key: "tool:greet", Owner: capability.Owner{Plugin: "hello"}, Invocable: true, Target: session,
//	})
//	…
//	changes, err = registry.SetOwner(now, owner, lifecycle.CapReady, "")
//
// What the host offers itself takes any state after any other, as in the reference
// host: see [Registry.Announce].
//
// # Finding
//
// [Registry.Snapshot] returns what is offered at the moment. It costs an atomic load,
// and what it returns never changes. [Snapshot.Choose] picks who serves a key, in tens
// of nanoseconds and without an allocation where there is one owner; [Snapshot.Get]
// lists all owners in the order of choice, e.g. the subscribers of an event. How the
// choice is made:
//
//	kind                                    several owners
//	tool, model, service, action,           highest priority, then ready for longest
//	  provider, evaluator
//	data, job, webhook, http, environment   an error that lists them: name the plugin
//	event                                   all of them hear it
//	any other key                           the first to offer it, then by priority
//
// Ready goes before not ready, and what can be called before what cannot. Instances of
// one plugin that are equals take turns; different plugins do not.
//
// # What goes in
//
// An offer may have a [Schema], which its inputs have to satisfy: [CompileSchema] reads
// a JSON Schema of any draft from 04 on, and [Schema.Check] says what is wrong with an
// input, and where, without quoting it. [CompileDeclared] also holds the schema to what
// its capability's kind takes. Whoever makes a call checks its input; the
// registry keeps the schema and does not look at it. Configurations are checked the
// same way.
//
// # Waiting
//
// A goroutine calls [Registry.Wait] or [Registry.WaitAll]: a capability that was ready
// once counts, even if it is gone when the caller looks. An actor, which must not
// block, calls [Registry.Watch] and is told whenever its [Requirements] begin or cease
// to be met, all at the same time.
//
// # Who may call what
//
// The registry starts no goroutine and does no I/O, and the time of each change is
// passed in; only Wait and WaitAll look at the clock, since they end by it. One
// goroutine at a time changes the registry and calls Watch: an actor owns it. Snapshot,
// Wait and WaitAll may be called by any number of goroutines at any time.
//
// A change happens in this order: the new snapshot is published; those who wait for
// its keys wake up; the watches are told; the call returns the [Change] values, for its
// caller to pass on. Whoever hears of a change finds it in the snapshot.
//
// # Inside
//
// A snapshot is a hash trie from keys to entries; an entry holds the offers of its key
// in the order of choice, as a sorted slice, or as two B-trees when there are many.
// All of it is persistent: a change copies the way to what it changes, a few kilobytes
// whether there are ten offers or a million, and shares the rest.
//
// # Limits
//
// An owner may offer [DefaultMaxOffers] keys, of [MaxKey] bytes each; more are refused
// with an [*OfferLimitError]. [DefaultMaxWaiters] waits and watches may go on at a time;
// more are refused with a [*WaitLimitError]. A wait lasts [DefaultWait] unless its
// caller says otherwise, and never for ever. A schema has at most [MaxSchema] bytes and
// [MaxSubschemas] schemas in it; a check takes about a second at most, and refuses what
// would take longer.
package capability
