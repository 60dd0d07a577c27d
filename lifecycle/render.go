package lifecycle

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// The formats that [Render] knows.
const (
	// FormatTable is a grid of states and events, at most 80 columns wide.
	FormatTable = "table"
	// FormatMermaid is a Mermaid state diagram.
	FormatMermaid = "mermaid"
	// FormatDot is a digraph for Graphviz.
	FormatDot = "dot"
	// FormatJSON is one indented JSON object: name, initial, terminals, states,
	// events, and transitions as {from, event, to, ours}.
	FormatJSON = "json"
)

// Formats returns the formats that [Render] knows, the default one first.
func Formats() []string {
	return []string{FormatTable, FormatMermaid, FormatDot, FormatJSON}
}

// Render writes a machine in one of the [Formats], from the table that the code
// runs and always in the same order. Edges of ours carry a star (table, mermaid), a
// dashed line (dot) or "ours": true (json).
func Render(w io.Writer, m *Machine, format string) error {
	text, err := m.text(format)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write lifecycle %s as %s: %w", m.name, format, err)
	}
	return nil
}

// text renders in a format by name.
func (m *Machine) text(format string) (string, error) {
	switch format {
	case FormatTable:
		return m.grid(), nil
	case FormatMermaid:
		return m.mermaid(), nil
	case FormatDot:
		return m.dot(), nil
	case FormatJSON:
		return m.json()
	default:
		return "", fmt.Errorf("unknown lifecycle format %q, want one of %s", format, strings.Join(Formats(), ", "))
	}
}

// edge is one cell of a table that is not empty.
type edge struct {
	From  State `json:"from"`
	Event Event `json:"event"`
	To    State `json:"to"`
	Ours  bool  `json:"ours"`
}

// edges returns all edges in reading order.
func (m *Machine) edges() []edge {
	var edges []edge
	for _, from := range m.states {
		for _, ev := range m.possible[from] {
			edges = append(edges, edge{from, ev, m.next[from][ev], m.Ours(from, ev)})
		}
	}
	return edges
}

// mermaid writes a state diagram. Mermaid does not take a hyphen in a name, so each
// state has an alias.
func (m *Machine) mermaid() string {
	alias := strings.NewReplacer("-", "_")
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	if len(m.ours) > 0 {
		b.WriteString("    %% " + starMeans + "\n")
	}
	for _, state := range m.states {
		fmt.Fprintf(&b, "    state \"%s\" as %s\n", state, alias.Replace(string(state)))
	}
	fmt.Fprintf(&b, "    [*] --> %s\n", alias.Replace(string(m.Initial())))
	for _, e := range m.edges() {
		from, to := alias.Replace(string(e.From)), alias.Replace(string(e.To))
		fmt.Fprintf(&b, "    %s --> %s: %s%s\n", from, to, e.Event, mark(e.Ours, " *"))
	}
	for _, state := range m.terminals {
		fmt.Fprintf(&b, "    %s --> [*]\n", alias.Replace(string(state)))
	}
	return b.String()
}

// dot writes a digraph: a terminal state has two rims, an edge of ours is dashed.
func (m *Machine) dot() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n    rankdir=LR;\n    node [shape=box, style=rounded];\n", m.name)
	fmt.Fprintf(&b, "    \"\" [shape=point];\n    \"\" -> %q;\n", m.Initial())
	for _, state := range m.states {
		fmt.Fprintf(&b, "    %q%s;\n", state, mark(len(m.next[state]) == 0, " [peripheries=2]"))
	}
	for _, e := range m.edges() {
		fmt.Fprintf(&b, "    %q -> %q [label=%q%s];\n", e.From, e.To, e.Event, mark(e.Ours, ", style=dashed"))
	}
	b.WriteString("}\n")
	return b.String()
}

// mark returns text if on, else nothing.
func mark(on bool, text string) string {
	if !on {
		return ""
	}
	return text
}

// json writes one object.
func (m *Machine) json() (string, error) {
	terminals := append([]State{}, m.terminals...) // never null: readers loop over it
	text, err := json.MarshalIndent(struct {
		Name        string  `json:"name"`
		Initial     State   `json:"initial"`
		Terminals   []State `json:"terminals"`
		States      []State `json:"states"`
		Events      []Event `json:"events"`
		Transitions []edge  `json:"transitions"`
	}{m.name, m.Initial(), terminals, m.states, m.events, m.edges()}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode lifecycle %s: %w", m.name, err)
	}
	return string(text) + "\n", nil
}
