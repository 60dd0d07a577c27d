package actors_test

import (
	"fmt"
	"strings"
)

// What the scenarios' table is written with: lines of this host's own, and the
// words of both hosts where they differ.

const (
	identity0    = `{"id":"lab-plugin-0","kind":"plugin","plugin":{"id":"lab-plugin"}}`
	setupModules = `plugin-session-0 lab:setup-modules null [configured]`

	unrunnable = "plugin lab-plugin: this host cannot run airi plugins from a file (<dir>/trivial.mjs): only what is compiled in"
	absent     = `plugin lab-plugin: entrypoints.electron: "./does-not-exist.mjs" does not exist: build the plugin or correct the path`

	manifestHead  = `{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":`
	manifestBlank = manifestHead + `"","entrypoints":{"electron":"./x.js"}}`
	manifestBare  = manifestHead + `"lab-plugin","entrypoints":{}}`
)

// status is a line that tells the phase of a session of the lab's plugin; more
// are further members of its payload, in the order of their names.
func status(phase, more string) string { return statusOf("lab-plugin", 0, phase, more) }

func statusOf(name string, session int, phase, more string) string {
	return fmt.Sprintf(`plugin-session-%d module:status {"identity":{"id":"%s-%d","kind":"plugin","plugin":{"id":"%s"}},"phase":"%s"%s} [%s]`,
		session, name, session, name, phase, more, phase)
}

// missing is what Node.js says of a module that is not there.
func missing(file string) string {
	return "Cannot find module '/srv/airi/plugins/" + file + "' imported from /srv/airi/mar12/packages/plugin-sdk/dist/core-DsbbBSC7.mjs"
}

// outside is what this host says of an entrypoint that leads out of the plugin's
// directory.
func outside(plugin, runtime, path string) string {
	return fmt.Sprintf("plugin %s: entrypoints.%s: expected a path inside the manifest's directory, found %q: move the file there and write a relative path",
		plugin, runtime, path)
}

// inJSON is a text as it stands inside a JSON string.
func inJSON(text string) string { return strings.ReplaceAll(text, `"`, `\"`) }

// reworded: what went wrong and where is the same, the words are not. The
// reference host hands on what its engine says, or its own stack.
func reworded(row, theirs, ours string) difference {
	return difference{row: row, edits: []edit{turns(notes, theirs, ours), turns(lines, theirs, inJSON(ours))}}
}

// stoppedForGood: who is stopped stays so, and whoever waited is told that. phase
// is the note about the phase at the end.
func stoppedForGood(phase string) []difference {
	return []difference{{row: "stopped-for-good", edits: []edit{
		says("init", "THROW plugin lab-plugin was stopped"),
		says(phase, "stopped"),
		lacks(lines, `"phase":"failed"`),
	}}}
}
