package paperclip

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Both releases' workers report their hooks in one order.
func TestHooks_standInTheOrderOfTheSDK(t *testing.T) {
	for name, r := range replays {
		for _, lines := range conversations(t, name) {
			reported := reportedHooks(lines)
			if r.host || len(reported) == 0 {
				continue
			}
			at := -1
			for _, hook := range reported {
				if hook == methodWebhook {
					continue // never reported
				}
				next := slices.Index(hooks, hook)
				require.Greater(t, next, at, "%s: %s", name, hook)
				at = next
			}
		}
	}
}
