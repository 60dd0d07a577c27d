package lifecycle

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// extensions are those of the golden files.
var extensions = map[string]string{
	FormatTable: "txt", FormatMermaid: "mmd", FormatDot: "dot", FormatJSON: "json",
}

func TestRender_golden(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			for _, format := range Formats() {
				wantGolden(t, m.Name()+"."+extensions[format], render(t, m, format))
			}
		})
	}
}

// render renders to a string.
func render(t *testing.T, m *Machine, format string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, Render(&b, m, format))
	return b.String()
}

func TestRender_isAlwaysTheSame(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			twin := newMachine(definition{
				name: m.name, states: m.states, events: m.events, terminals: m.terminals,
				table: m.next,
			})
			twin.ours = m.ours
			for _, format := range Formats() {
				require.Equal(t, render(t, m, format), render(t, twin, format))
			}
		})
	}
}

func TestRender_marksOurEdgesInEveryFormat(t *testing.T) {
	ours := 0
	for _, row := range ourTransitions {
		ours += len(row)
	}
	marks := map[string]string{
		FormatTable: "*", FormatMermaid: " *\n", FormatDot: "style=dashed", FormatJSON: `"ours": true`,
	}
	for _, format := range Formats() {
		text := strings.ReplaceAll(render(t, Session, format), starMeans, "")
		require.Equal(t, ours, strings.Count(text, marks[format]), format)
		require.Zero(t, strings.Count(strings.ReplaceAll(render(t, Route, format), "[*]", ""), marks[format]), format)
	}
}

func TestRender_jsonHoldsTheTable(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			var got struct {
				Name, Initial     string
				Terminals, States []State
				Events            []Event
				Transitions       []edge
			}
			require.NoError(t, json.Unmarshal([]byte(render(t, m, FormatJSON)), &got))
			require.Equal(t, m.Name(), got.Name)
			require.Equal(t, string(m.Initial()), got.Initial)
			require.Equal(t, m.States(), got.States)
			require.Equal(t, m.Events(), got.Events)
			require.Equal(t, append([]State{}, m.Terminals()...), got.Terminals)
			require.Equal(t, m.edges(), got.Transitions)
		})
	}
}

// A name in a Mermaid state diagram may not contain a hyphen.
func TestRender_mermaidHasNoHyphenInAName(t *testing.T) {
	for _, m := range machines {
		t.Run(m.Name(), func(t *testing.T) {
			for line := range strings.Lines(render(t, m, FormatMermaid)) {
				edge, _, _ := strings.Cut(line, ":")
				if from, to, ok := strings.Cut(edge, " --> "); ok {
					require.NotContains(t, from+to, "-", line)
				}
			}
		})
	}
}

func TestRender_unknownFormat(t *testing.T) {
	var b bytes.Buffer
	require.EqualError(t, Render(&b, Session, "svg"),
		`unknown lifecycle format "svg", want one of table, mermaid, dot, json`)
	require.Zero(t, b.Len())
}

// brokenWriter fails as a closed pipe does.
type brokenWriter struct{}

var errBroken = errors.New("broken pipe")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestRender_brokenWriter(t *testing.T) {
	err := Render(brokenWriter{}, Worker, FormatDot)
	require.ErrorIs(t, err, errBroken)
	require.EqualError(t, err, "write lifecycle worker as dot: broken pipe")
}
