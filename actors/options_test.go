package actors

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

func TestTimeouts_haveDefaults(t *testing.T) {
	want := Timeouts{
		Load: 30 * time.Second, Init: 30 * time.Second, Setup: 30 * time.Second, Stop: 5 * time.Second,
		Drain: 10 * time.Second, Call: 30 * time.Second, Capabilities: 15 * time.Second, RouteExit: 250 * time.Millisecond,
	}
	require.Equal(t, want, Timeouts{}.withDefaults())
	require.Equal(t, want, Timeouts{Load: -1, Init: -1, Setup: -1, Stop: -1, Drain: -1, Call: -1, Idle: -1, Capabilities: -1, RouteExit: -1}.withDefaults())
	own := Timeouts{Load: 1, Init: 2, Setup: 3, Stop: 4, Drain: 7, Call: 5, Idle: 8, Capabilities: 6, RouteExit: 9}
	require.Equal(t, own, own.withDefaults())
	for step, limit := range map[protocol.Step]time.Duration{
		protocol.StepLoad: 1, protocol.StepInit: 2, protocol.StepSetup: 3, protocol.StepStop: 4,
	} {
		require.Equal(t, limit, own.step(step))
	}
}

func TestLimits_haveDefaults(t *testing.T) {
	want := Limits{Pending: 4096, LogLines: 1000, Facts: 256, StreamItems: 1024, StreamBytes: 8 << 20, Events: 1024, EventBytes: 8 << 20, OwedFrames: 65_536, OwedBytes: 16 << 20, PhaseRequests: 10, ChannelEvents: 1024, CallDepth: 32, RouteChunks: 1024, RouteBytes: 8 << 20}
	require.Equal(t, want, Limits{}.withDefaults())
	require.Equal(t, want, Limits{Pending: -1, LogLines: -1, Facts: -1, StreamItems: -1, StreamBytes: -1, Events: -1, EventBytes: -1, OwedFrames: -1, OwedBytes: -1, PhaseRequests: -1, ChannelEvents: -1, CallDepth: -1, RouteChunks: -1, RouteBytes: -1}.withDefaults())
	own := Limits{Pending: 1, LogLines: 2, Facts: 3, Frame: 4, StreamItems: 5, StreamBytes: 6, Events: 7, EventBytes: 8, OwedFrames: 9, OwedBytes: 10, PhaseRequests: 11, ChannelEvents: 12, CallDepth: 13, RouteChunks: 14, RouteBytes: 15}
	require.Equal(t, own, own.withDefaults())
	require.Equal(t, maxCallDepth, Limits{CallDepth: 1000}.withDefaults().CallDepth)
}

func TestTimeouts_ofAManifestBeatTheHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHostWith(t, Options{Timeouts: Timeouts{Load: time.Hour, Drain: time.Minute}})
		m := manifestFor("a")
		m.Host.Timeouts = manifest.Timeouts{Init: 2, Setup: 3, Stop: 4, Call: 5, Idle: 8, Capabilities: 6}
		require.Equal(t, Timeouts{Load: time.Hour, Init: 2, Setup: 3, Stop: 4, Drain: time.Minute, Call: 5, Idle: 8, Capabilities: 6, RouteExit: 250 * time.Millisecond}, h.timeoutsOf(m, h.bounds.Load()))
	})
}
