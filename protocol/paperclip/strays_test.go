package paperclip

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestDriver_countsTheStrayLinesThatItDoesNotShow(t *testing.T) {
	d := newDriver(Dialect{}, protocol.Settings{Plugin: "p"})
	var logged, counted int
	for range 10_000 {
		for _, e := range d.Step(time.Unix(0, 0), protocol.Received{Message: Unreadable{Text: "x"}}, nil) {
			switch e.(type) {
			case protocol.Logged:
				logged++
			case protocol.Dropped:
				counted++
			}
		}
	}
	require.Equal(t, protocol.StrayBurst, logged)
	require.Equal(t, 10_000, counted)
}
