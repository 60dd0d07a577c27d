package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestError_namesThePluginOnce(t *testing.T) {
	tests := []struct {
		err  Error
		want string
	}{
		{Error{Message: "nobody offers tool:x"}, "nobody offers tool:x"},
		{Error{Plugin: "hello", Message: "it has ended"}, "plugin hello: it has ended"},
		{Error{Plugin: "hello", Message: "tool:x of plugin hello is not ready"}, "tool:x of plugin hello is not ready"},
		{Error{Plugin: "hello", Message: "sending", Err: errors.New("full")}, "plugin hello: sending: full"},
	}
	for _, test := range tests {
		require.EqualError(t, &test.err, test.want)
	}
}

func TestCodeOf_findsTheFirstCodeInTheChain(t *testing.T) {
	inner := &Error{Code: CodeTimeout, Message: "late"}
	outer := &Error{Code: CodeWire, Message: "odd", Err: inner}
	require.Equal(t, CodeWire, CodeOf(fmt.Errorf("session hello: %w", outer)))
	require.ErrorIs(t, outer, inner)
	require.Empty(t, CodeOf(errors.New("another")))
	require.Empty(t, CodeOf(nil))
}

func TestPeerError_keepsThePluginsWords(t *testing.T) {
	require.EqualError(t, &PeerError{Message: "init exploded", At: "main.mjs:1:2"}, "init exploded")
	require.EqualError(t, &PeerError{}, "")
}

func TestEvent_encodesItsPayloadWhenAsked(t *testing.T) {
	tests := []struct {
		payload any
		want    string
	}{
		{nil, ""},
		{json.RawMessage(`{"a": 1}`), `{"a": 1}`},
		{map[string]int{"a": 1}, `{"a":1}`},
	}
	for _, test := range tests {
		got, err := Event{Payload: test.payload}.JSON()
		require.NoError(t, err)
		require.Equal(t, test.want, string(got))
	}
	_, err := Event{Payload: func() {}}.JSON()
	require.Error(t, err)
}

func TestSettings_pendingHasADefault(t *testing.T) {
	require.Equal(t, DefaultMaxPending, Settings{}.Pending())
	require.Equal(t, DefaultMaxPending, Settings{MaxPending: -1}.Pending())
	require.Equal(t, 7, Settings{MaxPending: 7}.Pending())
}

func TestConfig_leavesAbsentPartsOut(t *testing.T) {
	base := int64(1)
	full, err := json.Marshal(Config{ID: "c", Revision: 1, SchemaVersion: 1})
	require.NoError(t, err)
	require.Equal(t, `{"configId":"c","revision":1,"schemaVersion":1}`, string(full))
	patch, err := json.Marshal(Config{ID: "c", Revision: 2, SchemaVersion: 1, Patch: json.RawMessage(`{"a":1}`), BaseRevision: &base})
	require.NoError(t, err)
	require.Equal(t, `{"configId":"c","revision":2,"schemaVersion":1,"patch":{"a":1},"baseRevision":1}`, string(patch))
}
