package airihost_test

import (
	"bytes"
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What comes from outside first meets these two: framing, and the reading of
// manifests. Each is fuzzed for a few seconds wherever the tests run; .ci/run
// fuzzes every target.
func TestFuzz_framingAndManifestsForAFewSeconds(t *testing.T) {
	if testing.Short() {
		t.Log("the seeds run all the same: their packages' tests have them")
		return
	}
	for _, target := range []struct{ name, pkg string }{
		{"FuzzReader_anyChunkingGivesTheLinesOfAPlainSplit", "./transport/ndjson"},
		{"FuzzRead", "./manifest"},
	} {
		t.Run(target.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$",
				"-fuzz", "^"+target.name+"$", "-fuzztime", "3s", target.pkg).CombinedOutput()
			if err != nil && lateInput(out) {
				err = nil
			}
			require.NoErrorf(t, err, "%s", out)
		})
	}
}

// lateInput tells that the fuzzer's time ran out while an input was under way,
// which it reports as a failure. A finding always comes with its input.
func lateInput(out []byte) bool {
	return bytes.Contains(out, []byte("context deadline exceeded")) && !bytes.Contains(out, []byte("Failing input"))
}
