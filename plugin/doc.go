// Package plugin answers one question: how does an author write a plugin in Go?
//
// A plugin is a [Definition]: a name, what it offers, and a few hooks. The same one
// is compiled into a host, which opens it once a session, or runs in a process of
// its own, which a host starts:
//
//	func main() { plugin.Main(greeter()) }
//
//	func greeter() *plugin.Definition {
//		p := plugin.Define("greeter")
//		plugin.Tool(p, "greet", func(ctx context.Context, in Person) (plugin.Result, error) {
//			return plugin.Text("Hello, " + in.Name + "!"), nil
//		})
//		return p
//	}
//
// # What can be offered
//
// [Tool], [Action], [Provider], [Evaluator], [Data], [Model], [Job], [Webhook], [HTTP] and
// [On] (an event handler) decode their input into a type of the author's; [Handle] takes any
// key and raw JSON. [Validate] says whether an action fits, [Similes] are other names of it.
// [Service] has methods ([Method]), and begins when the first of them is called. Each can be called on a Definition, so that the host knows the offer
// before any code runs, or on the [Session] that a hook gets, where what is offered
// depends on what it finds; a service on a Definition alone.
//
// # The life of a plugin
//
// [Definition.OnInit] runs when what the manifest requires is there,
// [Definition.OnSetup] after the configuration is settled and again when it changes,
// [Definition.OnStop] when the host stops the session in good order. Each ends at
// the host's deadline. A hook or a handler that returns an error or panics ends the
// session or the call, never the host.
//
// # What a handler works with
//
// [From] gives the [Session] of a handler's context, with which it calls the host
// and other plugins, logs, and reads the configuration; [Scope] the tenant for whom
// it was called. Whatever is called with that context is called for that tenant, so
// it is to be handed on:
//
//	err := plugin.From(ctx).Call(ctx, "tool:greet", Person{"Ada"}, &result)
//
// # Streams
//
// A handler tells who called it how far it is with [Report]; one whose whole answer is
// a stream is offered by [Stream]. A call follows that with the option [Follow], sends
// a stream of its own with [Feeding], which the handler reads from [Feed], and gives up
// on a callee that reports nothing for a while with [Idle]:
//
//	err := plugin.From(ctx).Call(ctx, "model:TEXT_SMALL", prompt, nil,
//		plugin.Follow(func(word string) error { return show(word) }), plugin.Idle(10*time.Second))
//
// # As a Paperclip worker
//
// [Main], or [ServePaperclip] over any pair of streams, makes the plugin a worker of
// a Paperclip host: of this project's, or of Paperclip's own. The package.json
// beside it names the manifest, and the manifest's "airi-host" object the command to
// start. There a plugin's parts are these methods:
//
//	Tool, Action, Data     executeTool, performAction, getData
//	Job, Webhook, HTTP     runJob, handleWebhook, handleApiRequest: as the manifest declares them
//	On                     onEvent, asked for with events.subscribe when the worker begins
//	OnInit, OnSetup        initialize, one after the other; OnSetup is configChanged, too
//	OnStop                 shutdown
//	OnValidate, OnHealth   validateConfig, health
//	Session.Call           the host's own method, e.g. "state.get"; a key with a colon, which
//	                       only this project's host has, goes by airi-host.invoke
//	Session.Log            the notification log
//	Environment            the methods environment…; Execute's log is execute.log
//	  Terminal, Channel    loginPty… and the older setupTokenPty…; duplexChannel…
//	Session.OpenStream     streams.open, streams.emit, streams.close
//
// This wire knows no other streams: nobody follows a worker's handlers but those that run
// commands, and a call of the host's brings nothing before its result. Session.Wait and
// Session.Send have no counterpart there and return an error that says what to do instead,
// and so do offers, made while the plugin runs, of what the manifest does not declare; data,
// actions and events need no declaration.
//
// # As an elizaOS worker
//
// [Main], or [ServeEliza], makes the same plugin a worker of an elizaOS host, in a process of
// its own: of this project's, or of any that speaks elizaOS's wire. The manifest is elizaOS's
// plugin.json, with the command to start in its "airi-host" object. There a plugin's parts
// are these:
//
//	Action, Evaluator      actions and evaluators, with their validate, similes and examples
//	Provider, Model        providers and models; who asks for it gets a model's answer in parts
//	Service                a service with rpcMethods
//	On                     a handler of the event of that name; "prefix.*" means that to this
//	                       project's host alone
//	HTTP                   a route; a Public one has its pattern as name, its Describe as reason
//	OnInit, OnSetup        init, between worker-announce-plugin and init-complete. What they
//	                       offer is announced with its end; what is offered later, at once
//	OnStop                 the end of standard input, when handlers have settled
//	Report                 an action's callback, or a part of a model's answer
//	Session.Call           a method of the runtime, e.g. "getSetting"; "model:…" is useModel,
//	                       "event:…" with an object or nothing emitEvent; any other key, and
//	                       what Of names, is invoke, which only this project's host has
//	Session.Config         context.config of the host's init, which not every host sends
//	Session.Send, Listen   the frame event, either way
//	Session.Log            standard error: the wire has no word for it
//
// An action's Params are its options. Its result has to be an [ActionResult], or null: an
// object without success gets one, and what does not fit becomes data.result. Tools, data,
// jobs, webhooks and environment drivers have no place there, which the log tells. All that
// is announced at once has one priority, so that offers of another one are announced behind it.
//
// # Environments
//
// [Environment] makes a plugin a driver of environments, in which agents run commands:
// [EnvironmentHooks] has a function for each of Paperclip's hooks. Execute gets an
// [ExecutionLog], whose two writers are for what the command says. Terminal and Channel get a
// [Route], an io.ReadWriteCloser whose other end is the host's. Whatever they start has to
// end with their context, and before they return.
//
// # Configuration
//
// [Session.Config] decodes it, and OnSetup runs anew with each. OnValidate is asked before
// the plugin is given one. [Session.Reconfigure] asks for another, [Session.Reannounce] to
// be prepared anew.
//
// # Tests
//
// Package plugintest tests a Definition without a host.
//
// # Concurrency
//
// Hooks run one at a time. Handlers run concurrently with each other and with hooks,
// each call on a goroutine of its own; a worker's events are told one at a time, in
// the order in which they came. A [Session]'s methods may be called from any
// goroutine, and fail with an error once the session has ended.
//
// # Limits
//
// A stream that is collected for a caller who does not follow has at most 1024 items
// and 8 MiB, and so has what waits for one who follows a host's answer and is slow. The
// limits of a worker are [PaperclipOptions] and [ElizaOptions]: calls in flight, the length
// of a frame, what may wait for a host that does not read. At the last one whoever
// answers, calls or logs waits; nothing is dropped. [RouteOptions] bound what a host has
// written to a terminal or a channel and nobody has read, [ExecutionLogOptions] what a
// command writes. There are at most 1024 event streams. When the host is gone, or sends
// SIGTERM, the contexts of all handlers end, and the worker soon after.
package plugin
