// Package admin answers one question: how is a running host asked and commanded?
//
// A Server speaks HTTP for one actors.Host: the control API in JSON below /api/v1, and
// what machines look at, /healthz, /readyz and /metrics. It listens wherever it is
// told to, each listener with its own Guard; a Client speaks with it.
//
//	metrics := admin.NewMetrics()
//	host, err := actors.New(actors.Options{Observe: metrics.Observe, …})
//	…
//	server := admin.New(host, admin.Options{Plugins: names, Start: start, Metrics: metrics})
//	server.Serve(socket, admin.Guard{})  // of this user alone, by the file's mode
//	server.Serve(tcp, admin.Guard{Loopback: true})
//	…
//	err = host.Shutdown(ctx)
//	err = server.Shutdown(ctx)
//
// # The API
//
//	GET  /api/v1/host                     HostInfo
//	GET  /api/v1/plugins                  PluginList: all plugins, also those that are stopped
//	GET  /api/v1/plugins/NAME             PluginDetail, by a plugin's name or a session's id
//	GET  /api/v1/plugins/NAME/logs        the end of its log; ?lines=N ?follow=true ?since=TIME
//	POST /api/v1/plugins/NAME/start       PluginInfo, when it is ready or waits for its configuration
//	POST /api/v1/plugins/NAME/stop        PluginInfo, when nothing of it runs any more
//	POST /api/v1/plugins/NAME/reload      PluginInfo, as for start
//	POST /api/v1/plugins/NAME/enable      PluginInfo, as for start; from now on it is started with the host
//	POST /api/v1/plugins/NAME/disable     PluginInfo, as for stop; from now on it is not
//	GET  /api/v1/plugins/NAME/config      Configuration, the one in force; ?company=C
//	PUT  /api/v1/plugins/NAME/config      Change; Configuration, when the plugin has taken it
//	POST /api/v1/plugins/NAME/config/validate  Change; Validation, and nothing is done
//	POST /api/v1/plugins/NAME/config/plan      Change; Plan, and nothing is done
//	GET  /api/v1/plugins/NAME/config/history  ConfigurationList; ?company=C
//	POST /api/v1/plugins/NAME/pty         AttachRequest; the connection becomes a pseudo-terminal
//	POST /api/v1/plugins/NAME/duplex      AttachRequest; the connection becomes a channel
//	DELETE /api/v1/plugins/NAME/data      Forgotten: what was kept of a plugin that is stopped is removed
//	DELETE /api/v1/companies/C/data       Forgotten: what was kept for a company is removed
//	GET  /api/v1/plugins/NAME/grants      Grants: what it asks for, and has
//	POST /api/v1/plugins/NAME/approve     GrantDecision; Grants, when the plugin has them
//	GET  /api/v1/audit                    AuditList; ?plugin=NAME ?company=C ?since=TIME ?before=N ?limit=N
//	GET  /api/v1/capabilities             CapabilityList; ?plugin=NAME ?kind=KIND
//	POST /api/v1/reload                   SettingsReload: the settings are read again
//	GET  /api/v1/jobs                     JobList, each with its last runs; ?plugin=NAME ?lines=RUNS
//	POST /api/v1/call                     CallRequest; the result is the body
//	GET  /api/v1/logs                     the end of all plugins' logs; ?lines=N ?follow=true ?since=TIME
//	GET  /api/v1/events                   what has happened of late; ?lines=N ?follow=true ?kind=KIND ?company=C
//	GET  /api/v1/ready                    Readiness, as /readyz, with status 200 in any case
//
// An error is {"error":{"code":…,"message":…,"plugin":…}}, with a status that follows
// from its code: see Failure. Streams (events, logs, and calls with "follow") are JSON
// objects, one a line, with an "event": those of actors.EncodeEvent, and
//
//	{"event":"gap","missed":12}
//	{"event":"gap","missed":3,"older":true}
//	{"event":"progress","item":…}
//	{"event":"result","result":…}
//	{"event":"error","code":…,"message":…,"plugin":…}
//
// A pseudo-terminal or a channel is asked for with "Upgrade: airi-host-route". Behind the
// answer 101, frames go both ways: a byte that says what it is, the length of the rest in
// four bytes, the highest first, and the rest, 64 KiB at most. 'd' is data; 's' of the
// client's asks for the end of the program. The last one of the host's is 'x', an
// AttachExit, or 'e', a Failure. A connection that ends closes the route.
//
// What is in version 1 stays: members and events are added, none is changed.
//
// # Plugins' endpoints
//
// What plugins offer as "http:METHOD /path" and "webhook:KEY" is served below
// /plugins/NAME/…, within the bounds of Endpoints and apart from all else, to whoever
// has the token, and to everybody where the plugin says so. docs/endpoints.md is about
// who may ask, and what is passed on in both directions.
//
// # Who may ask
//
// Whoever reaches a Unix socket. Over TCP a web page must not command the host, so that
// a Guard lets only those in who call it by a loopback name, and refuses every request
// that has an Origin, or comes from another site by the browser's own word, unless the
// origin is listed. Beyond loopback a token is needed besides. Without one no configuration
// and no audit is told over TCP, and nothing approved: plugins are users of the machine, too.
//
// # Who follows
//
// A follower costs nobody anything: what it has not read waits within Limits, and what
// does not fit is left out and said so, in its place, by a gap. A call with "follow" is
// different: its caller is waited for, within the call's own bounds (see package
// actors).
//
// # Limits
//
// Limits bound connections, requests at a time, followers, bodies, what waits for each follower,
// and how much of the end of logs is shown at once: a gap that is "older" tells how many lines
// before that were asked for.
// A request's header has five seconds and 16 KiB, its body 30 seconds; an answer that is
// not taken for 30 seconds is given up, but for those of followers.
package admin
