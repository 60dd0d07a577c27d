package lifecycle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGrid_smallMachine(t *testing.T) {
	m := newMachine(definition{
		name:      "lamp",
		states:    []State{"off", "on", "broken"},
		events:    []Event{"SWITCH", "BREAK"},
		terminals: []State{"broken"},
		table:     Table{"off": {"SWITCH": "on"}, "on": {"SWITCH": "off"}, "broken": {}},
		ours:      Table{"on": {"BREAK": "broken"}},
	})
	require.Equal(t, strings.Join([]string{
		"lamp: begins in off, ends in broken",
		"",
		"           SWITCH",
		"           |  BREAK",
		"a  off     b  .",
		"b  on      a  c*",
		"c  broken  .  .",
		"",
		"a letter: the state that the event leads to; a dot: not possible",
		"* ours: the reference host has not got it",
		"",
	}, "\n"), m.grid())
}

func TestGrid_fitsATerminal(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			for line := range strings.Lines(m.grid()) {
				require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 80, line)
				require.Equal(t, strings.TrimRight(line, " \n")+"\n", line, "blanks at a line's end")
			}
		})
	}
}
