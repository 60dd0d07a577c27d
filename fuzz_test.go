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
			ctx, cancel := untilTheTestsEnd(t)
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

// untilTheTestsEnd leaves what it bounds all the time that the tests have: the fuzzing
// bounds itself, and the building before it takes what the machine takes.
func untilTheTestsEnd(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	end, ok := t.Deadline()
	if !ok {
		return context.WithCancel(t.Context())
	}
	return context.WithDeadline(t.Context(), end.Add(-10*time.Second)) // time to say what it was at
}

// lateInput tells that the fuzzer's time ran out while an input was under way,
// which it reports as a failure. A finding always comes with its input.
func lateInput(out []byte) bool {
	return bytes.Contains(out, []byte("context deadline exceeded")) && !bytes.Contains(out, []byte("Failing input"))
}
