// Package ws answers one question: how is a plugin a module of AIRI's, on a websocket of its
// own?
//
//	err := ws.Serve(ctx, greeter(), ws.Options{URL: "ws://127.0.0.1:6121/ws", Token: token})
//
// [Serve] connects to an airi-host, or to AIRI's own server, and announces the plugin there
// as a module, which others may call and send events to until the context ends. A
// connection that is lost is made again; what the host has known is said again there, under
// the same identity. It is a package of its own so that a plugin that has no websocket does
// not link one.
//
// # What becomes of a plugin's parts
//
//	Tool, Action, Model, …   capabilities, contributed; called by Eventa's invokes
//	Handle of any other key  a handler of Eventa's of that tag, listed in the announcement
//	On                       hears events of others: those of its name, or of its pattern
//	OnInit                   module:prepared
//	OnSetup                  module:status with ready; anew with each configuration
//	OnValidate               module:configuration:validate:request and plan:request
//	OnHealth                 module:status with ready, degraded or failed, asked now and then
//	OnStop                   the end of the context
//	Report, Stream           items of a response stream
//	Feed                     a request stream
//	Session.Call             "event:NAME" tells all others an event; any other key is an
//	                         invoke of Eventa's, for whoever offers it
//	Session.Wait             the host's service for that; AIRI's own server has none
//	Session.Config           module:configuration:commit, and module:configure
//	Session.Send, Listen     events of any name, the websocket protocol's own among them
//	Session.Log              Options.Log
//
// This wire knows no tenants: [plugin.Scope] is "". [plugin.Of] fails, since nobody can be
// named. An event's data is an object; anything else is sent, and comes, as {"value": …}.
//
// # A connection that is lost
//
// Calls in flight fail as protocol.CodeOutcomeUnknown, and calls that are made meanwhile as
// protocol.CodeNotReady. Contexts of handlers end. Hooks go on. Events in between are lost
// both ways; a call of "event:NAME" fails then.
//
// # Under AIRI's own server
//
// It does not know the question for compatibility, which is given up after a while
// ([Options].AskTime); nor Eventa's frames, which are sent as events there. Of what
// [plugin.Session].Call asks nobody may answer, and then the deadline ends it.
package ws
