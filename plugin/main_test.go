package plugin_test

import (
	"fmt"
	"log"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/plugin"
)

// early is made before Main takes standard output away, as authors do it.
var early = log.New(os.Stdout, "", 0)

// The test binary is a worker itself when a test starts it as one.
func TestMain(m *testing.M) {
	if os.Getenv("PLUGIN_TEST_WORKER") != "" {
		fmt.Fprintln(os.Stderr, "worker runs") // the tests wait for it
		plugin.Main(processPlugin())
	}
	goleak.VerifyTestMain(m)
}
