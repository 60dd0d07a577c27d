package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
)

// channelParams ask the porter for a channel to a command.
func channelParams(t *testing.T, command ...string) json.RawMessage {
	t.Helper()
	words, err := json.Marshal(command)
	require.NoError(t, err)
	return json.RawMessage(fmt.Sprintf(`{"driverKey":"shed","environmentId":"e","providerLeaseId":"l","command":%s}`, words))
}

// opens opens a channel of the porter's.
func (h *home) opens(t *testing.T, command ...string) *actors.Route {
	t.Helper()
	r, err := h.OpenDuplex(t.Context(), actors.RouteRequest{Plugin: "porter", Scope: "acme", Params: channelParams(t, command...)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestHost_opensChannels(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip916, "", nil)
	h.start(t, "porter", Changes{})

	t.Run("to a program", func(t *testing.T) {
		r := h.opens(t, "cat")
		sent := bytes.Repeat([]byte("\x00\xff\r\n\u2028é"), 100_000) // more than may be on its way
		go func() { _, _ = r.Write(sent) }()
		got := make([]byte, len(sent))
		_, err := io.ReadFull(r, got)
		require.NoError(t, err)
		require.True(t, bytes.Equal(sent, got))
		r.Stop()
		exit, err := r.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 143, exit.Code)
		rest, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Empty(t, rest)
	})
}
