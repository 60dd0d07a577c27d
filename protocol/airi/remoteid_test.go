package airi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRemoteSession_readsOurIDs(t *testing.T) {
	for id, want := range map[string]uint64{"airi-host-7-1": 7, "airi-host-0-12": 0, "airi-host-18446744073709551615-3": 1<<64 - 1} {
		got, ok := RemoteSession(id)
		require.True(t, ok, id)
		require.Equal(t, want, got)
	}
	for _, id := range []string{
		"", "airi-host-", "airi-host-7", "airi-host-7-", "airi-host-7-0", "airi-host--7-1", "airi-host-7-1-1", "airi-host-x-1",
		"airi-host-18446744073709551616-1", "airi-host-7-+1", "7-1", "xairi-host-7-1",
	} {
		_, ok := RemoteSession(id)
		require.False(t, ok, id)
	}
}

func TestRemoteTarget_isWhoseCallIsAnswered(t *testing.T) {
	for record, want := range map[string]uint64{
		`{"type":"greet-receive-airi-host-7-1","payload":{"body":{}}}`:                                        7,
		` {"id":"d","type":"greet-receive-error-airi-host-8-21","payload":{}}`:                                8,
		`{"deliveryId":"d","hopsRemaining":0,"eventa":{"id":"a-receive-stream-end-airi-host-9-1"}}`:           9,
		`{"type":"x-receive-airi-host-1-1-receive-airi-host-2-1","payload":{}}`:                               2,
		"\ufeff" + `{"type":"a-receive-airi-host-3-1","payload":{"body":{"invokeId":"airi-host-4-1"}}}` + " ": 3,
	} {
		got, ok := RemoteTarget([]byte(record))
		require.True(t, ok, record)
		require.Equal(t, want, got)
	}
	for _, record := range []string{
		`{"type":"greet-send","payload":{"body":{"invokeId":"x-airi-host-7-1"}}}`,
		`{"type":"greet-send-airi-host-7-1","payload":{}}`,
		`{"type":"greet-receive-airi-host-7-1x","payload":{}}`,
		`{"type":"-receive-airi-host-7-1","payload":{}}`,
		`{"type":"greet-receive-airi-host-7","payload":{}}`,
		`{"type":"greet-receive-airi-host-7-1"`,
		`{"eventa":5,"x":"-airi-host-7-1"}`,
		`["-airi-host-7-1"]`,
		"said a-receive-airi-host-7-1\n",
	} {
		_, ok := RemoteTarget([]byte(record))
		require.False(t, ok, record)
	}
}

func TestRemoteTarget_costsNothingForOthers(t *testing.T) {
	record := []byte(`{"type":"greet-send","payload":{"body":{"invokeId":"theirs","content":"` + strings.Repeat("x", 1000) + `"}}}`)
	require.Zero(t, testing.AllocsPerRun(100, func() { RemoteTarget(record) }))
}

func TestRemoteCalled(t *testing.T) {
	for record, want := range map[string]string{
		`{"type":"greet-send","payload":{"body":{}}}`:                                         "greet",
		` {"deliveryId":"d","hopsRemaining":1,"eventa":{"id":"tool:x-send-abort","body":{}}}`: "tool:x",
		`{"type":"a-send-stream-end","payload":{}}`:                                           "a",
		`{"type":"greet-receive-x","payload":{}}`:                                             "",
		`{"type":"-send","payload":{}}`:                                                       "",
		`{"type":"greet-send"`:                                                                "",
		`greet-send`:                                                                          "",
		``:                                                                                    "",
	} {
		key, ok := RemoteCalled([]byte(record))
		require.Equal(t, want, key, record)
		require.Equal(t, want != "", ok, record)
	}
}
