package paperclip

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// However many ask at once, there are never more routes than there may be.
func TestRoutes_areNeverAboveTheirLimit(t *testing.T) {
	const limit = 3
	r := NewRoutes(limit)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20_000 {
				if r.take() {
					r.release()
				}
				if n := r.Open(); n > limit {
					t.Errorf("%d routes, more than %d", n, limit)
					return
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, r.Open())
}
