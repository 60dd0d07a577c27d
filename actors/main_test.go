package actors_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or is the worker of one of them.
func TestMain(m *testing.M) {
	if name := os.Getenv(rogueVar); name != "" {
		os.Exit(runRogue(name))
	}
	goleak.VerifyTestMain(m)
}
