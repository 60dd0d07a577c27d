package protocol

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestAsked_refusesWhatIsBeyondItsBounds(t *testing.T) {
	var a Asked[string]
	s := Settings{Plugin: "p", MaxPending: 2}
	require.NoError(t, a.Refusal(s, "m", 2*MaxAsked), "one call alone may have more")
	require.Equal(t, RequestID(1), a.Add("one", MaxAsked-1))
	require.NoError(t, a.Refusal(s, "m", 1))
	err := a.Refusal(s, "m", 2)
	require.EqualError(t, err, "calls with 268435455 bytes by this plugin are in flight, the limit is 268435456: call m again later")
	require.Equal(t, CodeOverloaded, CodeOf(err))

	require.Equal(t, RequestID(2), a.Add("two", 0))
	err = a.Refusal(s, "m", 0)
	require.EqualError(t, err, "2 calls by this plugin are in flight, the limit: call m again later")
	require.Equal(t, CodeOverloaded, CodeOf(err))

	_, ok := a.Answered(Reply{ID: 1})
	require.True(t, ok)
	require.NoError(t, a.Refusal(s, "m", 2*MaxAsked), "what is answered is not counted")
}

func TestAsked_endsWithItsReply(t *testing.T) {
	var a Asked[string]
	broken := errors.New("broken")
	_, ok := a.Answered(Reply{Err: broken})
	require.False(t, ok, "no call has the number 0")

	one, two := a.Add("one", 1), a.Add("two", 1)
	a.Update(one, "changed")
	a.Update(7, "nobody")
	got, waits := a.Get(one)
	require.True(t, waits)
	require.Equal(t, "changed", got)
	require.ElementsMatch(t, []string{"changed", "two"}, slices.Collect(a.All()))
	for range a.All() {
		break
	}

	got, ok = a.Answered(Reply{ID: one})
	require.True(t, ok)
	require.Equal(t, "changed", got)
	_, waits = a.Get(one)
	require.False(t, waits)
	_, ok = a.Answered(Reply{ID: one})
	require.False(t, ok, "a second result is for nobody")

	_, ok = a.Answered(Reply{ID: two})
	require.True(t, ok)
	got, ok = a.Answered(Reply{ID: two, Err: broken})
	require.True(t, ok, "the result could not be sent")
	require.Equal(t, "two", got)
	_, ok = a.Answered(Reply{ID: two, Err: broken})
	require.False(t, ok, "nor could the error")
	require.Zero(t, a.bytes)
}

func TestAsked_isAbandonedInOrder(t *testing.T) {
	var a Asked[int]
	for i := range 20 {
		a.Add(i, 1)
	}
	var want []Effect
	for i := range 20 {
		want = append(want, Abandon{ID: RequestID(i + 1)})
	}
	require.Equal(t, want, a.Abandon(nil))
	_, ok := a.Answered(Reply{ID: 1})
	require.False(t, ok)
}

func TestKeptID_doesNotKeepALongFrame(t *testing.T) {
	id := json.RawMessage(`"id"`)
	require.Same(t, unsafe.SliceData(id), unsafe.SliceData(KeptID(id, longParams)))
	kept := KeptID(id, longParams+1)
	require.Equal(t, id, kept)
	require.NotSame(t, unsafe.SliceData(id), unsafe.SliceData(kept))
}
