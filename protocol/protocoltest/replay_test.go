package protocoltest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConversations_areReadProcessByProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.ndjson")
	require.NoError(t, os.WriteFile(file, []byte(`{"dir":"host->worker","frame":{"a": 1}}
{"dir":"worker->host","raw":"no JSON","proc":2}
{"dir":"worker->host","frame":2}
`), 0o600))
	procs := Conversations(t, filepath.ToSlash(file))
	require.Len(t, procs, 2, "a process that says nothing is none")
	require.Len(t, procs[0], 2)
	require.True(t, procs[0][0].FromHost())
	require.JSONEq(t, `{"a":1}`, string(procs[0][0].Record()))
	require.False(t, procs[1][0].FromHost())
	require.Equal(t, "no JSON", string(procs[1][0].Record()))
}
