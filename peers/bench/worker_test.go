package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEchoWorker_answers(t *testing.T) {
	var out strings.Builder
	require.NoError(t, echoWorker(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
{"jsonrpc":"2.0","id":2,"method":"health","params":{}}
{"jsonrpc":"2.0","id":"x","method":"getData","params":{"key":"echo","params":{"a":1}}}
{"jsonrpc":"2.0","id":4,"method":"shutdown","params":{}}
{"jsonrpc":"2.0","id":5,"method":"health","params":{}}
`), &out))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"ok":true,"supportedMethods":["health","shutdown"]}}
{"jsonrpc":"2.0","id":2,"result":{"status":"ok"}}
{"jsonrpc":"2.0","id":"x","result":{"a":1}}
{"jsonrpc":"2.0","id":4,"result":null}
`, out.String())
	require.NoError(t, echoWorker(strings.NewReader(""), &out))
	require.Error(t, echoWorker(strings.NewReader("x\n"), &out))
}
