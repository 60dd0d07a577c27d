package main

import (
	"bufio"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
)

func TestEchoWorker_answers(t *testing.T) {
	in, host := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- echoWorker(plugin.PaperclipOptions{In: in, Out: out}) }()
	lines := bufio.NewScanner(answers)
	for _, row := range [][2]string{
		{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"manifest":{"id":"echo"},"config":{}}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"ok":true,"supportedMethods":["configChanged"]}}`,
		},
		{
			`{"jsonrpc":"2.0","id":2,"method":"getData","params":{"key":"echo","params":{"text":"a"}}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"text":"a"}}`,
		},
		{`{"jsonrpc":"2.0","id":3,"method":"shutdown","params":{}}`, `{"jsonrpc":"2.0","id":3,"result":null}`},
	} {
		_, err := io.WriteString(host, row[0]+"\n")
		require.NoError(t, err)
		require.True(t, lines.Scan())
		require.Equal(t, row[1], lines.Text())
	}
	require.NoError(t, <-done)
}
