package airihost_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
)

var update = flag.Bool("update", false, "draw the diagrams of the documents anew")

// The diagrams in the documents are drawn from the tables that the host runs;
// `go test . -run TestDocs -update` draws them.
func TestDocs_diagramsAreDrawnFromTheTables(t *testing.T) {
	wantDocument(t, "docs/lifecycle.md", func(string) string { return lives(t) })
	wantDocument(t, "docs/architecture.md", func(text string) string {
		const begin, end = "<!-- drawn: session -->\n", "<!-- end -->\n"
		before, rest, found := strings.Cut(text, begin)
		require.True(t, found, "docs/architecture.md has lost its mark %s", begin)
		_, after, found := strings.Cut(rest, end)
		require.True(t, found, "docs/architecture.md has lost its mark %s", end)
		return before + begin + diagram(t, lifecycle.Session) + end + after
	})
}

// wantDocument compares a page with what it should be, or rewrites it.
func wantDocument(t *testing.T, page string, draw func(text string) string) {
	t.Helper()
	have, err := os.ReadFile(page)
	require.NoError(t, err)
	want := draw(string(have))
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(have), "draw it anew: go test . -run TestDocs -update")
}

// lives is the page of all machines.
func lives(t *testing.T) string {
	t.Helper()
	page := "# Lives\n\nDrawn by `task docs` from the tables that the host runs; do not edit it by hand.\n"
	for _, m := range []*lifecycle.Machine{lifecycle.Session, lifecycle.Worker, lifecycle.Capability, lifecycle.Route} {
		page += "\n## The " + m.Name() + "\n\n" + diagram(t, m)
	}
	return page
}

func diagram(t *testing.T, m *lifecycle.Machine) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, lifecycle.Render(&text, m, lifecycle.FormatMermaid))
	return "```mermaid\n" + strings.TrimRight(text.String(), "\n") + "\n```\n"
}
