package admin

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Peers choose the names of their plugins: what one is called leads to no other path.
func TestClient_asksForWhatIsCalledAsAFolder(t *testing.T) {
	r := start(t, Options{})
	ctx := t.Context()
	for _, name := range []string{".", "..", "../..", "a/../..", "%2E%2E", "..%2F", "a/..", "x?lines=1", "x#y"} {
		called := func(err error) {
			t.Helper()
			require.ErrorContains(t, err, " is called "+name+"; there are: talker")
		}
		_, err := r.Inspect(ctx, name)
		called(err)
		called(r.Logs(ctx, name, 0, time.Time{}, false, func([]byte) error { return nil }))
		_, err = r.Command(ctx, Stop, name)
		called(err)
	}
}
