// Package manifest answers one question: which plugins are there, and what does
// each of them say about itself?
//
// A manifest describes one plugin: it is a JSON file, or a module that a package.json
// names. This package finds manifests, reads each into a [Manifest], and says
// everything that is wrong with them at once, in the words of whoever has to correct
// it. It starts no goroutine, and runs no code of a plugin but by the function that
// is given to it for that ([Options.Evaluate]).
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
// Project AIRI's manifests (apiVersion "v1", kind [KindAIRI]) are JSON:
//
//	{
//	  "apiVersion": "v1",
//	  "kind": "manifest.plugin.airi.moeru.ai",
//	  "name": "hello",
//	  "entrypoints": {"node": "./hello.mjs"},
//	  "airi-host": {"requires": ["tool:clock"], "timeouts": {"init": "10s"}}
//	}
//
// Paperclip's are modules of JavaScript, whose path stands in the plugin's
// package.json:
//
//	"paperclipPlugin": {"manifest": "./dist/manifest.js", "worker": "./dist/worker.js"}
//
// What such a module exports is checked by the rules of Paperclip's own schema and
// kept in [Manifest.Paperclip]; its id is the plugin's name. The worker that runs is
// the one that the manifest's entrypoints name. What package.json lists as
// dependencies must be installed. Package evaluate runs the module in a Node process
// of its own.
//
// elizaOS's are JSON files by the name plugin.json, checked by the rules of its own
// reader and kept in [Manifest.Eliza]; the id is the plugin's name:
//
//	{
//	  "id": "acme.clock", "name": "Clock", "version": "1.0.0", "description": "tells the time", "mode": "background",
//	  "permissions": {"bun": {"run": true}, "isolation": "isolated-process"},
//	  "view": {"relativePath": "view.html", "title": "Clock", "width": 400, "height": 300},
//	  "worker": {"relativePath": "worker.mjs"}
//	}
//
// The object "airi-host", the same in every ecosystem, and the entrypoint "go" are
// this host's own; other hosts ignore them, as the reference hosts ignore every
// member that they do not know. [Schema] has the whole AIRI manifest, and
// "airi-host", as a JSON Schema.
//
// # Schemas
//
// A manifest says in JSON Schema what its tools take and how its plugin is configured
// ("parametersSchema", "instanceConfigSchema", "airi-host".configuration.schema). They
// are kept as they are written, and compiled by whoever checks inputs with them: see
// package capability.
//
// # Settings
//
// What whoever runs a host has decided about it is one more file of JSON.
// [ParseSettings] reads it as strictly as "airi-host": every unknown member is a
// mistake, every problem is reported at once, and none quotes what stands where a
// secret might. [SettingsSchema] has it as a JSON Schema. Nothing that it names, a
// secret's file or variable, is read here.
//
// # Where it is stricter than the reference hosts
//
// AIRI's reference host never validates a manifest; the schema that it publishes
// takes any string for a name or a path. Here a name must be usable as the name
// of a directory, an entrypoint must be a file inside the manifest's directory
// (links included), a member may not appear twice, and a member whose name
// differs from a known one only in case, "-" or "_" is a mistake. Inside
// "airi-host" every unknown member is a mistake.
//
// elizaOS's looks at paths when a plugin is installed; here they are looked at when the
// manifest is read. An id has at most 128 characters and no "-" at its start.
//
// Paperclip's validates as is done here. Beyond that an id has at most 128
// characters, and the grants that slots and launchers need are asked for when the
// manifest is read, not when the plugin is installed.
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
