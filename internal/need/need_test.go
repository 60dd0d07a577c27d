package need

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder is a test that goes on whatever it is told.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                     {}
func (r *recorder) Skip(why ...any)             { r.said = "skipped: " + fmt.Sprint(why...) }
func (r *recorder) Fatalf(why string, a ...any) { r.said = "failed: " + fmt.Sprintf(why, a...) }

func TestThat(t *testing.T) {
	for _, c := range []struct {
		has            bool
		forbidden, out string
	}{
		{true, "", ""},
		{true, "1", ""},
		{false, "", "skipped: there is no moon"},
		{false, "1", "failed: there is no moon, and AIRI_HOST_NO_SKIP is set"},
	} {
		t.Setenv(NoSkip, c.forbidden)
		r := &recorder{TB: t}
		That(r, c.has, "there is no moon")
		require.Equal(t, c.out, r.said)
	}
}

func TestNode_looksOnPath(t *testing.T) {
	t.Setenv(NoSkip, "1")
	t.Setenv("PATH", t.TempDir())
	r := &recorder{TB: t}
	Node(r)
	require.Equal(t, "failed: Node.js is not on PATH, and AIRI_HOST_NO_SKIP is set", r.said)
}
