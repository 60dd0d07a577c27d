// Package evaluate answers one question: what does a manifest say that is a module
// of JavaScript?
//
// Paperclip's manifests are code. [Node] runs such a module in a short-lived Node.js
// process and returns what it exports, as JSON:
//
//	var node evaluate.Node
//	found := manifest.Discover(paths, manifest.Options{Evaluate: node.Evaluate})
//
// # What the module gets
//
// A process of its own, started without a shell, in the module's directory, with
// nothing of the host's environment but PATH, HOME, LANG, TZ and TMPDIR, and an input
// that is at its end. It is code of whoever wrote the plugin and may do what the user
// may: it is kept from staying, from flooding and from being mistaken, not from the
// files of the machine.
//
// Package process runs it as it runs a worker. It adds its mark to the environment
// ([process.MarkerVar]), and by that and the rest of its means ends what the module
// has started, after every evaluation: on Linux also what has left the process group.
//
// # What is taken
//
// The default export, as in the reference host; without one the export "manifest",
// and without that all exports together. What JSON has no word for is left out or
// refused as JSON.stringify does it. The answer is one record on descriptor 4, so that
// what the module prints is no part of it.
//
// # Limits
//
// An evaluation ends after 10 seconds ([Node.Deadline]): the process and all that it
// has started are killed. The answer is at most 1 MiB, the heap 256 MiB. Of what the
// module prints the last 20 lines are kept, and of these 2 KiB, to be quoted when it
// ends without an answer.
//
// # What is kept
//
// A good answer is kept in memory as long as the module, the package.json above it,
// and the names, sizes and times of the files beside it stay as they are. What a
// module imports from further away is not looked at: a new Node forgets everything.
//
// # Concurrency
//
// All methods may be called by any number of goroutines.
package evaluate
