// Package configuration answers one question: how does a plugin come by another
// configuration while it runs?
//
// A [Configurator] changes the configurations of one host's plugins, in three steps that
// may be taken one by one, or all at once by the last:
//
//	validate   held to the manifest's JSON Schemas; then the plugin is asked, if it can be
//	plan       what would change: members, revision, sessions, whether a restart is needed
//	commit     validated, given to the plugin, and kept in the Store if the plugin takes it
//
//	book := &configuration.Book{Defaults: fromSettings}
//	c := configuration.New(configuration.Options{Host: host, Store: db, Book: book, Manifest: manifestOf})
//	kept, err := c.Commit(ctx, "welcome", configuration.Change{Value: json.RawMessage(`{"language":"en"}`)})
//
// It lives below actors, since who embeds a host changes configurations as the command
// line does; it uses no more of a host than everybody may.
//
// # What is in force
//
// A [Book] has it: what was kept for the company, else what the Defaults have for that
// company alone, else what was kept for all, else the Defaults' for all. A change that is
// refused, at whatever point, was never in force for anybody who looks: only the plugin
// itself is answered with it while it tries it. Then it is given back what it had.
//
// # Who is asked
//
// A plugin that is up, or waits for its configuration with its code loaded. One that is
// stopped, has not begun, or is disabled cannot be: its configuration is held to the
// schemas, kept, and looked at by the plugin when it starts. One that has failed is
// started with it. One that is on its way to ready is left alone, with an error.
//
// A configuration for another company than the one that the plugin was started with is
// asked about and kept, and the plugin is told where its wire has a word for that: see
// [Configurator.Commit].
//
// # Concurrency and limits
//
// Changes of one plugin take turns, within their contexts; those of different plugins are
// apart. Each step tells how far it is, by Change.Follow and as actors.ConfigurationStatus
// among the host's events. A question to a plugin is a call and has the limits of calls;
// giving back what it had may take a minute. No status, plan or error has a value of a
// configuration, save in words of the plugin's own.
package configuration
