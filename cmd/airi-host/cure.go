package main

import "unicode/utf8"

// cures say where a plugin is given its configuration.
type cures struct {
	// once tells that no host goes on that could be asked to.
	once bool
	// state is --state as it was given, "" for the usual directory.
	state string
}

// cure is what to do about a plugin that waits for its configuration, or refuses the one
// that it has.
func (g cures) cure(plugin string) string {
	if g.once {
		return "give it as plugins." + plugin + ".config in the settings (--config FILE)"
	}
	return "'" + g.command(plugin) + "'" + orSettings + plugin + ".config in the settings"
}

// orSettings is between the command and the field of the settings that does the same.
const orSettings = ", or plugins."

// command gives a plugin of the host that runs a configuration.
func (g cures) command(plugin string) string {
	text := "airi-host config set " + plugin + " JSON"
	if g.state != "" {
		text += " --state " + g.state
	}
	return text
}

// cures are those of the host that this command runs or asks.
func (c *cli) cures(once bool) cures { return cures{once: once, state: c.stateGiven} }

// short is cure where there is room for two words.
func (g cures) short() string {
	if g.once {
		return " (--config)"
	}
	return " (config set)"
}

// longestNote is how many bytes a list tells of one plugin; inspect tells all.
const longestNote = 240

// note is what a list tells of a plugin, and what to do about it, which is not cut. It is
// one line.
func note(text, cure string) string {
	text = printable(text)
	if len(text) > longestNote {
		end := longestNote
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return sentence(text, cure)
}
