package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

func TestRevive_bringsBackWhatIsDownOrMute(t *testing.T) {
	k := startSoak(t, fewest)
	rogue := k.flock[2]
	down := &torture{soak: k, p: rogue}
	info, err := k.host.Inspect(rogue.name)
	require.NoError(t, err)
	down.stop(info.ID)
	require.NoError(t, k.revive(t.Context(), rogue))
	require.Equal(t, 1, k.book.of("workers", "starts"))

	// Its output is closed, and a grandchild keeps the host from seeing that.
	var did struct{ PID, Parent int }
	require.NoError(t, down.ask("fork", members{}, patience, &did))
	require.NoError(t, down.ask("close-stdout", members{}, patience, nil))
	require.NoError(t, k.revive(t.Context(), rogue))
	require.Equal(t, 1, k.book.of("workers", "reloads"))
	require.False(t, k.scratch.marks(did.PID), "it has gone with its worker")
	require.NoError(t, k.book.verdict())
}

func TestRevive_saysWhoIsNotBack(t *testing.T) {
	k := startSoak(t, fewest)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, k.revive(ctx, k.flock[2]), "plugin rogue-2 is not back within "+calmTime.String())
}

func TestIsDown(t *testing.T) {
	down := func(phase, worker lifecycle.State) bool {
		return isDown(actors.Inspection{SessionInfo: actors.SessionInfo{Phase: phase, Worker: actors.WorkerInfo{State: worker}}})
	}
	require.True(t, down(lifecycle.Failed, lifecycle.WorkerStopped))
	require.False(t, down(lifecycle.Failed, lifecycle.WorkerBackoff))
	require.False(t, down(lifecycle.Loaded, lifecycle.WorkerStarting))
}

func TestOperate_takesARefusalAndNoFaultOfTheHost(t *testing.T) {
	k := newSoak(settings{}, nil, nil, t.Output())
	fail := func(code protocol.Code) func(context.Context) (actors.SessionInfo, error) {
		return func(context.Context) (actors.SessionInfo, error) {
			return actors.SessionInfo{}, &protocol.Error{Code: code, Message: "no"}
		}
	}
	p := &plugin{name: "a"}
	require.Error(t, k.operate(p, "start", fail(protocol.CodeCancelled)))
	require.Equal(t, "starts refused 1", k.book.listed("workers"))
	require.NoError(t, k.book.verdict())
	require.Error(t, k.operate(p, "start", fail(protocol.CodeInternal)))
	k.wantFault(t, "a start of plugin a: no")
}
