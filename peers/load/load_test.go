package load_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"
)

func TestWorker_Argv(t *testing.T) {
	require.Equal(t, []string{"node", "worker.js"}, load.Worker{Dir: "/x"}.Argv())
	require.Equal(t, []string{"./w", "-v"}, load.Worker{Dir: "/x", Command: []string{"./w", "-v"}}.Argv())
}
