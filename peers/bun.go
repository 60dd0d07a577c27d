package peers

import (
	"path/filepath"
	"testing"

	"github.com/airi-host/airi-host/internal/need"
)

// Bun returns the directory with the program bun, which it installs first when it is not
// there yet, as [Install] does. Where Bun is not made for the machine the test is skipped.
func Bun(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(Install(t, BunRuntime), "@oven", "bun-*", "bin", "bun"))
	if err != nil {
		t.Fatal(err)
	}
	need.That(t, len(found) > 0, "there is no Bun for this machine in the set "+BunRuntime)
	return filepath.Dir(found[0])
}
