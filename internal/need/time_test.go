package need

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTime_isTwiceAsMuchUntilItIsEnough(t *testing.T) {
	const least = 3 * time.Second
	tries := func(enough time.Duration) (all []time.Duration) {
		Time(least, func(limit time.Duration) bool {
			all = append(all, limit)
			return limit >= enough
		})
		return all
	}
	require.Equal(t, []time.Duration{least}, tries(0))
	require.Equal(t, []time.Duration{least, 2 * least}, tries(4*time.Second))
	require.Equal(t, []time.Duration{least, 2 * least, 4 * least}, tries(time.Hour), "no more than 20 s")
}
