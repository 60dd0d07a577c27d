package lifecycle

import (
	"fmt"
	"strings"
)

// starMeans explains the star wherever one may be seen.
const starMeans = "* ours: the reference host has not got it"

// cellWidth is the width of a grid's column: a letter, a star or a blank, a blank.
const cellWidth = 3

// grid writes a machine for a terminal. Names are too long for the heads of columns,
// so each event's name stands on its own line above its column, and a cell shows the
// letter of the row to go to:
//
//	                START
//	                |  STOP
//	a  stopped      b  .
//	b  running      .  a
func (m *Machine) grid() string {
	label := m.labelWidth()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: begins in %s, %s\n\n", m.name, m.Initial(), m.ending())
	for i, ev := range m.events {
		fmt.Fprintf(&b, "%*s%s%s\n", label, "", strings.Repeat("|  ", i), ev)
	}
	for i, state := range m.states {
		row := fmt.Sprintf("%-*s%s", label, fmt.Sprintf("%c  %s", letter(i), state), m.cells(state))
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	b.WriteString("\na letter: the state that the event leads to; a dot: not possible\n")
	if len(m.ours) > 0 {
		b.WriteString(starMeans + "\n")
	}
	return b.String()
}

// ending tells in words where a life ends.
func (m *Machine) ending() string {
	if len(m.terminals) == 0 {
		return "never ends for good"
	}
	names := make([]string, len(m.terminals))
	for i, state := range m.terminals {
		names[i] = string(state)
	}
	return "ends in " + strings.Join(names, ", ")
}

// labelWidth is the width of the rows' heads with the blanks behind them.
func (m *Machine) labelWidth() int {
	longest := 0
	for _, state := range m.states {
		longest = max(longest, len(state))
	}
	return cellWidth + longest + 2
}

// cells writes one row of the grid.
func (m *Machine) cells(from State) string {
	letters := make(map[State]rune, len(m.states))
	for i, state := range m.states {
		letters[state] = letter(i)
	}
	var b strings.Builder
	for _, ev := range m.events {
		cell := "."
		if to, ok := m.next[from][ev]; ok {
			cell = string(letters[to]) + mark(m.Ours(from, ev), "*")
		}
		fmt.Fprintf(&b, "%-*s", cellWidth, cell)
	}
	return b.String()
}

// letter names the row of the i-th state.
func letter(i int) rune { return 'a' + rune(i) }
