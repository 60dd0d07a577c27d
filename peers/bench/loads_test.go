package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"
)

func TestSettings_loads(t *testing.T) {
	require.Len(t, settings{scale: 1}.loads(usual, everything...), len(usual))
	require.Len(t, settings{scale: 1}.loads(usual, load.Echo), len(usual)-1)
	small := settings{scale: 0.00001, only: "128"}.loads(usual, everything...)
	require.Len(t, small, 2)
	require.Equal(t, 1, small[0].Calls)
	require.Equal(t, 1, warming(small[0]).Calls)
}
