package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLeft_forgetsTheOldestOfMoreThanMost(t *testing.T) {
	var l Left
	require.Nil(t, l.Cause(1))
	l.End(1)
	for n := range uint64(4) {
		l.Add(n+1, Cause{Root: n + 1}, 3)
	}
	require.Nil(t, l.Cause(1))
	for n := uint64(2); n <= 4; n++ {
		require.Equal(t, n, l.Cause(n).Root)
	}
	l.End(3)
	l.Add(5, Cause{Root: 5}, 3)
	require.Nil(t, l.Cause(3))
	require.NotNil(t, l.Cause(2), "there is room again")
	l.Add(6, Cause{Root: 6}, 3)
	require.Nil(t, l.Cause(2))
	require.NotNil(t, l.Cause(4))
}

// One call that the far end never answers is known, however many it does answer: else what it
// calls for that one's sake would be for nobody's, and in no chain.
func TestLeft_rememberedHoweverManyAreOver(t *testing.T) {
	var l Left
	l.Add(1, Cause{Root: 1}, 4)
	for n := uint64(2); n < 1000; n++ {
		l.Add(n, Cause{Root: n}, 4)
		l.End(n)
		require.LessOrEqual(t, len(l.order), 8)
	}
	require.NotNil(t, l.Cause(1))
}

// A cause is a part of a call that may have much else.
func TestLeft_keepsNothingOfTheCall(t *testing.T) {
	var l Left
	call := struct {
		items [1 << 10]byte
		cause Cause
	}{cause: Cause{Key: "tool:a"}}
	l.Add(1, call.cause, 4)
	require.Equal(t, call.cause, *l.Cause(1))
	require.NotSame(t, &call.cause, l.Cause(1))
}
