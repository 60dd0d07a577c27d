package words_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/ecosystems"
	"github.com/airi-host/airi-host/examples/go-plugin/words"
	"github.com/airi-host/airi-host/protocol"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// Compiled in, what the tool reports is followed; as a worker it runs in the tests of
// package examples.
func TestPlugin_runsCompiledIn(t *testing.T) {
	host, err := ecosystems.Open([]string{filepath.Join("..", "compiled-in")}, ecosystems.Options{
		Host: actors.Options{Programs: map[string]protocol.Program{"words": words.Plugin()}},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(t, host.Close(ctx))
	})
	for _, o := range host.StartAll(t.Context(), host.Found.Manifests, nil, nil) {
		require.NoError(t, o.Err)
	}

	var reported []string
	result, err := host.Invoke(t.Context(), protocol.Call{
		Key: "tool:count", Input: json.RawMessage(`{"text":"one\ntwo words"}`),
		Progress: func(item json.RawMessage) error {
			reported = append(reported, string(item))
			return nil
		},
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"content":"3 words"}`, string(result))
	require.Equal(t, []string{`{"line":1,"words":1}`, `{"line":2,"words":2}`}, reported)

	result, err = host.Invoke(t.Context(), protocol.Call{Key: "data:total"})
	require.NoError(t, err)
	require.Equal(t, "3", string(result))

	_, err = host.Invoke(t.Context(), protocol.Call{Key: "tool:count", Input: json.RawMessage(`{"text":1}`)})
	require.ErrorContains(t, err, "/text")
}
