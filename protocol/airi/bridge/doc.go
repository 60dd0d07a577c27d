// Package bridge answers one question: which JavaScript runs an AIRI module in a
// process of its own?
//
// AIRI's modules are made to be imported by their host and to be handed an Eventa
// context. The bridge is the small worker that does so on the far side of a pipe:
// Node.js runs it, it imports the module, and it passes on what the module and
// the host have to say to each other. This package holds the bridge's sources
// (src/), the files that are built from them (dist/, embedded) and the few facts
// that a host needs to start it:
//
//	main, err := bridge.Install(stateDirectory)
//	…
//	cmd := exec.Command("node", bridge.Args(main, "dist/index.mjs")...)
//	cmd.Dir = pluginDirectory
//	cmd.Stdin = …                       // closed to stop the module
//	cmd.ExtraFiles = []*os.File{in, out} // descriptors 3 and 4: the wire
//
// The wire is one JSON text a line in each direction, read and written by the
// dialect of package airi; README.md says what the control events on it mean.
// Standard output and error belong to the module: a console.log there is a log
// line and nothing else.
//
// # What is bundled
//
// dist/ contains Eventa and two packages that it needs, all under the MIT
// license; see NOTICE, which is installed with the files. package-lock.json pins
// them, and "npm ci && npm run build" gives the same bytes again.
package bridge
