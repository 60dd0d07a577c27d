package load_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"
)

func TestDrive_measuresEachKind(t *testing.T) {
	for _, l := range []load.Load{
		{Kind: load.Echo, Size: 100, Flight: 1, Calls: 50},
		{Kind: load.Echo, Size: 0, Flight: 16, Calls: 50},
		{Kind: load.Echo, Flight: 2, Calls: 50, Key: "model:ECHO", Input: json.RawMessage(`{"n":1}`), Answer: 3},
		{Kind: load.Ask, Flight: 2, Calls: 7},
		{Kind: load.Cross, Flight: 2, Calls: 7},
	} {
		r, err := load.Drive(t.Context(), &parrot{}, l)
		require.NoError(t, err)
		require.Equal(t, l.Calls, r.Calls)
		require.Positive(t, r.PerSecond)
		if l.Kind != load.Echo {
			require.InDelta(t, 12.5, r.P50Micros, 0.1, "the worker's own figure")
		}
	}
}

func TestDrive_letsALooperLoop(t *testing.T) {
	r, err := load.Drive(t.Context(), &looper{}, load.Load{Kind: load.Echo, Flight: 1, Calls: 5})
	require.NoError(t, err)
	require.InDelta(t, 3000, r.P50Micros, 0.1)
}

func TestDrive_saysWhatIsWrong(t *testing.T) {
	for want, l := range map[string]load.Load{
		"load x: expected at least one call and one in flight, found 0 and 1": {Name: "x", Flight: 1},
		"load x: expected at least one call and one in flight, found 1 and 0": {Name: "x", Calls: 1},
		"load x: the worker made 7 of 8 calls":                                {Name: "x", Kind: load.Ask, Flight: 1, Calls: 8},
		"load x: call 0: 24 bytes went out and 3 came back, of 24":            {Name: "x", Kind: load.Echo, Size: 13, Flight: 1, Calls: 8},
	} {
		_, err := load.Drive(t.Context(), &parrot{}, l)
		require.EqualError(t, err, want)
	}
}
