// Package manifest answers one question: which plugins are there, and what does
// each of them say about itself?
//
// A manifest is the JSON file that describes one plugin. This package finds such
// files, reads each into a [Manifest], and says everything that is wrong with
// them at once, in the words of whoever has to correct it. It runs no code of a
// plugin and starts no goroutine.
//
//	found := manifest.Discover([]string{"./plugins"}, manifest.Options{})
//	for _, problem := range found.Problems {
//		fmt.Fprintln(os.Stderr, problem) // FILE: FIELD: what is wrong
//	}
//	for _, m := range found.Manifests {
//		entry, err := m.Entrypoint(manifest.Node)
//		if err != nil {
//			return err // the file went away since
//		}
//		start(m.PluginName(), entry) // a built-in, a command or a module's path
//	}
//
// # What is read
//
// Today one dialect exists, Project AIRI's (apiVersion "v1", kind [KindAIRI]):
//
//	{
//	  "apiVersion": "v1",
//	  "kind": "manifest.plugin.airi.moeru.ai",
//	  "name": "hello",
//	  "entrypoints": {"node": "./hello.mjs"},
//	  "airi-host": {"requires": ["tool:clock"], "timeouts": {"init": "10s"}}
//	}
//
// The object "airi-host" and the entrypoint "go" are this host's own; other hosts
// ignore them, as the reference host ignores every member that it does not know.
// [Schema] has all of it as a JSON Schema.
//
// # Where it is stricter than the reference host
//
// The reference host never validates a manifest; the schema that it publishes
// takes any string for a name or a path. Here a name must be usable as the name
// of a directory, an entrypoint must be a file inside the manifest's directory
// (links included), a member may not appear twice, and a member whose name
// differs from a known one only in case, "-" or "_" is a mistake. Inside
// "airi-host" every unknown member is a mistake.
//
// # Limits
//
// A file is read up to 1 MiB ([Options.MaxBytes]) and 64 levels deep; of one file
// the first 1000 problems are reported; below one path 10,000 directory entries
// are looked at ([Options.MaxFiles]). A variable of a worker's environment takes
// 128 KiB and all of them 1 MiB, when what they refer to is put in. Whatever is cut
// off or refused is said.
//
// # Concurrency
//
// All functions may be called by any number of goroutines. A *Manifest is never
// written to after it was returned.
package manifest
