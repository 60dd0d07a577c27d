package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/manifest"
)

const validateText = `Report every problem of every manifest as FILE: FIELD: what is wrong, a line each.

A PATH is a manifest, a directory that holds some, or a directory of such directories.
Exit code 1 if there is any problem. A Paperclip manifest is code: it is evaluated in a Node
process of its own, unless --no-exec is given. No other code of a plugin is run.

With --output json the lines are objects with an "event": "problem" with "file", "field" and
"message", "note" about a file that is passed over or not checked, and "validated" with the numbers of
sound "plugins", of "problems", and of those among the sound that are "unchecked".`

func (c *cli) validateCommand() *cobra.Command {
	var noExec bool
	cmd := &cobra.Command{
		Use:     "validate PATH…",
		Short:   "Report every problem of every manifest, a line each",
		Long:    validateText,
		Example: "  airi-host validate testdata/plugins",
		Args:    c.arguments(1, 0, "at least one PATH, a manifest or a directory of plugins"),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.validate(manifest.Discover(args, c.manifests(!noExec)))
		},
	}
	cmd.Flags().BoolVar(&noExec, "no-exec", false, "evaluate no manifest that is code (Paperclip's are)")
	return cmd
}

// validate tells what was found; any problem is a failure.
func (c *cli) validate(found manifest.Found) error {
	c.printFound(found)
	var unchecked []string
	for _, m := range found.Manifests {
		if m.Paperclip != nil && m.Paperclip.Raw == nil {
			unchecked = append(unchecked, m.PluginName())
		}
	}
	if c.json() {
		c.encode(validatedLine{"validated", len(found.Manifests), len(found.Problems), len(unchecked)})
	}
	if len(found.Problems) > 0 {
		return errFailed
	}
	c.say("%s, no problems", pluginCount(len(found.Manifests)))
	if len(unchecked) > 0 {
		c.say("not checked, since their manifests are code that was not run: %s", printable(strings.Join(unchecked, ", ")))
	}
	return nil
}

type validatedLine struct {
	Event    string `json:"event"`
	Plugins  int    `json:"plugins"`
	Problems int    `json:"problems"`
	// Unchecked is how many of the plugins have a manifest that is code and was not run.
	Unchecked int `json:"unchecked,omitempty"`
}

// printFound tells what is wrong, and what was passed over.
func (c *cli) printFound(found manifest.Found) {
	for _, n := range found.Notes {
		if c.json() {
			c.encode(noteLine{"note", n.File, n.Message})
			continue
		}
		fmt.Fprintf(c.err, "note: %s\n", printable(n.String()))
	}
	c.printProblems(found.Problems)
}

// printProblems tells what is wrong.
func (c *cli) printProblems(problems manifest.Problems) {
	for _, p := range problems {
		if c.json() {
			c.encode(problemLine{"problem", p.File, p.Field, p.Message, p.Line, p.Column})
		}
		c.say("%s", printable(p.String()))
	}
}

type noteLine struct {
	Event   string `json:"event"`
	File    string `json:"file"`
	Message string `json:"message"`
}

type problemLine struct {
	Event   string `json:"event"`
	File    string `json:"file"`
	Field   string `json:"field"`
	Message string `json:"message"`
	// Line and Column are where it stands, in a file of settings.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}
