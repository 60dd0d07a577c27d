package ws_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever writes a plugin that has no websocket links none.
func TestPlugin_linksNoWebsocket(t *testing.T) {
	linked := func(folder string) string {
		said, err := exec.Command("go", "list", "-deps", folder).Output()
		require.NoError(t, err)
		return string(said)
	}
	for _, heavy := range []string{"github.com/gobwas/", "/transport/websocket", "/plugin/ws", "/protocol/airi/client", "/actors", "protoactor", "sqlite"} {
		require.NotContains(t, linked(".."), heavy)
	}
	with := linked(".")
	require.Contains(t, with, "github.com/gobwas/ws")
	require.False(t, strings.Contains(with, "/actors") || strings.Contains(with, "/gateway"), "the host is not linked")
}
