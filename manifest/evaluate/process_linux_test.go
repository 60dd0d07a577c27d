package evaluate

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// Elsewhere who leaves the group of a process is out of reach.
func TestProcess_leavesNobodyWhoLeftItsGroup(t *testing.T) {
	need.Node(t)
	const waits = `await new Promise(r => setTimeout(r, 60000))`
	for rest, want := range map[string]string{`export default {}`: "", waits: "took longer", `process.exit(1)`: "made Node.js end"} {
		for _, options := range []string{
			`{detached: true, stdio: "ignore", env: {}}`,
			`{detached: true, stdio: ["inherit", "inherit", "inherit", 3, 4]}`,
		} {
			t.Run(rest+" with "+options, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "pid")
				err := evaluateSpawning(t, file, module(t, spawns(file, options, rest)), rest == waits)
				if want == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, want)
				}
				require.False(t, alive(t, file), "it lives on")
			})
		}
	}
}
