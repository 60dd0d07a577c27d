package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemory_isMeasured(t *testing.T) {
	m := measure()
	require.Positive(t, m.heap)
	require.Positive(t, m.goroutines)
	held := make([]byte, 32<<20)
	require.Greater(t, measure().heap, m.heap+int64(len(held))/2)
	held[0] = 1 // until here
	if hasProc() {
		require.Greater(t, m.rss, m.heap)
		require.Positive(t, m.descriptors)
	}
}

func TestMemory_mayGrowByAFactorAndASlack(t *testing.T) {
	first := memory{heap: 100 << 20, rss: 200 << 20, goroutines: 10, descriptors: 20}
	last := memory{heap: 134 << 20, rss: 284 << 20, goroutines: 10, descriptors: 20}
	require.Empty(t, last.grown(first, true))
	last.heap++
	require.Equal(t, []string{"the heap has grown from 100.0 MiB to 134.0 MiB, the most is 134.0 MiB"}, last.grown(first, true))
	last = memory{goroutines: 27, descriptors: 22, rss: 300 << 20}
	require.Equal(t, []string{
		"the resident memory has grown from 200.0 MiB to 300.0 MiB, the most is 284.0 MiB",
		"the number of goroutines has grown from 10 to 27, the most is 26",
		"the number of descriptors has grown from 20 to 22, the most is 20",
	}, last.grown(first, true))
	require.Len(t, last.grown(first, false), 2)
}
