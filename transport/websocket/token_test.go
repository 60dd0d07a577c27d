package websocket

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What let a connection in stays known, whatever is asked for by now.
func TestConn_knowsItsToken(t *testing.T) {
	for _, row := range []struct{ asked, shown, want string }{{"", "", ""}, {"", "any", ""}, {"secret", "", ""}, {"secret", "secret", "secret"}} {
		h := startHost(t, ServerOptions{Token: row.asked})
		h.dial(t, DialOptions{Token: row.shown})
		c := <-h.accepted
		require.Equal(t, row.want, c.Token())
		require.Equal(t, row.asked == row.want, c.IsAuthenticated())
	}
}
