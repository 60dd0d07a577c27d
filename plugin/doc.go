// Package plugin answers one question: how does an author write a plugin in Go?
//
// A plugin is a [Definition]: a name, what it offers, and up to three hooks. The
// host opens it once a session.
//
//	func Greeter() *plugin.Definition {
//		p := plugin.Define("greeter")
//		plugin.Tool(p, "greet", func(ctx context.Context, in Person) (plugin.Result, error) {
//			return plugin.Text("Hello, " + in.Name + "!"), nil
//		})
//		return p
//	}
//
// # What can be offered
//
// [Tool], [Action], [Model] and [On] (an event handler) decode their input into a
// type of the author's; [Handle] takes any key and raw JSON. Each can be called
// on a Definition, so that the host knows the offer before any code runs, or on
// the [Session] that a hook gets, where what is offered depends on what it finds.
//
// # The life of a plugin
//
// [Definition.OnInit] runs when what the manifest requires is there,
// [Definition.OnSetup] after the configuration is settled, [Definition.OnStop]
// when the host stops the session in good order. Each has a deadline, which its
// context carries. A hook or a handler that returns an error or panics ends the
// session or the call, never the host.
//
// # Concurrency
//
// Hooks run one at a time. Handlers run concurrently with each other and with
// hooks; a [Session]'s methods may be called from any goroutine, and fail with
// an error once the session has ended. In a handler, [From] gives the session.
package plugin
