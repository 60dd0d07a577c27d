package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// TestMain removes what was built, and fails tests that leave goroutines behind.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(tidy{m})
}

type tidy struct{ *testing.M }

func (m tidy) Run() int {
	code := m.M.Run()
	if built != "" {
		if err := os.RemoveAll(filepath.Dir(built)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return code
}
