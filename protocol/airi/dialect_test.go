package airi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestDialect_isNamedAiri(t *testing.T) {
	require.Equal(t, "airi", Dialect{}.Name())
}

func TestDialect_handsOutDriversThatShareNothing(t *testing.T) {
	one := Dialect{}.NewDriver(protocol.Settings{})
	other := Dialect{}.NewDriver(protocol.Settings{})
	one.Step(now, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "x"}}, nil)
	require.Empty(t, other.Step(now, protocol.Closed{}, nil))
	require.Len(t, one.Step(now, protocol.Closed{}, nil), 1)
}

func TestDialect_codecWritesWhatTheDriverSends(t *testing.T) {
	out := Dialect{}.NewDriver(protocol.Settings{}).Step(now, protocol.Emit{Event: protocol.Event{Name: "e"}}, nil)
	require.Len(t, out, 1)
	sent, ok := out[0].(protocol.Send)
	require.True(t, ok)
	record, err := Dialect{}.Codec().Encode(nil, sent.Message)
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"airi-host-1","type":"e","payload":{"id":"e","type":"event","_flowDirection":"outbound"}}`, string(record))
}
