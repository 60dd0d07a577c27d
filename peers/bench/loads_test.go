package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettings_loads(t *testing.T) {
	require.Len(t, settings{scale: 1}.loads(nodeLoads), len(nodeLoads))
	small := settings{scale: 0.00001, only: "128"}.loads(nodeLoads)
	require.Len(t, small, 2)
	require.Equal(t, 1, small[0].Calls)
	require.Equal(t, 1, warming(small[0]).Calls)
}
