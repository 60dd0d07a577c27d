package airi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestRemote_isADialectOfAIRI(t *testing.T) {
	d := Remote{Session: 7, Collecting: func() Collecting { return Collecting{Items: 1} }}
	require.Equal(t, "airi", d.Name())
	require.Equal(t, Dialect{}.Narrate(protocol.Moment{What: protocol.MomentReady}), d.Narrate(protocol.Moment{What: protocol.MomentReady}))
	d.Streams()
	d.Untold()

	l := newLink(t, d, protocol.Settings{})
	l.invoke(1, "tail", "")
	item := `{"type":"tail-receive-airi-host-7-1","payload":{"body":{"invokeId":"airi-host-7-1","content":1}}}`
	require.Equal(t, []string{"progress 1"}, trimmed(l.receive(item)))
	got := l.receive(item)
	require.Contains(t, got[0], "complete 1 error overloaded: ", "what is collected is bounded as it is told")
	require.Equal(t, `send tail-send-abort {"invokeId":"airi-host-7-1","content":"nobody follows the stream"}`, got[1])
}

func TestRemote_handsOutDriversThatShareNothing(t *testing.T) {
	one, other := Remote{}.NewDriver(protocol.Settings{}), Remote{}.NewDriver(protocol.Settings{})
	one.Step(now, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "x"}}, nil)
	require.Empty(t, other.Step(now, protocol.Closed{}, nil))
	require.Len(t, one.Step(now, protocol.Closed{}, nil), 1)
}

func TestRemote_appendsToWhatIsThere(t *testing.T) {
	before := []protocol.Effect{protocol.Send{Message: Frame{ID: "before"}}}
	after := Remote{}.NewDriver(protocol.Settings{}).Step(now, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "x"}}, before)
	require.Len(t, after, 2)
	require.Equal(t, before, after[:1])
}
