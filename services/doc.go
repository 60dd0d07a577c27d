// Package services answers one question: what does the host itself offer to the
// plugins that it runs?
//
// A service is a method of a plugin's own wire that the host answers: its
// configuration, state that outlives a call, events, the network, secrets, and the
// capabilities of other plugins. [Paperclip] returns those that a Paperclip worker
// knows, by the method's name, for the host to serve:
//
//	offered := services.Paperclip(plugins, services.Options{
//		Config:  func(plugin, company string) json.RawMessage { … },
//		Secrets: services.Secrets{Declared: map[string]services.Secret{"api": {Env: "API_KEY"}}},
//	})
//
// A [protocol.Call] reaches a service with the method as its Key, the parameters as
// they came as its Input, the company in scope as its Scope and the plugin's name as
// its Caller. Whether the plugin may call the method, and for this company, has been
// decided before, by its dialect's gate. A service is about the company that its
// parameters name as companyId, or else the one in scope.
//
// # The methods
//
//	config.get         what Options.Config returns; {} for nothing
//	state.get/set/     raw JSON under (scopeKind, scopeId, namespace, stateKey), kept in a
//	  delete           [Store] and given back byte by byte; null when unset
//	events.emit        publishes "event:plugin.<caller>.<name>"
//	events.subscribe   offers "event:PATTERN" for the plugin; see [protocol.Subscription]
//	entities.upsert/   what the plugin tracks, kept by [Entities]; one of a company is found
//	  list             by calls for that company alone
//	activity.log       a record of what was done, kept by an [Auditor]
//	localFolders.*     files in folders that the operator declares; see [Folders]
//	log                a line of the plugin's log
//	metrics.write      one measurement; see [Metrics]
//	telemetry.track,   one event or span, counted in the same place by its name, and
//	  span.record      handed to Options.Telemetry, if there is one
//	db.*               refused, saying what to use instead
//	http.fetch         one HTTP request; see [HTTP]
//	secrets.resolve    the value of a declared secret; see [Secrets]
//	airi-host.invoke   {key, input?, plugin?, timeoutMs?}: calls a capability of another
//	                   plugin within the caller's grant; its result, or its error
//
// The last one is this host's own. A worker whose SDK has no word for it fetches
// instead:
//
//	POST http://airi-host.invalid/invoke/KEY?plugin=NAME&timeoutMs=5000
//
// KEY is path-escaped, the body is the input as JSON. The host answers itself; nothing
// leaves the machine, and no redirect leads there. The result is the body of a 200; a
// failure is a status with {"error":{"code","message"}} as its body:
//
//	400 invalid      404 not-found    429 overloaded   500 peer (the plugin's own error)
//	403 denied       405 any method   499 cancelled    502 outcome-unknown, wire
//	409 ambiguous        but POST     504 timeout      503 not-ready, configuration
//
// # The runtime of elizaOS
//
// [ElizaRuntime] returns the methods of the runtime that an elizaOS worker sees:
//
//	getService              whether any plugin offers a method of a service
//	useModel                calls "model:TYPE"
//	getSetting/setSetting   what was set, else a member of the configuration
//	create/get/updateMemory the plugin's memories, in the Store
//	emitEvent               publishes "event:NAME"
//	composeState            what the providers of all plugins say of a message
//	actionCallback          refused: its driver takes those of actions that run
//	invoke                  as airi-host.invoke
//
// # Errors
//
// What a plugin did wrong is a *[protocol.Error] with [protocol.CodeInvalid] that names
// the method, the field and what was expected. A limit that is reached answers with
// [protocol.CodeOverloaded], what the operator has not allowed with
// [protocol.CodeDenied], a limit on time with [protocol.CodeTimeout]. That a web server
// could not be reached is none of the host's failures: such an error has no code. No
// error has the value of a secret in it, nor the path, the query, a header's value or the
// body of what a plugin fetches.
//
// # Concurrency and limits
//
// Services may be called by any number of goroutines. Nothing here starts one that
// outlives its call. Every limit is a field of [Options], or of what is made for it
// ([NewMemory], [NewMetrics]); its zero means the default that
// stands there.
//
// # Storage
//
// [Memory] keeps state as long as the process lives; package store, below this one, keeps
// it on disk, and entities and records too: its DB is [Entities] and an [Auditor]. Whoever
// has another [Store] hands it to Options.Store; nothing else changes. When jobs run is
// the business of package jobs, below this one too.
package services
