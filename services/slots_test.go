package services

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSlots_areCountedByPlugin(t *testing.T) {
	s := newSlots(2)
	require.True(t, s.take("p"))
	require.True(t, s.take("p"))
	require.False(t, s.take("p"))
	require.True(t, s.take("q"))
	s.free("p")
	require.True(t, s.take("p"))
	s.free("p")
	s.free("p")
	s.free("q")
	require.Empty(t, s.taken)
}
