package actors

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// wantRoutes checks what is counted, of the session and of the host.
func (f *far) wantRoutes(want RouteCounts) {
	f.t.Helper()
	all := map[protocol.RouteKind]RouteCounts{protocol.RouteDuplex: want}
	require.Equal(f.t, all, wantPhase(f.t, f.host, "far", lifecycle.Ready).Routes)
	require.Equal(f.t, all, f.host.Routes())
}

func TestRouteCounts_tellWhatBecameOfRoutes(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		require.Nil(t, f.host.Routes())
		first := f.routeTo(1)
		f.wantRoutes(RouteCounts{Open: 1, Opened: 1})
		refused := f.open(t.Context())
		f.hears("open 2 duplex {}")
		f.says("refused 2 no such door")
		require.Error(t, (<-refused).err)
		f.hears("close 2")
		f.wantRoutes(RouteCounts{Open: 1, Opened: 1, Refused: 1})

		f.says("exit 1 0")
		f.hears("close 1")
		require.NoError(t, first.Close())
		f.wantRoutes(RouteCounts{Opened: 1, Refused: 1})
		byOwner := f.routeTo(3)
		require.NoError(t, byOwner.Close())
		f.hears("close 3")
		ctx, cancel := context.WithCancel(t.Context())
		opening := f.open(ctx)
		f.hears("open 4 duplex {}")
		f.says("opened 4")
		require.NoError(t, (<-opening).err)
		cancel()
		f.hears("close 4")
		f.wantRoutes(RouteCounts{Opened: 3, Refused: 1})

		f.routeTo(5)
		f.says("fail-route 5 too much")
		f.hears("close 5")
		f.routeTo(6)
		f.says("exit 6")
		f.hears("close 6")
		f.wantRoutes(RouteCounts{Opened: 5, Refused: 1, Lost: 2})

		f.routeTo(7)
		require.NoError(t, f.conn.Close())
		f.wantFailed("EOF")
		require.Equal(t, RouteCounts{Opened: 6, Refused: 1, Lost: 3}, f.host.Routes()[protocol.RouteDuplex])
		_, err := f.host.OpenPTY(t.Context(), RouteRequest{Plugin: "nobody"})
		require.Error(t, err)
		require.Equal(t, RouteCounts{Refused: 1}, f.host.Routes()[protocol.RoutePTY])
	})
}
